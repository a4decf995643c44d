"""Who is counted how often: against a plain loop over events, over restarts, and after batches that came to nothing."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from collect.stream.riders import Riders
from sordino.collect.stream import Stream, counting, histogram, open_stream, summing
from sordino.collect.stream.contributions import Contributions
from sordino.collect.stream.keeping import Folder
from sordino.collect.stream.people import Arrivals
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, LedgerError

SPEC = counting(200, events=3, apart=2, enforced=True)


def account(path: Path) -> DataAccount[Any]:
    return so.open(path / "budget.db").account(Riders(), so.budget(rho=4 * 10**6))


def opened(spec: Any, rho: Any = 10**6) -> Stream:
    return open_stream(so.account(Riders(), so.unlimited("a test")), spec, rho=rho)


def by_hand(events: int, apart: int, people: list[int], steps: list[int]) -> list[bool]:
    """A person's events one after the other, by step and then as they were handed over."""
    kept, times = [False] * len(people), dict[int, list[int]]()
    for place in sorted(range(len(people)), key=lambda each: (steps[each], each)):
        before = times.setdefault(people[place], [])
        if len(before) < events and (not before or steps[place] - before[-1] >= apart):
            before.append(steps[place])
            kept[place] = True
    return kept


@pytest.mark.parametrize(("events", "apart"), [(1, 0), (3, 0), (2, 1), (4, 3), (100, 1)])
def test_the_same_events_as_by_hand_in_one_batch_or_many(events: int, apart: int) -> None:
    rng = np.random.default_rng(events)
    people, steps = rng.integers(0, 20, 300), np.sort(rng.integers(0, 60, 300))
    arrivals = Arrivals(most=1000, events=events, apart=apart)
    wanted = by_hand(events, apart, people.tolist(), steps.tolist())
    whole = Contributions(arrivals, None, 0)
    assert whole.keep(1, people, steps).tolist() == wanted
    parts = Contributions(arrivals, None, 0)
    found = []
    for number, (start, stop) in enumerate([(0, 20), (20, 21), (21, 60)], 1):
        inside = (steps >= start) & (steps < stop)
        for _ in range(2):  # the first time it came to nothing, and is handed over again
            kept = parts.keep(number, people[inside], steps[inside])
        found += kept.tolist()
    assert found == wanted


def test_one_person_changes_nothing_of_what_is_counted_of_others() -> None:
    rng = np.random.default_rng(7)
    people, steps = rng.integers(0, 9, 200), rng.integers(0, 40, 200)
    arrivals = Arrivals(most=1000, events=3, apart=2)
    alone = people != 4
    with_them = Contributions(arrivals, None, 0).keep(1, people, steps)
    without = Contributions(arrivals, None, 0).keep(1, people[alone], steps[alone])
    assert with_them[alone].tolist() == without.tolist()
    assert with_them[~alone].sum() <= 3


def test_a_greedy_person_counts_as_often_as_declared() -> None:
    stream = opened(counting(10, events=2, enforced=True))
    at, people = [0] * 50 + [1], ["greedy"] * 50 + ["modest"]
    assert stream.add_events(at, people, steps=2).totals == pytest.approx([2, 3], abs=0.1)
    assert stream.add_events([0, 0, 5, -1], ["greedy", "modest", "new", "new"], steps=1).totals == pytest.approx(
        [4], abs=0.1
    )
    sums = opened(summing(10, bounds=(0, 5), events=1, enforced=True))
    assert sums.add_events([0, 0, 1], [1, 1, 2], [4.0, 3.0, 99.0], steps=2).totals == pytest.approx([4, 9], abs=0.1)
    cells = opened(histogram(10, ["a", "b"], events=1, enforced=True))
    totals = cells.add_events([0, 0, 0, 0], [1, 1, 2, 3], ["a", "b", "b", "zz"], steps=1).totals
    assert totals[0].tolist() == pytest.approx([1, 1], abs=0.1)
    assert opened(SPEC).add_events([], [], steps=3).totals.shape == (3,)


def test_counts_go_over_restarts_and_crashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = open_stream(account(tmp_path), SPEC, rho=10**6, folder=tmp_path / "s")
    assert stream.add_events([0], [7], steps=1).totals[-1] == pytest.approx(1, abs=0.1)

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            stream.add_events([5, 5], [7, 8], steps=6)
    stream.pause()
    stream = open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "s")
    assert stream.taken == 1
    assert stream.add_events([5, 5], [7, 8], steps=6).totals[-1] == pytest.approx(3, abs=0.1)
    assert stream.add_events([2, 4, 6], [7, 7, 7], steps=7).totals[-1] == pytest.approx(4, abs=0.1)
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in (tmp_path / "s").iterdir())


def test_an_old_or_a_lost_table_is_refused(tmp_path: Path) -> None:
    stream = open_stream(account(tmp_path), SPEC, rho=10**6, folder=tmp_path / "s")
    stream.add_events([0], [7], steps=1)
    stream.pause()
    table = tmp_path / "s" / f"{stream.id}.people"
    shutil.copy(table, tmp_path / "old")
    stream = open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "s")
    stream.add_events([0], [7], steps=5)
    stream.add_events([0], [7], steps=5)
    stream.pause()
    shutil.copy(tmp_path / "old", table)
    with pytest.raises(LedgerError, match="SRD-C502"):
        open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "s")
    table.unlink()
    with pytest.raises(LedgerError, match="SRD-C502"):
        open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "s")
    table.write_bytes(b"this is no table" * 100)
    with pytest.raises(LedgerError, match="SRD-C504"):
        open_stream(account(tmp_path), SPEC, resume=stream.id, folder=tmp_path / "s")


def test_strange_ids_count_like_any_other() -> None:
    stream = opened(counting(10, enforced=True))
    strange = ["\ud800", "\ud800", "a\0b", "'; DROP TABLE person", "", "x" * 10_000]
    assert stream.add_events([0] * 6, strange, steps=1).totals == pytest.approx([5], abs=0.1)
    assert stream.add_events([0] * 3, [10**30, 10**30, -(10**30)], steps=1).totals == pytest.approx([7], abs=0.1)


def test_numbers_and_events_are_not_mixed() -> None:
    with pytest.raises(ArgumentError, match="add_events"):
        opened(SPEC).add([1])
    with pytest.raises(ArgumentError, match="enforced"):
        opened(counting(5)).add_events([0], [1], steps=1)


@pytest.mark.parametrize(
    ("at", "people", "values"),
    [
        ([0], [1, 2], None),
        ([[0]], [1], None),
        ([0.5], [1], None),
        ([0], [1.5], None),
        ([0], [[1]], None),
        ([0], [1], [1, 2]),
    ],
)
def test_events_of_the_wrong_shape(at: Any, people: Any, values: Any) -> None:
    stream = opened(summing(9, bounds=(0, 5), enforced=True))
    with pytest.raises(ArgumentError):
        stream.add_events(at, people, values, steps=1)
    assert stream.taken == 0


@pytest.mark.parametrize("values", [None, [["a"]], ["a", "b"], "a"])
def test_keys_of_the_wrong_shape(values: Any) -> None:
    with pytest.raises(ArgumentError):
        opened(histogram(9, ["a"], enforced=True)).add_events([0], [1], values, steps=1)
