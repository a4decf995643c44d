"""A thousand days: what a device tells in all stays within what is stated, for answers that change and that do not."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from collect.randomizers import Seeded
from sordino.accounting import events
from sordino.audit.confidence import epsilon_at_least
from sordino.collect.coins import WORD
from sordino.collect.fingerprint import cell, key
from sordino.collect.frequencies.k_ary import KAry
from sordino.collect.frequencies.memoised_hashing import MemoisedHashing
from sordino.collect.frequencies.rappor import Rappor
from sordino.collect.memory import Memoised, Memory, Renewed
from sordino.errors import ArgumentError

DAYS, PEOPLE = 1000, 4000
CHANGES = 5
SEGMENTS = np.arange(DAYS) * (CHANGES + 1) // DAYS


@pytest.fixture(autouse=True)
def _repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Seeded(5)
    for module in ("frequencies.memoised_hashing", "frequencies.k_ary", "frequencies.rappor"):
        monkeypatch.setattr(f"sordino.collect.{module}.SOURCE", source)
    monkeypatch.setattr("sordino.noise.planes.SOURCE", source)


def _kept_cells(way: MemoisedHashing, values: list[int], people: int) -> Any:
    """Return which cell, less the true one, each of many devices seems to keep in each segment: the best guess of all.

    Every day of a segment is looked at: the cell that is told most often. All devices have one function.
    """
    enrolled = np.zeros(people, dtype=np.int64)
    guesses = []
    for segment, value in enumerate(values):
        kept = way.permanent_all(np.full(people, value), enrolled)
        seen = np.zeros((people, way.cells), dtype=np.int64)
        for _ in range(int((segment == SEGMENTS).sum()) if len(values) > 1 else DAYS):
            told = way.daily_all(kept, enrolled)[:, 2]
            seen[np.arange(people), told] += 1
        guesses.append(seen.argmax(axis=1))
    return np.stack(guesses, axis=1)


def _measured(way: MemoisedHashing, here: list[int], there: list[int], people: int, margin: int) -> float:
    """Return a lower bound of ε, at 99.9 %, by how often guesses are the first history's cells `margin` times more."""
    first, second = ([_cell(way, value) for value in history] for history in (here, there))
    hits = []
    for history in (here, there):
        guesses = _kept_cells(way, history, people)
        hits.append(int(((guesses == first).sum(axis=1) - (guesses == second).sum(axis=1) >= margin).sum()))
    return epsilon_at_least(hits[0], hits[1], people, 0.0, 0.999)


def _cell(way: MemoisedHashing, value: int) -> int:
    return cell(value, key(way.salt, 0), way.cells)


def _apart(way: MemoisedHashing, count: int) -> tuple[list[int], list[int]]:
    """Return two histories of different values, whose cells differ from day to day and from each other."""
    values = range(way.domain)
    here = [v for v in values if _cell(way, v) == 0][:count]
    there = [v for v in values if _cell(way, v) == 1][:count]
    return here, there


def test_a_constant_answer_stays_within_what_is_stated() -> None:
    way = MemoisedHashing(domain=100, longitudinal=2, epsilon=1, seeds=1)
    here, there = _apart(way, 1)
    measured = _measured(way, here, there, PEOPLE, 1)
    stated = float(Memoised(way).event().epsilon)  # type: ignore[attr-defined]
    assert stated == 2
    assert 0.8 * stated < measured <= stated


def test_an_answer_that_changes_five_times_stays_within_what_is_stated() -> None:
    way = MemoisedHashing(domain=100, longitudinal="0.5", epsilon="0.4", seeds=1)
    here, there = _apart(way, CHANGES + 1)
    assert Memoised(way, changes=CHANGES).event() == events.Repeated(events.Pure(Fraction(1, 2)), 6)
    measured = _measured(way, here, there, 3 * PEOPLE, 4)
    assert 3 * 0.5 < measured <= 3  # more than three constant ones: changes must be paid for


def test_without_memory_the_value_is_found() -> None:
    """Fresh coins of the same ε each day: the answer that comes most often is the value."""
    way, values = KAry(10, 1), np.arange(500) % 10
    seen = np.zeros((500, 10), dtype=np.int64)
    for _ in range(DAYS):
        seen[np.arange(500), way.reports(values)[:, 0]] += 1
    assert np.mean(seen.argmax(axis=1) == values) >= 0.99


def test_with_memory_the_value_is_not_found() -> None:
    """The same ε a day, remembered at twice it: all days together find it no more often than the permanent coin."""
    way = MemoisedHashing(domain=10, longitudinal=2, epsilon=1, seeds=1)
    value = next(v for v in range(10) if _cell(way, v) == 0)
    found = np.mean(_kept_cells(way, [value], PEOPLE)[:, 0] == 0)
    truth = way.kept.truth / WORD
    assert abs(found - truth) < 6 * math.sqrt(truth * (1 - truth) / PEOPLE)


def _endless(
    draws: int, keys: list[int], shown: tuple[int, ...], history: tuple[int, ...], truth: Fraction
) -> Fraction:
    """Return the chance that permanent answers, fully seen on each day, are `shown`: k-ary response over two values."""
    kept: dict[int, int] = {}
    chance = Fraction(1)
    for day, slot in enumerate(keys):
        if slot not in kept:
            if len(kept) == draws:
                slot = next(reversed(kept))
            else:
                kept[slot] = shown[day]
                chance *= truth if shown[day] == history[day] else 1 - truth
        if kept[slot] != shown[day]:
            return Fraction(0)
    return chance


def test_renewed_answers_hide_changes_and_memoised_ones_do_not() -> None:
    """Four days, all histories, permanent answers seen as they are: as after endless days of reports."""
    truth, power = Fraction(3, 4), Fraction(3)  # ε∞ = ln 3
    histories = list(product((0, 1), repeat=4))
    by_period = [0, 0, 1, 1]
    for one, other in product(histories, histories):
        for shown in histories:
            here, there = (_endless(2, by_period, shown, each, truth) for each in (one, other))
            assert here <= power**2 * there
    alike = {h: tuple(a == b for a, b in product(h, h)) for h in histories}
    told_apart = False
    for one, other in product(histories, histories):
        for shown in histories:
            here, there = (_endless(2, list(each), shown, each, truth) for each in (one, other))
            if alike[one] == alike[other]:
                assert here <= power**2 * there
            told_apart |= here > 0 and there == 0
    assert told_apart  # when a value changes is not hidden: no ε at all would hold


@pytest.mark.parametrize("way", [MemoisedHashing(50, 2, 1), Rappor(4, 2)])
def test_a_device_draws_no_more_than_is_charged(way: Any) -> None:
    source, memory = Seeded(6), None
    plan = Memoised(way, changes=2)
    for value in (1, 1, 2, 1, 3, 4, 5, 1):
        payload, memory = plan.report(value, memory, source)
        assert len(payload) == way.size
    assert memory is not None
    assert [key for key, _ in memory.kept] == [1, 2, 3]
    assert len(memory.kept) == plan.draws
    assert repr(memory) == f"Memory(enrolled={memory.enrolled})"
    again = Memory.from_json(json.loads(json.dumps(memory.to_json())))
    assert again == memory
    assert plan.report(4, memory, Seeded(7)) == plan.report(3, memory, Seeded(7))  # the last one goes on
    assert plan.report(2, memory, Seeded(7))[1] is memory


def test_periods_take_the_value_at_their_beginning() -> None:
    way = MemoisedHashing(50, 2, 1)
    plan, source, memory = Renewed(way, periods=3, days=10), Seeded(8), None
    for day in range(30):
        _, memory = plan.report(day % 7, day, memory, source)
    assert memory is not None
    assert [key for key, _ in memory.kept] == [0, 1, 2]
    assert plan.event() == events.Repeated(events.Pure(Fraction(2)), 3)
    assert Renewed(way, periods=1, days=9).event() == events.Pure(Fraction(2))
    with pytest.raises(ArgumentError, match="day"):
        plan.report(1, 30, memory, source)
    kept = dict(memory.kept)
    assert plan.report(1, 15, memory, Seeded(9))[0] == way.daily(kept[1], memory.enrolled, Seeded(9))


def test_permanent_answers_of_a_constant_value_never_change() -> None:
    way, source = Rappor(6, 2), Seeded(10)
    plan = Memoised(way)
    first, memory = plan.report(77, None, source)
    reports = [plan.report(77, memory, source) for _ in range(200)]
    assert all(kept is memory for _, kept in reports)
    assert len({payload for payload, _ in reports}) > 190
    assert {payload[:2] for payload, _ in reports} == {first[:2]}


@pytest.mark.parametrize(
    "given",
    [None, {}, {"enrolled": -1, "kept": []}, {"enrolled": 1, "kept": [["x", "00"]]}, {"enrolled": 1, "kept": [1]}],
)
def test_a_foreign_memory_is_refused_in_silence(given: Any) -> None:
    with pytest.raises(ArgumentError, match="SRD-C150") as refusal:
        Memory.from_json(given)
    assert "x" not in str(refusal.value).replace("next", "")


@pytest.mark.parametrize("changes", [-1, 1.5, True, None])
def test_wrong_numbers_of_changes_are_refused(changes: Any) -> None:
    with pytest.raises(ArgumentError, match="changes"):
        Memoised(MemoisedHashing(50, 2, 1), changes)
