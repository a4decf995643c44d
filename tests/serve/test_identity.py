"""Tokens, members, sessions: hashed, scoped, expiring, revocable."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

import pytest

from serve.places import OWNER
from sordino.errors import ArgumentError
from sordino.serve.keeping import identity
from sordino.serve.keeping.identity import Principal, check_csrf, local_owner
from sordino.serve.refusals import ForbiddenError, UnauthenticatedError
from sordino.serve.service import Service

_DAY = 86_400_000


def test_a_token_is_known_by_its_digest_alone(service: Service, tmp_path: Path) -> None:
    token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
    assert service.identities.of_token(token) == Principal("ann", "analyst", frozenset({"trips"}))
    assert len(token) == len("sordino_") + 43
    cookie = service.identities.begin_with_token(token, 1)
    service.close()
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        assert token.encode() not in content
        assert token.removeprefix("sordino_").encode() not in content
        assert cookie.encode() not in content


def test_tokens_differ_and_others_are_nobody(service: Service) -> None:
    tokens = {service.issue_token(OWNER, "ann", "analyst") for _ in range(20)}
    assert len(tokens) == 20
    token = tokens.pop()
    for wrong in ("", "sordino_", token[:-1], token + "A", token.lower()):
        with pytest.raises(UnauthenticatedError):
            service.identities.of_token(wrong)


def test_a_token_expires(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    token = service.issue_token(OWNER, "ann", "analyst", days=2)
    cookie = service.identities.begin_with_token(token, 24 * 30)
    now = identity.milliseconds()
    monkeypatch.setattr(identity, "milliseconds", lambda: now + _DAY)
    assert service.identities.of_token(token).subject == "ann"
    monkeypatch.setattr(identity, "milliseconds", lambda: now + 3 * _DAY)
    for look, secret in ((service.identities.of_token, token), (service.identities.of_session, cookie)):
        with pytest.raises(UnauthenticatedError):
            look(secret)
    assert [each["state"] for each in service.tokens(OWNER)] == ["expired"]


def test_revoking_a_token_ends_its_sessions(service: Service) -> None:
    token = service.issue_token(OWNER, "ann", "analyst")
    cookie = service.identities.begin_with_token(token, 1)
    assert service.identities.of_session(cookie).who.subject == "ann"
    (row,) = service.tokens(OWNER)
    service.revoke_token(OWNER, row["id"])
    for look, secret in ((service.identities.of_token, token), (service.identities.of_session, cookie)):
        with pytest.raises(UnauthenticatedError):
            look(secret)
    with pytest.raises(UnauthenticatedError):
        service.identities.begin_with_token(token, 1)
    assert [each["state"] for each in service.tokens(OWNER)] == ["revoked"]


def test_sessions_end(service: Service) -> None:
    cookie = service.identities.begin_with_token(service.issue_token(OWNER, "ann", "analyst"), 1)
    service.identities.end_session(cookie)
    with pytest.raises(UnauthenticatedError):
        service.identities.of_session(cookie)


def test_forms_carry_the_sessions_own_token(service: Service) -> None:
    token = service.issue_token(OWNER, "ann", "analyst")
    one, two = (service.identities.of_session(service.identities.begin_with_token(token, 1)) for _ in range(2))
    check_csrf(one, one.csrf)
    for wrong in ("", two.csrf, "ü"):
        with pytest.raises(ForbiddenError):
            check_csrf(one, wrong)


def test_members_come_in_until_they_are_dismissed(service: Service) -> None:
    with pytest.raises(ForbiddenError):
        service.identities.begin_as_member("zoe", 1)
    service.admit(OWNER, "zoe", "analyst", ["trips"])
    cookie = service.identities.begin_as_member("zoe", 1)
    assert service.identities.of_session(cookie).who == Principal("zoe", "analyst", frozenset({"trips"}))
    service.admit(OWNER, "zoe", "auditor")  # what somebody is can change while they are in
    assert service.identities.of_session(cookie).who.role == "auditor"
    service.dismiss(OWNER, "zoe")
    with pytest.raises(UnauthenticatedError):
        service.identities.of_session(cookie)


@pytest.mark.parametrize(
    ("subject", "role", "datasets", "days"),
    [
        ("", "owner", None, 1),
        (" ann", "owner", None, 1),
        ("a\u0308", "owner", None, 1),  # another spelling of ä
        ("ann", "king", None, 1),
        ("ann", "owner", "trips", 1),
        ("ann", "owner", [""], 1),
        ("ann", "owner", None, 0),
        ("ann", "owner", None, 1.5),
        ("ann", "owner", None, 99999),
    ],
)
def test_tokens_that_are_off(quiet: Service, subject, role, datasets, days) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArgumentError):
        quiet.issue_token(OWNER, subject, role, datasets, days)


def test_whoever_uses_the_machine_is_its_owner() -> None:
    assert local_owner().role == "owner"


def test_whoever_has_no_name_here_goes_by_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert local_owner().subject == f"uid-{os.getuid()}"
