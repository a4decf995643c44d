"""Outputs of every kind are taken apart, each by itself alone; and what was found is written down whole."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import pytest

from audit.noisy_outputs import drawn, geometric, laplace_rows
from audit.specimens import laplace
from sordino.audit import measure, neighbours
from sordino.audit.events import Event
from sordino.audit.features import Reader
from sordino.audit.flattening import flattened
from sordino.audit.learning import learned, untrained
from sordino.audit.measured import Witness
from sordino.audit.numbering import as_array, less, nearest
from sordino.audit.verdict import Verdict
from sordino.audit.writing import read_again, written
from sordino.errors import ArgumentError

ONE = [(1, 0)]


@dataclass
class Answer:
    people: int
    note: str


class Wordless:
    pass


class TestFlattening:
    @pytest.mark.parametrize(
        ("output", "numbers", "shape"),
        [
            (3, {"output": 3}, "#"),
            (None, {}, "nothing"),
            (math.nan, {}, "NaN"),
            (True, {"output": 1}, "true"),
            (Decimal("1.50"), {"output": Decimal("1.50"), "output decimals": 2}, "#"),
            (Decimal("NaN"), {"output decimals": -1}, "NaN"),
            (Fraction(1, 3), {"output": Fraction(1, 3)}, "#"),
            (2 + 3j, {"output[0]": 2.0, "output[1]": 3.0, "output length": 2}, "[#,#]"),
            (
                [1, None, [2.5]],
                {"output[0]": 1, "output[2][0]": 2.5, "output length": 3, "output[2] length": 1},
                "[#,nothing,[#]]",
            ),
            ({"b": 1, "a": "x"}, {"output['b']": 1, "output['a'] length": 1, "output length": 2}, "{'b': #, 'a': 'x'}"),
            ({3, 1}, {"output[0]": 1, "output[1]": 3, "output length": 2}, "set[#,#]"),
            ({"x"}, {"output[\"'x'\"]": 1, "output length": 1}, "{\"'x'\": true}"),
            (
                Answer(4, "ok"),
                {"output['people']": 4, "output['note'] length": 2, "output length": 2},
                "Answer{'people': #, 'note': 'ok'}",
            ),
            (
                "12 of 4.50",
                {"output": 12, "output number 1": Decimal("4.50"), "output number 1 decimals": 2, "output length": 10},
                "'# of #'",
            ),
            ("v12 a3f9", {"output length": 8}, "'v12 a3f9'"),
            (
                "2024-01-31 5%",
                {
                    "output": 2024,
                    "output number 1": 1,
                    "output number 2": 31,
                    "output number 3": 5,
                    "output length": 13,
                },
                "'#-#-# #%'",
            ),
            (b"7", {"output": 7, "output length": 1}, "'#'"),
            (Wordless(), {}, "Wordless"),
            (np.float64(2.5), {"output": 2.5}, "#"),
            (
                np.array([[1, 2]]),
                {"output[0][0]": 1, "output[0][1]": 2, "output[0] length": 2, "output length": 1},
                "[[#,#]]",
            ),
            (range(2), {"output[0]": 0, "output[1]": 1, "output length": 2}, "[#,#]"),
            (
                datetime.date(2020, 1, 2),
                {"output": 2020, "output number 1": 1, "output number 2": 2, "output length": 10},
                "'#-#-#'",
            ),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_numbers_and_shapes(self, output: Any, numbers: dict[str, Any], shape: str) -> None:
        found = flattened(output)
        assert (found.numbers, found.shape) == (numbers, shape)


class TestNumbers:
    def test_whole_numbers_of_any_length_are_not_rounded(self) -> None:
        assert nearest(2**80 + 1, 2**80) == 1.0
        assert nearest(Decimal(2**80) + Decimal("0.5"), 2**80) == 0.5
        assert nearest(10**400) == math.inf
        assert nearest(-(10**400), 5) == -math.inf
        assert nearest(Fraction(1, 3)) == 1 / 3
        column = np.array([2**60 - 3, 2**60, 2**60 + 7])
        assert less(column, 2**60).tolist() == [-3.0, 0.0, 7.0]
        assert less(column.astype(np.uint64), 2**60).tolist() == [-3.0, 0.0, 7.0]
        assert less(np.array([-(2**63), 2**63 - 1]), 2**60).tolist() == [-(2.0**63) - 2.0**60, 2.0**63 - 2.0**60]

    def test_only_lists_of_one_kind_become_arrays(self) -> None:
        assert isinstance(as_array([1.0, 2.0]), np.ndarray)
        assert isinstance(as_array([(1, 2), (3, 4)]), np.ndarray)
        assert as_array(np.array([1 + 2j])).tolist() == [[1.0, 2.0]]
        assert as_array(np.array(["2020-01-01"], dtype="datetime64[D]")).dtype == np.int64
        for mixed in ([1, 2.5], [2**60 + 1, 0.5], [True, 2], [2**70], [(1,), (1, 2)], [[1, True]], ["x"], [[]]):
            assert as_array(mixed) == mixed

    @pytest.mark.parametrize(
        "outputs",
        [
            [1, 2, 3],
            [0.5, math.nan, -0.0],
            [2**60 + 1, 2**60 + 2, 2**60],
            [[1.5, math.nan], [math.nan, 2.0], [3.0, 4.0]],
            [[1, 2, 3, 4, 5], [1, 2, 3, 4, 6], [7, 8, 9, 1, 1]],
            [[True, False], [False, False], [True, True]],
        ],
        ids=str,
    )
    def test_an_array_is_read_as_the_list_and_each_as_alone(self, outputs: Any) -> None:
        for reader in (Reader.of(outputs), Reader.of([*outputs, None, "a", [1, 2]]), Reader.of(np.array(outputs))):
            whole = reader.read(np.array(outputs))
            listed = reader.read([*outputs, None])
            alone = [reader.read([output]) for output in outputs]
            for place, one in enumerate(alone):
                for table in (whole, listed):
                    assert np.array_equal(table.columns[place], one.columns[0], equal_nan=True)
                    assert [keys[place] for keys in table.keys] == [keys[0] for keys in one.keys]

    def test_a_data_frame_of_outputs_is_read_by_rows(self) -> None:
        def release(value: int, draws: int, seed: int | None = None) -> Any:
            return pandas.DataFrame(value + np.random.default_rng(seed).laplace(0, 0.5, (draws, 2)), columns=["a", "b"])

        assert measure(release, 1, pairs=ONE, draws=3_000, seed=1).refuted


def tables(reader: Reader, draws: int, seed: int) -> Any:
    release = laplace_rows(np.array([[1.0, 1.0, -1.0, 0.0]]), 0.7)
    rng = np.random.default_rng(seed)
    sides = [
        [[*row, "yes" if row[0] > 1 else None] for row in release([value], rng, draws).tolist()] for value in (1, 0)
    ]
    return sides, [reader.read(side) for side in sides]


class TestWriting:
    def test_every_scorer_is_read_again_as_it_was(self) -> None:
        sides, _ = tables(Reader.of([[0.1, 0.2, 0.3, 0.4, None]] * 3), 500, 1)
        reader = Reader.of([*sides[0], *sides[1]])
        _, (first, second) = tables(reader, 500, 2)
        outputs, (later, _) = tables(reader, 200, 3)
        scorers = [*untrained(reader), *learned(reader, first, second)]
        assert {type(scorer).__name__ for scorer in scorers} >= {
            "Column",
            "Outcomes",
            "Cells",
            "Additive",
            "Classifier",
        }
        for scorer in scorers:
            scores = scorer.scores(later)
            cut = float(np.median(np.append(scores[~np.isnan(scores)], 0.0)))
            event = Event(reader, scorer, cut, above=True)
            again = Event.from_json(json.loads(json.dumps(event.to_json(), allow_nan=False)))
            assert np.array_equal(again(outputs[0]), event.inside(later))
            assert str(again).startswith("{")

    def test_a_whole_witness_is_drawn_again_from_json(self) -> None:
        release = laplace(0.5)
        found = measure(release, 1, pairs=ONE, draws=4_000, seed=1)
        told = json.loads(json.dumps(found.to_json()["witness"], allow_nan=False))
        again = Witness.from_json(told)
        assert found.witness is not None
        assert (again.pair, again.here, again.epsilon) == (
            (1, 0) if found.witness.pair == (1, 0) else (0, 1),
            found.witness.here,
            found.witness.epsilon,
        )
        assert again.reproduce(release, 5_000, seed=3).here == found.witness.reproduce(release, 5_000, seed=3).here

    def test_a_witness_through_a_view_asks_for_it(self) -> None:
        def hidden(value: int, draws: int, seed: int | None = None) -> list[bytes]:
            numbers = value + np.random.default_rng(seed).laplace(0, 0.5, draws)
            return [bytes([1, *f"{number:.3f}".encode()]) for number in numbers]

        def seen(output: bytes) -> str:
            return output[1:].decode()

        found = measure(hidden, 1, pairs=ONE, draws=4_000, seed=1, view=seen)
        assert found.refuted
        assert found.witness is not None
        told = json.loads(json.dumps(found.witness.to_json(), allow_nan=False))
        assert Witness.from_json(told, view=seen).reproduce(hidden, 5_000, seed=3).epsilon > 1
        with pytest.raises(ArgumentError, match=r"as .*seen shows them; give that function as view=.*SRD-V004"):
            Witness.from_json(told)
        plain = measure(laplace(0.5), 1, pairs=ONE, draws=4_000, seed=1).witness
        assert plain is not None
        with pytest.raises(ArgumentError, match=r"leave out view=.*SRD-V004"):
            Witness.from_json(plain.to_json(), view=seen)

    @pytest.mark.parametrize(
        "value",
        [
            1,
            -0.5,
            None,
            True,
            "x",
            [1, [2]],
            (1, "a"),
            {"a": {"b": (1,)}},
            {1: 2},
            {"$x": 1},
            {1, 2},
            b"\x00\xff",
            Decimal("1.50"),
            Fraction(1, 3),
            math.inf,
            [-math.inf],
            10**40,
        ],
        ids=str,
    )
    def test_inputs_come_back_from_json(self, value: Any) -> None:
        again = read_again(json.loads(json.dumps(written(value), allow_nan=False)))
        assert again == value
        assert type(again) is type(value)

    def test_arrays_and_frames_come_back_and_other_things_only_as_words(self) -> None:
        array = np.array([[1, 2]], dtype=np.int32)
        again = read_again(json.loads(json.dumps(written(array))))
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)
        frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None]})
        assert read_again(json.loads(json.dumps(written(frame)))).to_dict("list") == frame.to_dict("list")
        with pytest.raises(ArgumentError, match=r"only its words were written.*SRD-V005"):
            read_again(written(object()))


class TestWhatIsTold:
    def test_the_last_bits_are_told_and_judged_only_where_asked(self) -> None:
        told = measure(laplace(1), 1, pairs=ONE, draws=8_000, seed=1)
        assert told.verdict is Verdict.NOT_REFUTED
        assert told.low_bits is not None
        assert told.low_bits.refutes(1)
        assert "in floating point: " in str(told)
        assert told.to_json()["low_bits"]["epsilon"] > 1
        judged = measure(laplace(1), 1, pairs=ONE, draws=8_000, seed=1, low_bits=True)
        assert judged.refuted
        assert judged.draws == told.draws == 8_000

    def test_low_bits_of_rows_and_of_lists(self) -> None:
        rows = drawn(lambda value, rng, draws: np.asarray(value) + rng.laplace(0, 2, (draws, 2)))
        assert measure(rows, 1, pairs=[([5, 1], [5, 0])], draws=8_000, seed=1, low_bits=True).refuted
        sums = drawn(lambda value, rng, draws: sum(value) + rng.laplace(0, 1, draws))
        assert measure(sums, 1, pairs=[([0, 1], [0, 0])], draws=8_000, seed=1, low_bits=True).refuted
        whole = drawn(lambda value, rng, draws: value + geometric(rng, 1, draws))
        assert measure(whole, 1, pairs=ONE, draws=8_000, seed=1, low_bits=True).low_bits is None
        on_a_grid = drawn(lambda value, rng, draws: value + geometric(rng, 64, draws) / 64)
        exact = measure(on_a_grid, 1, pairs=ONE, draws=8_000, seed=1, low_bits=True)
        assert exact.low_bits is not None
        assert not exact.refuted

    def test_how_rare_an_event_could_be_refuted(self) -> None:
        shares = [measure(laplace(2), 1, pairs=ONE, draws=draws, seed=1).least_refutable for draws in (2_000, 20_000)]
        assert shares[0] is not None
        assert shares[1] is not None
        # Twice the draws halve the probability: about 13.8/0.313 events are needed, as 0.313 = ln(1 + e⁻¹).
        assert shares[1] == pytest.approx(44.1 / 19_000, rel=0.05)
        assert 8 < shares[0] / shares[1] < 12
        assert measure(laplace(2), pairs=ONE, draws=2_000, seed=1).least_refutable is None

    def test_nothing_is_refuted_below_that_and_more_is(self) -> None:
        def failing(share: float) -> Any:
            def release(value: int, draws: int, seed: int | None = None) -> Any:
                rng = np.random.default_rng(seed)
                return np.where((rng.random(draws) < share) & (value == 1), 7, rng.integers(0, 3, draws))

            return release

        least = measure(failing(0.0), 1, pairs=ONE, draws=5_000, seed=1).least_refutable
        assert least is not None
        assert not any(measure(failing(least / 3), 1, pairs=ONE, draws=5_000, seed=seed).refuted for seed in range(2))
        assert all(measure(failing(least * 3), 1, pairs=ONE, draws=5_000, seed=seed).refuted for seed in range(2))


class TestNeighbours:
    def test_one_replaced(self) -> None:
        pairs = neighbours.with_one_replaced([1, 2], by=[0, 1])
        assert pairs == (([1, 2], [0, 2]), ([1, 2], [1, 0]), ([1, 2], [1, 1]))
        assert len(neighbours.with_one_replaced([1, 2, 3])) == 6
        assert len(neighbours.with_one_replaced(list(range(30)))) == 16
        first, other = neighbours.with_one_replaced(np.eye(2), by=[[5, 5]])[0]
        assert other.tolist() == [[5, 5], [0, 1]]
        assert first.shape == (2, 2)
        frame = pandas.DataFrame({"x": [1, 2], "y": ["a", "b"]})
        found = neighbours.with_one_replaced(frame, by=[(9, "c"), {"x": 1, "y": "a"}])
        assert [pair[1].to_dict("list") for pair in found] == [
            {"x": [9, 2], "y": ["c", "b"]},
            {"x": [1, 9], "y": ["a", "c"]},
            {"x": [1, 1], "y": ["a", "a"]},
        ]

    def test_one_doubled_and_nobody_left(self) -> None:
        assert neighbours.with_one_doubled([1, 2]) == (([1, 2, 1], [1, 2]), ([1, 2, 2], [1, 2]))
        assert neighbours.emptied([1, 2]) == (([1], []), ([2], []))
        frame = pandas.DataFrame({"x": [1, 2]})
        assert [len(side) for pair in neighbours.with_one_doubled(frame, most=1) for side in pair] == [3, 2]
        assert [side.shape for pair in neighbours.emptied(np.eye(3), most=1) for side in pair] == [(1, 3), (0, 3)]
        for make in (neighbours.with_one_replaced, neighbours.with_one_doubled, neighbours.emptied):
            with pytest.raises(ArgumentError, match="SRD-V001"):
                make([])


def test_bits_and_purse_share_the_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """With both at work, an honest mechanism at the edge is accused as seldom as one chance for all says."""
    from scipy.stats import binom

    chance, runs = 0.05, 40
    monkeypatch.setattr("sordino.audit.measuring.CHANCE", chance)
    release: Callable[..., Any] = drawn(
        lambda value, rng, draws: np.where(rng.random(draws) < 1 / (1 + math.exp(-1)), value, 1 - value) + 0.5
    )
    accused = sum(
        measure(release, 1, pairs=ONE, draws=1_500, seed=seed, low_bits=True, confidence=0.5).refuted
        for seed in range(runs)
    )
    assert accused <= binom.ppf(1 - 1e-9, runs, chance)
    worse = sum(measure(release, "0.7", pairs=ONE, draws=1_500, seed=seed, low_bits=True).refuted for seed in range(40))
    assert worse > binom.ppf(1 - 1e-9, runs, chance)
    assert replace(measure(release, 1, pairs=ONE, draws=400, seed=1), counted=False).verdict.exit_code == 2
