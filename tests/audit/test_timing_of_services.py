"""A stopwatch at two real services over HTTP: whose rows are many is told by time, unless runs end with slots."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.service_places import pair_of_services
from sordino.audit.attacks.timing import Timed, timing
from sordino.audit.probing.line import Line

pytestmark = pytest.mark.service

ROUNDS = 40
COUNT = {"dataset": "rides", "sql": "SELECT COUNT(*) AS n FROM rides", "epsilon": "0.1"}


def timed(directory: Path, slot: float) -> Timed:
    """Ask both services in turns, of which one knows a person with a million and a half of rides."""
    with (
        pair_of_services(directory, {"epsilon": 900}, more=1_500_000, slot_seconds=slot) as pair,
        Line(pair.with_, pair.tokens.token) as here,
        Line(pair.without, pair.token_without) as there,
    ):
        return timing(lambda side: (here, there)[side].run(COUNT).seconds, [0, 1], rounds=ROUNDS, seed=1)


@pytest.mark.long
def test_time_tells_whose_rows_are_many(tmp_path: Path) -> None:
    assert timed(tmp_path, 0).depends


@pytest.mark.long
def test_slots_hide_it(tmp_path: Path) -> None:
    assert not timed(tmp_path, 1.5).depends
