"""Private predictions over HTTP: opened once, asked until they run out, gone on with after a restart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from serve.conftest import Caller
from serve.digits import ANN, DECLARATIONS, WANTED, digits, opened
from serve.places import OWNER, settings_at
from sordino.errors import SordinoError
from sordino.learn.prediction.fits import FITS
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.serve.app import create_app
from sordino.serve.service import Service

CLEAR = [[4, 0, 0, 0, 0, 0], [0, 4, 0, 0, 0, 0], [0, 0, 4, 0, 0, 0]]


def caller(service: Service, client: TestClient) -> Caller:
    found = Caller(service, client)
    for name in ("ann", "bob"):
        found.tokens[name] = service.issue_token(OWNER, name, "analyst", ["digits"])
    return found


def ask(call: Caller, who: str, work: str, things: Any, code: int = 200, **asked: Any) -> Any:
    body = {"request": WANTED, "asked": {"things": things, **asked}}
    told = call(who, "POST", f"/predictions/{work}/part", json=body)
    assert told.status_code == code, told.text
    return told.json()


def test_opened_asked_restarted_run_out_and_finished(tmp_path: Path) -> None:
    with opened(tmp_path) as service, TestClient(create_app(service)) as client:
        call = caller(service, client)
        priced = call("ann", "POST", "/predictions/price", json=WANTED).json()
        assert (priced["fits"], priced["answers"], priced["classes"]) == (True, 6, 3)
        headers = {"Idempotency-Key": "mine"}
        begun = call("ann", "POST", "/predictions/run", json=WANTED, headers=headers).json()
        again = call("ann", "POST", "/predictions/run", json=WANTED, headers=headers).json()
        assert (begun["id"], begun["receipt"], begun["answer"]["left"]) == (again["id"], None, 6)
        work, used = begun["id"], service.budget(OWNER, "digits")["used"]
        assert used == pytest.approx(priced["part"])  # charged once, whole
        first = ask(call, "ann", work, CLEAR)
        assert first == {"classes": [0, 1, 2], "left": 3, "after": 3}
        assert ask(call, "ann", work, CLEAR, after=0) == first  # lost on its way, asked again: nothing is used up
        for who, identifier in (("bob", work), ("ann", "1-0000"), ("ann", "nonsense")):
            ask(call, who, identifier, CLEAR, 404)
        ask(call, "ann", work, CLEAR + CLEAR, 402)
        for wrong in ([], [[1, 2]], ["text"], [[None] * 6], [[1, [2]]]):
            ask(call, "ann", work, wrong, 422)
    with Service.open(settings_at(tmp_path)) as service, TestClient(create_app(service)) as client:
        call = caller(service, client)
        assert ask(call, "ann", work, CLEAR[1:], after=3)["left"] == 1
        assert len(ask(call, "ann", work, CLEAR[:1])["classes"]) == 1
        ask(call, "ann", work, CLEAR[:1], 402)
        ended = call("ann", "POST", f"/predictions/{work}/finish", json={"request": WANTED})
        assert json.loads(ended.json()["answer"]) == {"answers": 6}
        key = service.checkpoint(OWNER)["key"]
        verify_receipt(Receipt.from_json(ended.json()["receipt"]), key, ended.json()["answer"].encode())
        assert service.budget(OWNER, "digits")["used"] == pytest.approx(used)
        ask(call, "ann", work, CLEAR[:1], 404)
        assert service.verify(OWNER)["sound"]
        assert "59183" not in json.dumps(service.entries(OWNER, 0, 100))


@pytest.mark.parametrize(
    "change",
    [
        {"parts": 1},
        {"parts": 10**9},
        {"answers": 0},
        {"answers": 10**9},
        {"answers": "6"},
        {"model": "os:system"},
        {"epsilon": None},
        {"epsilon": 0},
        {"epsilon": 100},
        {"rho": 1},
        {"surprise": 1},
        {"dataset": None},
    ],
)
def test_what_is_wrong_is_refused_before_the_charge(tmp_path: Path, change: dict[str, Any]) -> None:
    with opened(tmp_path) as service:
        with pytest.raises(SordinoError):
            service.run(ANN, "predictions", {**WANTED, **change})
        assert service.checkpoint(OWNER)["size"] == 1


def test_numbers_are_not_voted_on(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.register(OWNER, DECLARATIONS.replace("classes: 3\n", ""))
        with pytest.raises(SordinoError, match="classes"):
            service.price(ANN, "predictions", WANTED)


@pytest.mark.parametrize("name", FITS)
def test_models_by_name_learn_and_leave_out_what_is_no_example(name: str) -> None:
    pixels, labels = digits()
    pixels[7] = np.nan
    spoilt = np.where(np.arange(len(labels)) % 50 == 0, -1, labels)
    predict = FITS[name]((pixels, spoilt))
    assert np.mean(predict(np.nan_to_num(pixels)) == labels) > 0.9
