"""Cosigning over HTTP: a service cosigns for the logs that it names, and a ledger keeps what it was given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from serve.places import settings_at
from sordino.accounting.budget import budget
from sordino.ledger.cosignature import Cosigner, cosigned
from sordino.ledger.keys import SigningKey
from sordino.ledger.ledger import Ledger
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.witness import NoWitness
from sordino.ledger.witness_protocol import asked
from sordino.serve.app import create_app
from sordino.serve.refusals import SettingsError
from sordino.serve.service import Service
from sordino.serve.settings import Settings
from sordino.serve.witness.cosigning import Place, cosign_now, cosigning_key

LOG = SigningKey.generate("log.example.org/one")
ELSEWHERE = "https://witness.example.org/witness"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.db", key=LOG, witness=NoWitness("a test")) as found:
        yield found


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "witness").mkdir()
    changes: dict[str, Any] = {"witness_for": [LOG.verifier.text], "cosigning_key": str(tmp_path / "cosigning.key")}
    with Service.open(settings_at(tmp_path / "witness", **changes)) as service:
        yield TestClient(create_app(service))


def through(client: TestClient) -> httpx.MockTransport:
    def handle(request: httpx.Request) -> httpx.Response:
        said = client.post(request.url.path, content=request.content)
        return httpx.Response(
            said.status_code, content=said.content, headers={"content-type": said.headers["content-type"]}
        )

    return httpx.MockTransport(handle)


def grow(ledger: Ledger, name: str) -> None:
    ledger.open_scope(Scope("project", name), Rule.open(budget(epsilon=1)), by="owner")


def test_a_service_cosigns_for_a_ledger(ledger: Ledger, witness: TestClient, tmp_path: Path) -> None:
    who = (
        Cosigner(SigningKey.load(tmp_path / "cosigning.key").verifier)
        if (tmp_path / "cosigning.key").exists()
        else None
    )
    who = who or Cosigner(cosigning_key(Settings(cosigning_key=str(tmp_path / "cosigning.key"))).verifier)
    place = Place.read(f"{ELSEWHERE} {who.text}")
    for name in ("a", "b", "c"):
        grow(ledger, name)
        assert cosign_now(ledger, [place], transport=through(witness)) == [(who.name, None)]
        assert ledger.cosignatures.seen_by(who) == ledger.size
    found = ledger.cosignatures.newest()
    assert found is not None
    assert [each.name for each in cosigned(found[1], [who])] == [who.name]
    address = f"/witness/{hashlib.sha256(LOG.name.encode()).hexdigest()}/checkpoint"
    assert witness.get(address).text == found[1]
    assert witness.get(f"/witness/{'0' * 64}/checkpoint").status_code == 404
    with ledger._session.log.store.writing() as writing:  # as if what was cosigned had been lost here
        writing._cursor.execute("DELETE FROM ledger_cosignatures")
    grow(ledger, "d")
    assert cosign_now(ledger, [place], transport=through(witness)) == [(who.name, None)]
    assert ledger.verify().sound


def test_what_goes_wrong_is_told(ledger: Ledger, witness: TestClient, tmp_path: Path) -> None:
    grow(ledger, "a")
    stranger = SigningKey.generate("stranger.example.org")
    place = Place.read(f"{ELSEWHERE} {Cosigner(stranger.verifier).text}")
    ((_, trouble),) = cosign_now(ledger, [place], transport=through(witness))
    assert "no cosignature" in str(trouble)
    ((_, trouble),) = cosign_now(ledger, [Place("http://127.0.0.1:9", place.cosigner)], 0.5)
    assert "cannot be reached" in str(trouble)
    ((_, trouble),) = cosign_now(ledger, [place], transport=httpx.MockTransport(lambda _: httpx.Response(503)))
    assert "503" in str(trouble)
    with Ledger.open(tmp_path / "other.db", witness=NoWitness("a test")) as unknown:
        said = witness.post("/witness/add-checkpoint", content=asked(0, (), unknown.checkpoint()))
        assert said.status_code == 404
    assert witness.post("/witness/add-checkpoint", content=b"old").status_code == 400


def test_a_service_that_cosigns_for_nobody_says_so(tmp_path: Path, ledger: Ledger) -> None:
    with Service.open(settings_at(tmp_path)) as service:
        client = TestClient(create_app(service))
        assert client.post("/witness/add-checkpoint", content=asked(0, (), ledger.checkpoint())).status_code == 404
    with pytest.raises(SettingsError, match="cosigning_key"):
        cosigning_key(Settings())
    with pytest.raises(SettingsError, match="two keys"):
        Settings(witness_for=(LOG.verifier.text, SigningKey.generate(LOG.name).verifier.text))
    with pytest.raises(SettingsError, match="cosigners"):
        Place.read("https://witness.example.org")
    assert json.loads("[]") == list(Settings().cosigners)
