"""A service that is killed while people answer: what it acknowledged is counted, once."""

from __future__ import annotations

import random
import threading
import time

import httpx
import pyarrow.parquet as pq
import pytest

from serve.places import OWNER, settings_at
from serve.polls import polled, reports
from serve.replicas import Replica
from sordino.serve.service import Service
from sordino.serve.surveys import owners

pytestmark = pytest.mark.service
SENDERS = 4


def bring(address, rows, taken):
    """Send reports, one or ten a request, until the service is gone."""
    with httpx.Client(timeout=60) as client:
        for start in range(0, len(rows), 10):
            for part in (rows[start : start + 1], rows[start : start + 10]):
                try:
                    answer = client.post(f"{address}/api/v1/surveys/pets/reports", content=part.tobytes())
                except httpx.TransportError:
                    return
                assert answer.status_code == 200
                taken.update(bytes(each[33:49]) for each in part)


def killed(tmp_path, times):
    """Kill a service so many times under load, then close the round; return what was acknowledged and what is kept."""
    with polled(tmp_path) as service:
        rows = reports(service, 8000)
    taken: set[bytes] = set()
    dice = random.Random(1)  # noqa: S311
    for _ in range(times):
        replica = Replica(settings_at(tmp_path))
        replica.wait()
        before = len(taken)
        parts = [rows[each::SENDERS] for each in range(SENDERS)]
        threads = [threading.Thread(target=bring, args=(replica.address, part, taken)) for part in parts]
        for each in threads:
            each.start()
        while len(taken) == before and any(each.is_alive() for each in threads) and before < len(rows):
            time.sleep(0.005)
        time.sleep(dice.random() * 0.1)
        replica.kill()
        for each in threads:
            each.join()
        rows = rows[dice.sample(range(len(rows)), len(rows))]
    with Service.open(settings_at(tmp_path)) as service:
        closed = owners.close(service, OWNER, "pets")
    kept = pq.read_table(next((tmp_path / "surveys").rglob("reports.parquet")))["id"].to_pylist()
    assert closed["estimate"]["reports"] == len(kept)
    return taken, kept, {bytes(each[33:49]) for each in rows}


def check(taken, kept, sent):
    assert len(kept) == len(set(kept))  # none twice
    assert taken <= set(kept) <= sent  # none lost, none from nowhere


def test_a_killed_service_loses_nothing_and_counts_nothing_twice(tmp_path):
    check(*killed(tmp_path, 2))


@pytest.mark.long
def test_fifty_kills_lose_nothing_and_count_nothing_twice(tmp_path):
    check(*killed(tmp_path, 50))
