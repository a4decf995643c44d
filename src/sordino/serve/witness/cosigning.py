"""Cosigning for other ledgers, and asking others to cosign this one: C2SP tlog-witness over HTTP.

**Guarantee**: one newest checkpoint is remembered for each origin, whichever way it was told (``line.py`` or
``add-checkpoint``), and changed only where it is still the one that was compared with. So this service never cosigns
two histories of a log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from sqlalchemy import Row, insert, select, update
from sqlalchemy.exc import IntegrityError

from sordino.errors import LedgerError
from sordino.ledger.checkpoint import Checkpoint
from sordino.ledger.cosignature import Cosigner, with_lines
from sordino.ledger.keys import SigningKey, VerifyingKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.note import text_of
from sordino.ledger.opening import token
from sordino.ledger.witness_protocol import SIZE_TYPE, Answer, answer, asked
from sordino.serve.keeping.registry import Registry, milliseconds
from sordino.serve.keeping.tables import WITNESSED
from sordino.serve.refusals import SettingsError
from sordino.serve.settings import Settings

from .line import UnreachedError

_BY = "add-checkpoint"
_MOST_BYTES = 1 << 16


def answered(settings: Settings, registry: Registry, body: bytes) -> Answer:
    """Return the answer to a request to cosign a checkpoint."""
    logs = {key.name: key for key in map(VerifyingKey.parse, settings.witness_for)}
    if not logs or settings.cosigning_key is None or len(body) > _MOST_BYTES:
        return Answer(404, "this service cosigns for nobody\n")
    key = cosigning_key(settings)

    def recall(origin: str) -> str | None:
        row = _row(registry, logs[origin])
        return None if row is None else str(row.note)

    def remember(origin: str, before: str | None, now: str) -> bool:
        return _remember(registry, logs[origin], before, now)

    return answer(body, logs, key, milliseconds() // 1000, recall, remember)


def cosigning_key(settings: Settings) -> SigningKey:
    """Return the key by which this service cosigns; made, with a name of its own, if its file is missing."""
    if settings.cosigning_key is None:
        raise SettingsError(
            "this service cosigns for nobody: set cosigning_key, the file of the key by which it does", "SRD-S010"
        )
    place = Path(settings.cosigning_key)
    if not place.exists():
        host = urlsplit(settings.url or "").hostname or "sordino.invalid"
        with suppress(LedgerError):  # another process was quicker
            SigningKey.generate(f"{host}/witness/{token()}").save(place)
    return SigningKey.load(place)


def newest(settings: Settings, registry: Registry, digest: str) -> str | None:
    """Return the newest checkpoint that was cosigned of the log whose origin has this SHA-256, or None."""
    for key in map(VerifyingKey.parse, settings.witness_for):
        if hashlib.sha256(key.name.encode()).hexdigest() == digest and (row := _row(registry, key)) is not None:
            return str(row.note)
    return None


def _row(registry: Registry, key: VerifyingKey) -> Row[tuple[object, ...]] | None:
    with registry.engine.connect() as connection:
        return connection.execute(select(WITNESSED).where(WITNESSED.c.key == key.text)).one_or_none()


def _remember(registry: Registry, key: VerifyingKey, before: str | None, now: str) -> bool:
    values = {"size": Checkpoint.parse(text_of(now)).size, "note": now, "time": milliseconds()}
    with registry.engine.begin() as connection:
        if before is not None:
            same = WITNESSED.c.key == key.text, WITNESSED.c.note == before
            return bool(connection.execute(update(WITNESSED).where(*same).values(**values)).rowcount)
        begun = {"key": key.text, "spent": json.dumps({}), "anew": False, "by": _BY}
        try:
            connection.execute(insert(WITNESSED).values(**begun, **values))
        except IntegrityError:
            return False
    return True


class Place(NamedTuple):
    """A cosigner, and where it is asked."""

    url: str
    cosigner: Cosigner

    @staticmethod
    def read(text: str) -> Place:
        """Return what the setting ``https://witness.example.org/prefix name+id+base64`` says."""
        url, _, key = text.partition(" ")
        try:
            return Place(url.rstrip("/"), Cosigner.parse(key.strip()))
        except LedgerError as error:
            raise SettingsError(
                f"cosigners must each be an address, a space and a key: {error.message}", "SRD-S010"
            ) from None


def cosign_now(
    ledger: Ledger, places: Iterable[Place], seconds: float = 5.0, transport: httpx.BaseTransport | None = None
) -> list[tuple[str, str | None]]:
    """Ask each cosigner for the newest checkpoint, and keep what they sign; return each name, and why one did not."""
    found: list[tuple[str, str | None]] = []
    with httpx.Client(timeout=seconds, transport=transport, trust_env=False) as client:
        for place in places:
            try:
                _ask(ledger, place, client)
                found.append((place.cosigner.name, None))
            except LedgerError as error:
                found.append((place.cosigner.name, error.message))
    return found


def _ask(ledger: Ledger, place: Place, client: httpx.Client) -> None:
    note = ledger.checkpoint()
    size, old = Checkpoint.open(note, ledger.key).size, ledger.cosignatures.seen_by(place.cosigner)
    for _ in range(2):  # once more, if it has seen another size than was thought
        body = asked(old, ledger.consistency(old, size), note)
        try:
            said = client.post(f"{place.url}/add-checkpoint", content=body)
        except (httpx.HTTPError, httpx.InvalidURL):
            raise UnreachedError(
                f"the cosigner {place.url} cannot be reached; check the address and that it runs"
            ) from None
        kind = said.headers.get("content-type", "").partition(";")[0]
        if said.status_code != HTTPStatus.CONFLICT or kind != SIZE_TYPE or not said.text.strip().isdecimal():
            break
        old = int(said.text)
        if old > size:
            raise LedgerError(
                f"the cosigner {place.url} has seen {old} entries of this ledger, which has {size}: it is an old copy",
                "SRD-L061",
            )
    if said.status_code != HTTPStatus.OK:
        raise UnreachedError(f"the cosigner {place.url} answered {said.status_code}: {said.text[:200]!r}")
    noted = with_lines(note, said.text, [place.cosigner])
    if not ledger.cosignatures.keep(noted, [place.cosigner]):
        raise UnreachedError(f"what {place.url} answered is no cosignature of {place.cosigner.name}; check its key")
