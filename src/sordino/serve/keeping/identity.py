"""Who is asking: tokens for programs, sessions for browsers, and the three roles.

**owner**     registers data sets, sets budgets and policies, issues tokens, sees everything of the service;
**analyst**   prices and runs questions about the data sets that the token names, and sees what came of them;
**auditor**   reads the ledger, receipts, budgets and transparency pages, and asks nothing.

**Guarantee**: a token is 256 random bits, shown once; what is stored is its SHA-256 digest, so that whoever reads the
database cannot use it. An expired or revoked token, and every session that began with it, is nobody's from then on.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Engine, Row, Select, bindparam, delete, insert, select, update

from sordino import noise
from sordino.arguments import one_of, whole
from sordino.errors import ArgumentError
from sordino.ledger.scope import checked_name
from sordino.serve.refusals import ForbiddenError, UnauthenticatedError, UnknownError

from .machine import user
from .registry import milliseconds, random_hex
from .tables import MEMBERS, SESSIONS, TOKENS

Role = Literal["owner", "analyst", "auditor"]
ROLES: tuple[str, ...] = get_args(Role)

_BEGINNING = "sordino_"
_DAY = 86_400_000
_HOUR = 3_600_000
_LONGEST_DAYS = 3660
# Built once: every request asks one of these.
_GOOD = select(TOKENS).where(TOKENS.c.revoked.is_(None), TOKENS.c.expires > bindparam("now"))
_BY_DIGEST = _GOOD.where(TOKENS.c.digest == bindparam("wanted"))
_BY_ID = _GOOD.where(TOKENS.c.id == bindparam("wanted"))


@dataclass(frozen=True)
class Principal:
    """Who is asking, and what they may ask about; `datasets` of None means all of them."""

    subject: str
    role: Role
    datasets: frozenset[str] | None = None

    def may_see(self, dataset: str) -> bool:
        """Whether a data set is one of those that the principal may know of."""
        return self.role == "owner" or self.datasets is None or dataset in self.datasets

    def must_be(self, *roles: Role) -> None:
        """Refuse whoever has none of the roles."""
        if self.role not in roles:
            raise ForbiddenError(f"this is for the {' or the '.join(roles)}; you are here as {self.role}")

    @property
    def sees_all(self) -> bool:
        """Whether it is an owner or an auditor of all data sets, who may read the ledger."""
        return self.role == "owner" or (self.role == "auditor" and self.datasets is None)

    def must_see_all(self) -> None:
        """Refuse whoever is no owner, nor an auditor of all data sets: what is asked for is about all of them."""
        self.must_be("owner", "auditor")
        if not self.sees_all:
            raise ForbiddenError("this is about all data sets, and you may know of some of them only")


def local_owner() -> Principal:
    """Return whoever uses this machine as the owner: who can open the database and its key may do all anyway."""
    return Principal(checked_name("the user of this machine", user()), "owner")


def digest_of(secret: str) -> str:
    """Return how a secret is stored."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_secret(beginning: str = _BEGINNING) -> str:
    """Return 256 random bits as a text for headers and cookies."""
    return beginning + base64.urlsafe_b64encode(bytes(noise.uniform(256, 32).tolist())).decode().rstrip("=")


@dataclass(frozen=True)
class Session:
    """A browser that has logged in."""

    who: Principal
    csrf: str
    """What every form of this session must send along."""


class Identities:
    """Tokens, members and sessions."""

    def __init__(self, engine: Engine, secret: bytes) -> None:
        self._engine = engine
        self.secret = secret

    # Tokens

    def issue(self, issuer: str, subject: str, role: str, datasets: Iterable[str] | None, days: int) -> str:
        """Return a new token, which is shown this once."""
        token = new_secret()
        values = {
            "id": random_hex(8),
            "digest": digest_of(token),
            "subject": checked_name("subject", subject),
            "role": one_of("role", role, ROLES),
            "datasets": _names_text(role, datasets),
            "issuer": issuer,
            "created": milliseconds(),
            "expires": milliseconds() + _DAY * whole("days", days, least=1, most=_LONGEST_DAYS),
        }
        with self._engine.begin() as connection:
            connection.execute(insert(TOKENS).values(**values))
        return token

    def tokens(self) -> list[dict[str, Any]]:
        """Return all tokens without what would let anybody use them, the newest first."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(TOKENS).order_by(TOKENS.c.created.desc()))
            return [_shown_token(row) for row in rows]

    def revoke(self, identifier: str) -> None:
        """End a token and every session that began with it."""
        asked = update(TOKENS).where(TOKENS.c.id == identifier, TOKENS.c.revoked.is_(None))
        with self._engine.begin() as connection:
            if not connection.execute(asked.values(revoked=milliseconds())).rowcount:
                raise UnknownError("there is no token of this id that is not revoked already")
            connection.execute(delete(SESSIONS).where(SESSIONS.c.token == identifier))

    def of_token(self, token: str) -> Principal:
        """Return whose token this is, or raise `UnauthenticatedError`."""
        row = self._good_token(_BY_DIGEST, digest_of(token))
        if row is None:
            raise UnauthenticatedError
        return _principal(row)

    def _good_token(self, by: Select[Any], wanted: str) -> Row[Any] | None:
        with self._engine.connect() as connection:
            return connection.execute(by, {"wanted": wanted, "now": milliseconds()}).one_or_none()

    # Members, who come in by single sign-on

    def admit(self, by: str, subject: str, role: str, datasets: Iterable[str] | None) -> None:
        """Let somebody come in by single sign-on, or change as what."""
        values = {
            "subject": checked_name("subject", subject),
            "role": one_of("role", role, ROLES),
            "datasets": _names_text(role, datasets),
            "admitted_by": by,
            "time": milliseconds(),
        }
        with self._engine.begin() as connection:
            connection.execute(delete(MEMBERS).where(MEMBERS.c.subject == subject))
            connection.execute(insert(MEMBERS).values(**values))

    def members(self) -> list[dict[str, Any]]:
        """Return everybody who may come in by single sign-on."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(MEMBERS).order_by(MEMBERS.c.subject))
            return [
                {"subject": row.subject, "role": row.role, "datasets": _names(row.datasets), "by": row.admitted_by}
                for row in rows
            ]

    def dismiss(self, subject: str) -> None:
        """Let somebody come in no more, and end their sessions."""
        with self._engine.begin() as connection:
            if not connection.execute(delete(MEMBERS).where(MEMBERS.c.subject == subject)).rowcount:
                raise UnknownError("member")
            connection.execute(delete(SESSIONS).where(SESSIONS.c.subject == subject, SESSIONS.c.token.is_(None)))

    def _member(self, subject: str) -> Principal:
        with self._engine.connect() as connection:
            row = connection.execute(select(MEMBERS).where(MEMBERS.c.subject == subject)).one_or_none()
        if row is None:
            raise ForbiddenError("you are known, but the owner has not admitted you here; ask them to", "SRD-S012")
        return _principal(row)

    # Sessions

    def begin_with_token(self, token: str, hours: int) -> str:
        """Return the cookie of a new session for whoever has this token."""
        row = self._good_token(_BY_DIGEST, digest_of(token))
        if row is None:
            raise UnauthenticatedError("this token is unknown, expired or revoked; ask the owner for another")
        return self._begin(row.subject, row.id, min(milliseconds() + hours * _HOUR, row.expires))

    def begin_as_member(self, subject: str, hours: int) -> str:
        """Return the cookie of a new session for somebody whom the issuer of OIDC vouched for."""
        self._member(subject)
        return self._begin(subject, None, milliseconds() + hours * _HOUR)

    def _begin(self, subject: str, token: str | None, expires: int) -> str:
        cookie = new_secret("")
        with self._engine.begin() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.expires <= milliseconds()))
            connection.execute(
                insert(SESSIONS).values(digest=digest_of(cookie), subject=subject, token=token, expires=expires)
            )
        return cookie

    def of_session(self, cookie: str) -> Session:
        """Return whose session this is, or raise `UnauthenticatedError`."""
        asked = select(SESSIONS).where(SESSIONS.c.digest == digest_of(cookie), SESSIONS.c.expires > milliseconds())
        with self._engine.connect() as connection:
            row = connection.execute(asked).one_or_none()
        if row is None:
            raise UnauthenticatedError("this session has ended; log in again")
        if row.token is None:
            return Session(self._member(row.subject), self._csrf(cookie))
        token = self._good_token(_BY_ID, row.token)
        if token is None:
            raise UnauthenticatedError("the token that this session began with is expired or revoked; log in again")
        return Session(_principal(token), self._csrf(cookie))

    def end_session(self, cookie: str) -> None:
        """Forget a session."""
        with self._engine.begin() as connection:
            connection.execute(delete(SESSIONS).where(SESSIONS.c.digest == digest_of(cookie)))

    def _csrf(self, cookie: str) -> str:
        return hmac.new(self.secret, f"csrf {cookie}".encode(), hashlib.sha256).hexdigest()


def check_csrf(session: Session, sent: str) -> None:
    """Refuse a form that did not come from a page of this session."""
    if not hmac.compare_digest(session.csrf.encode(), sent.encode()):
        raise ForbiddenError("this form did not come from a page of your session; load the page again", "SRD-S013")


def _principal(row: Row[Any]) -> Principal:
    names = _names(row.datasets)
    return Principal(row.subject, row.role, None if names is None else frozenset(names))


def _names_text(role: str, datasets: Iterable[str] | None) -> str | None:
    if datasets is None:
        return None
    if role == "owner":
        raise ArgumentError("an owner sees every data set, whatever is named; leave datasets out", "SRD-A003")
    if isinstance(datasets, str):
        raise ArgumentError("datasets must be a list of names, or left out for all of them", "SRD-A001")
    return json.dumps(sorted({checked_name("datasets", name) for name in datasets}))


def _names(text: str | None) -> list[str] | None:
    return None if text is None else json.loads(text)


def _shown_token(row: Row[Any]) -> dict[str, Any]:
    state = "revoked" if row.revoked else "expired" if row.expires <= milliseconds() else "good"
    return {
        "id": row.id,
        "subject": row.subject,
        "role": row.role,
        "datasets": _names(row.datasets),
        "issuer": row.issuer,
        "created": row.created,
        "expires": row.expires,
        "state": state,
    }
