"""Open streams: numbers, noise, hostile values, and what is observable with and without one event."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import sordino as so
from collect.stream.riders import Riders
from sordino.collect.stream import Stream, counting, histogram, open_stream, summing, top_k
from sordino.collect.stream.reading import read
from sordino.errors import ArgumentError, BudgetError, LedgerError, RunError, SordinoError

CELLS = 2000
KEYS = [f"k{place}" for place in range(CELLS)]


def opened(spec: Any, rho: Any = "0.5") -> Stream:
    return open_stream(so.account(Riders(), so.unlimited("a test")), spec, rho=rho)


@pytest.mark.parametrize("options", [{}, {"strategy": "tree"}, {"strategy": "weighted-tree"}, {"window": 5}])
def test_noise_has_the_deviation_that_is_said_and_not_another(options: dict[str, Any]) -> None:
    """2,000 cells are 2,000 draws of every step's error: their variance is known to 3 %, eight of which are allowed."""
    stream = opened(histogram(70, KEYS, **options))
    counts = np.tile(np.arange(70)[:, None] % 7, (1, CELLS))
    released = np.concatenate([stream.add(counts[:30]).totals, stream.add(counts[30:]).totals])
    truth = np.cumsum(counts, axis=0)
    if options.get("window"):
        truth = truth - np.concatenate([np.zeros((5, CELLS)), truth[:-5]])
    error = released - truth
    said = stream.plan.deviations()
    for step in (0, 1, 6, 31, 62, 69):
        ratio = float(np.mean(np.square(error[step]))) / said[step] ** 2
        least = 0.3 if options.get("window") and "tree" in options.get("strategy", "") else 0.75
        assert least < ratio < 1.25, (step, CELLS, ratio)
        assert not 0.75 < ratio * 0.7**2 < 1.25
        assert not 0.75 < ratio * 1.3**2 < 1.25
        assert abs(float(np.mean(error[step]))) < 8 * said[step] / math.sqrt(CELLS)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    stream = opened(histogram(20, KEYS))
    release = stream.add(np.full((20, CELLS), 3))
    low, high = release.interval(0.9)
    truth = 3 * np.arange(1, 21)[:, None]
    for step in (0, 19):
        held = float(np.mean((low[step] <= truth[step]) & (truth[step] <= high[step])))
        assert 0.85 < held < 0.95


def test_an_account_opens_what_is_declared_and_nothing_else(tmp_path: Any) -> None:
    budget = so.account(Riders(), so.budget(rho="0.05"))
    delays = budget.stream(so.collect.counting(steps=10**6), rho=0.01, folder=tmp_path)
    assert delays.add([3, 0, 5]).totals.shape == (3,)
    delays.pause()
    assert budget.stream(so.collect.counting(steps=10**6), resume=delays.id, folder=tmp_path).taken == 3
    with pytest.raises(ArgumentError, match="SRD-A001"):
        budget.stream(3)  # type: ignore[arg-type]
    assert len(budget.history) == 1


def test_a_count_goes_on_over_batches() -> None:
    stream = opened(counting(10**6), rho=10**6)
    assert stream.add([3, 0, 5]).totals == pytest.approx([3, 3, 8], abs=0.1)
    assert stream.add(np.full(1000, 2)).totals[-1] == pytest.approx(2008, abs=0.1)
    assert (stream.taken, stream.left) == (1003, 10**6 - 1003)
    assert stream.last.first == 4
    assert stream.history().totals.shape == (1003,)
    assert "left" in repr(stream)
    end = stream.close()
    assert json.loads(end.to_json()) == {"steps": 1003, "releases": 2}
    with pytest.raises(LedgerError, match="SRD-C507"):
        stream.add([1])


def test_sums_windows_and_the_largest() -> None:
    sums = opened(summing(10, bounds=(-3, 7)), rho=10**6)
    totals = sums.add([1.5, [1, 2, 3], [], [7, 7], -2.25]).totals
    assert totals == pytest.approx([1.5, 7.5, 7.5, 21.5, 19.25], abs=0.05)
    recent = opened(counting(10, window=3), rho=10**6)
    assert recent.add([1, 2, 3, 4]).totals == pytest.approx([1, 3, 6, 9], abs=0.1)
    assert recent.add([5, 6]).totals == pytest.approx([12, 15], abs=0.1)
    largest = opened(top_k(10, ["bus", "tram", "train"], 2), rho=10**6)
    release = largest.add([["bus"], ["tram", "tram"], ["train", "car"]])
    assert [key for key, _ in release.top(2)] == ["tram", "train"] or release.top(1)[0][0] == "tram"
    assert json.loads(release.to_json())["keys"][1] == ["tram", "bus"]
    assert release.totals.shape == (3, 2)
    counted = opened(histogram(10, ["bus", "tram", "train"]), rho=10**6)
    assert counted.add([["bus"], ["tram", "tram"], []]).top(1)[0][0] == "tram"
    assert counted.add([[], []]).totals.shape == (2, 3)


def test_hostile_values_count_for_no_more_than_declared() -> None:
    counts = counting(100, most=50)
    hostile = [math.nan, math.inf, -math.inf, 1e300, -1, 7.4, 2.5]
    assert read(counts, hostile).ravel().tolist() == [0, 50, 0, 50, 0, 7, 3]
    assert read(counts, [10**30, -(10**30), 2**63, 3]).ravel().tolist() == [50, 0, 50, 3]
    assert read(counts, np.array([2**64 - 1, 3], dtype=np.uint64)).ravel().tolist() == [50, 3]
    assert read(counts, np.array([255, 3], dtype=np.uint8)).ravel().tolist() == [50, 3]
    sums = summing(100, bounds=(2, 4), most=3)
    unit = 2.0**sums.exponent
    read_sums = read(sums, [math.nan, 1e300, -1e300, [math.inf, math.nan, 3.0], [4.0] * 10]).ravel() * unit
    assert read_sums.tolist() == [2, 4, 2, 9, 12]
    cells = histogram(100, ["a", "b"], most=5)
    assert read(cells, [[math.nan, 1e9], [-3, 2.2]]).tolist() == [[0, 5], [0, 2]]
    assert read(cells, [["a"] * 9, ["zz", "b"]]).tolist() == [[5, 0], [0, 1]]


@pytest.mark.parametrize("given", [3, "abc", [[1, 2]], [None], ["a"], [[]], np.ones((2, 2)), {"a": 1}, [True]])
def test_what_is_no_batch_is_refused_without_being_shown(given: Any) -> None:
    stream = opened(counting(10))
    with pytest.raises(SordinoError) as refused:
        stream.add(given)
    assert "abc" not in str(refused.value)
    assert stream.taken == 0


def test_what_is_no_batch_of_sums_or_keys() -> None:
    for spec, given in [
        (summing(10, bounds=(0, 1)), [[[1.0]]]),
        (summing(10, bounds=(0, 1)), np.ones((2, 2))),
        (histogram(10, ["a"]), [["a"], 3]),
        (histogram(10, ["a"]), [[1, 2]]),
        (counting(10), []),
    ]:
        with pytest.raises(ArgumentError):
            opened(spec).add(given)


def test_longer_is_another_stream() -> None:
    stream = opened(counting(5))
    stream.add([1, 1, 1])
    with pytest.raises(BudgetError, match="SRD-C501"):
        stream.add([1, 1, 1])
    assert stream.taken == 3
    stream.add([1, 1])
    with pytest.raises(BudgetError, match="SRD-C501"):
        stream.add([1])


def test_a_stream_is_not_copied() -> None:
    with pytest.raises(LedgerError, match="SRD-C503"):
        pickle.dumps(opened(counting(5)))


def test_what_fails_inside_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = opened(counting(5))

    def broken(*_: Any) -> Any:
        raise ValueError("secret 4711")

    monkeypatch.setattr(type(stream.plan.strategy), "encode", broken)
    with pytest.raises(RunError) as mute:
        stream.add([4711])
    assert "4711" not in str(mute.value)
    assert mute.value.__context__ is None


@pytest.mark.parametrize(
    "spec", [counting(20), histogram(20, ["a", "b"]), summing(20, bounds=(0, 9)), counting(20, strategy="tree")]
)
def test_with_and_without_one_event_all_but_the_noise_is_the_same(spec: Any) -> None:
    """Types, shapes, prices, what is charged, errors and the form of what is recorded."""

    def observed(extra: int) -> list[Any]:
        account = so.account(Riders(), so.budget(rho=1))
        stream = open_stream(account, spec, rho="0.5")
        counts = np.ones((5, 2), dtype=np.int64) if spec.keys else np.ones(5, dtype=np.int64)
        counts.flat[3] += extra
        release = stream.add(counts)
        said = json.loads(release.to_json())
        return [
            str(stream.price),
            list(said),
            said["from"],
            said["to"],
            release.totals.shape,
            release.totals.dtype,
            release.error().tolist(),
            stream.taken,
            {name: (each.dtype, each.shape) for name, each in stream._kept.secret.items()},
            account.account.used,
            [entry.event for entry in account.history],
            stream.close().to_json(),
        ]

    assert observed(0) == observed(1)


@pytest.mark.slow
def test_a_picture_of_a_stream() -> None:
    stream = opened(counting(50))
    stream.add(np.ones(20, dtype=np.int64))
    stream.add(np.ones(20, dtype=np.int64))
    axes = stream.plot()
    assert len(axes.lines[0].get_xdata()) == 40
    assert axes.get_ylabel() == "total so far"
    largest = opened(top_k(10, ["a", "b", "c"], 2))
    assert len(largest.add([["a"], ["b"]]).plot().lines) == 2
