"""A training through a real service: priced, begun, killed, stopped, gone on with, settled, its weights fetched."""

from __future__ import annotations

import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flows.test_a_strange_kind import Place
from serve.digits import CANARY, DECLARATIONS, RECIPE, digits, write_digits
from serve.places import OWNER
from sordino.ledger.ledger import Ledger
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.serve.service import Service
from sordino.serve.trainings.worked import weights_name

LONG = {**RECIPE, "steps": 2000, "tranche": 50, "noise": 5}
LONG.pop("epsilon")


class PlaceOfDigits(Place):
    """A service in a process of its own, with digits."""

    kind, datasets = "flows.tides:TIDES", ("digits",)

    def prepare(self, service: Service) -> None:
        write_digits(self.directory)
        service.register(OWNER, DECLARATIONS, {"epsilon": 50, "delta": "1e-5"})

    def step(self, job: str, least: int) -> dict[str, Any]:
        def found() -> Any:
            now = self.job(job)
            assert now["stage"] != "failed", now["error"]
            return (now["progress"] or {"step": -1})["step"] >= least and now

        return dict(self.until(found))

    def kill(self) -> None:
        """Kill the process that carries a job of this place on: it has the ledger open."""
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                working = b"sordino.serve.working" in (entry / "cmdline").read_bytes()
                if working and any(str(self.directory) in os.readlink(each) for each in (entry / "fd").iterdir()):
                    os.kill(int(entry.name), signal.SIGKILL)
                    return
            except OSError:  # it ended meanwhile, or is another's
                continue
        raise AssertionError("no job runs here")


@pytest.mark.service
@pytest.mark.slow
def test_from_its_price_to_its_weights_over_a_dead_body(tmp_path: Path) -> None:
    place = PlaceOfDigits(tmp_path)
    try:
        priced = place.post("/training/price", LONG)
        assert (priced["fits"], priced["steps"], priced["parameters"]) == (True, 2000, 6 * 8 + 8 + 8 * 3 + 3)
        job = place.post("/training/run", LONG)["job"]["id"]
        place.step(job, 100)
        place.kill()
        dead = place.at(job, "interrupted")
        place.post(f"/jobs/{job}/resume")
        place.step(job, dead["progress"]["step"] + 50)
        place.post(f"/jobs/{job}/stop")
        place.at(job, "stopped")
        assert "step" in place.command("jobs", "--json")
        place.command("job", "resume", job)
        ended = place.at(job, "settled", "failed")
        assert ended["error"] is None
        assert ended["progress"]["step"] == 2000

        body = place.http.get(f"/api/v1/releases/{ended['release']}").json()["answer"]
        weights = place.http.get(f"/api/v1/jobs/{job}/files/weights.npz")
        found = np.load(io.BytesIO(weights.content))
        assert weights_name(dict(found)) == body["weights"]  # the receipt names these very weights
        receipt = place.http.get(f"/api/v1/receipts/{ended['release']}").text
        verify_receipt(Receipt.from_json(receipt), place.key, json.dumps(body, separators=(",", ":")).encode())
        pixels, labels = digits()
        said = np.tanh(pixels @ found["1.weight"].T + found["1.bias"]) @ found["3.weight"].T + found["3.bias"]
        assert np.mean(said.argmax(1) == labels) > 0.6  # by chance a third; with this noise 0.8 to 0.9

        used = place.http.get("/api/v1/budgets/dataset/digits").json()["used"]
        settled = place.http.get("/api/v1/releases?limit=500").json()["releases"]
        assert ended["progress"]["tranches"] == len(settled) >= 41  # what was run again was charged again
        assert used > priced["part"] * 1.01
        assert sum(each["part"] for each in settled) == pytest.approx(used, rel=1e-6)
        assert [each["outcome"] for each in settled].count("failed") == 1
        said_again = place.http.post("/api/v1/training/run", json=LONG, headers={"Idempotency-Key": "once"})
        other = place.http.post("/api/v1/training/run", json=LONG, headers={"Idempotency-Key": "once"})
        assert said_again.json()["job"]["id"] == other.json()["job"]["id"]
        place.post(f"/jobs/{other.json()['job']['id']}/stop")
        place.at(other.json()["job"]["id"], "stopped")
    finally:
        place.close()
    with Ledger.open(tmp_path / "budget.db") as ledger:
        assert ledger.verify().sound
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name != "digits.npz":
            said_there = path.read_bytes()
            assert repr(CANARY).encode() not in said_there
            assert np.float32(CANARY).tobytes() not in said_there
            assert np.float64(CANARY).tobytes() not in said_there
