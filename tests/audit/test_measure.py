"""Measuring: bounds that hold and are not vacuous, words, witnesses, arguments."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.stats import binom

from audit.specimens import gaussian, laplace, randomized_response
from sordino.accounting import events
from sordino.accounting.bound import Bound
from sordino.audit import measure, neighbours
from sordino.audit.claim import Claim
from sordino.audit.features import Reader
from sordino.audit.subject import Subject, each, of
from sordino.audit.verdict import Verdict
from sordino.errors import ArgumentError, SordinoError
from sordino.mechanisms import AboveThreshold, Exponential, Gaussian, Laplace, RandomizedResponse

ONE = [(1, 0)]


class TestBounds:
    @pytest.mark.parametrize(
        ("mechanism", "claim"),
        [
            (Laplace.for_epsilon(1, Bound.scalar(1), grid=None), 1),
            (Gaussian.for_epsilon(1, "0.01", Bound.scalar(1), grid=None), (1, "0.01")),
            (RandomizedResponse(1), 1),
        ],
        ids=["laplace", "gaussian", "randomized-response"],
    )
    def test_correct_mechanisms_are_measured_closely_and_never_above(self, mechanism: Any, claim: Any) -> None:
        found = measure(mechanism, claim, draws=500_000, confidence=0.999999)
        assert not found.refuted
        assert 0.85 <= found.epsilon <= 1

    def test_more_noise_shows_less(self) -> None:
        found = measure(laplace(4), 1, pairs=ONE, draws=40_000, seed=3)
        assert 0.15 <= found.epsilon <= 0.25

    @staticmethod
    def too_high(runs: int, confidence: float, seed: int) -> int:
        """Return how many measurements of an exact randomized response come out above the truth."""
        response = randomized_response(1, other=True)
        found = (
            measure(response, pairs=ONE, draws=400, confidence=confidence, seed=seed + run).epsilon
            for run in range(runs)
        )
        return sum(epsilon > 1 for epsilon in found)

    def test_the_bound_is_above_the_truth_as_seldom_as_said(self) -> None:
        assert self.too_high(100, 0.8, seed=0) <= binom.ppf(1 - 1e-4, 100, 0.2)

    @pytest.mark.long
    def test_the_bound_is_above_the_truth_as_seldom_as_said_at_length(self) -> None:
        assert self.too_high(2_000, 0.99, seed=1_000) <= binom.ppf(1 - 1e-4, 2_000, 0.01)
        assert self.too_high(300, 0.6, seed=5_000) > 0

    def test_without_a_claim_nothing_is_refuted(self) -> None:
        found = measure(laplace(0.2), pairs=ONE, draws=4_000, seed=1)
        assert found.claim is None
        assert not found.refuted
        assert 3.5 < found.epsilon <= 5
        assert str(found).startswith("release: ε ≥ ")

    def test_a_bound_at_another_delta(self) -> None:
        found = measure(gaussian(1), pairs=ONE, delta="0.1", draws=40_000, seed=1)
        assert found.delta == 0.1
        assert 0.9 < found.epsilon <= 1.1604

    def test_a_gaussian_claim_is_tested_along_its_curve(self) -> None:
        assert not measure(gaussian(1), Claim.gaussian(1), pairs=ONE, draws=20_000, seed=1).refuted
        assert measure(gaussian(0.7), Claim.gaussian(1), pairs=ONE, draws=20_000, seed=1).refuted

    def test_an_event_is_a_claim(self) -> None:
        event = events.DiscreteLaplace(2)
        honest, wrong = of(Laplace(2), claim=event), of(Laplace(1), claim=event)
        assert not measure(honest, draws=4_000).refuted
        assert measure(wrong, draws=20_000).refuted


class TestOutputsOfAnyKind:
    @staticmethod
    def told(first: Sequence[Any], second: Sequence[Any]) -> bool:
        """Whether a mechanism that gives `first` on 1 and `second` on 0, each at random, is caught at ε = 0.5."""

        def release(value: int, draws: int, seed: int | None = None) -> list[Any]:
            listed = first if value else second
            return [listed[place] for place in np.random.default_rng(seed).integers(0, len(listed), draws)]

        return measure(release, 0.5, pairs=ONE, draws=4_000, seed=1).refuted

    @pytest.mark.parametrize(
        ("often", "seldom"),
        [
            ("yes", "no"),
            (None, 3),
            (None, "no"),
            (math.nan, 1.0),
            (True, False),
            ([True, False], [True]),
            ([1.5, None], [1.5, 2.5]),
            ((1, 2), (2, 1)),
            ([[1], [2, 3]], [[1, 2], [3]]),
            ({"a": 1}, {"a": 2}),
            ([], [0]),
            (math.inf, -math.inf),
            ([math.inf, -math.inf], [math.inf, math.inf]),
            ([True] * 30, [False] * 30),
            (10**30, 10**20),
            ((4.0, 4.0), (4.0, 5.0)),
        ],
        ids=str,
    )
    def test_told_apart(self, often: Any, seldom: Any) -> None:
        assert self.told([often, often, often, seldom], [often, seldom, seldom, seldom])
        assert not self.told([often, seldom], [often, seldom])

    def test_a_value_that_slips_through_among_many(self) -> None:
        """Once in two hundred times the noise is forgotten; no tail shows that."""

        def release(value: int, draws: int, seed: int | None = None) -> Any:
            rng = np.random.default_rng(seed)
            return np.where(rng.random(draws) < 0.005, value, value + rng.laplace(0, 2, draws))

        found = measure(release, 1, pairs=ONE, draws=40_000, seed=1)
        assert found.refuted
        assert "output is " in str(found)

    def test_lists_by_how_they_begin(self) -> None:
        """What comes after the beginning is different every time, so whole outcomes are never the same."""

        def release(value: int, draws: int, seed: int | None = None) -> list[Any]:
            rng = np.random.default_rng(seed)
            first = rng.random(draws) < (0.9 if value else 0.5)
            rest = np.char.add("w", rng.integers(0, 50, (draws, 8)).astype(str))
            return [["yes" if one else "not", *"abc", *row] for one, row in zip(first, rest.tolist(), strict=True)]

        found = measure(release, 0.3, pairs=ONE, draws=3_000, seed=1)
        assert found.refuted
        assert "begins with" in str(found)

    def test_vectors_by_all_their_numbers(self) -> None:
        """Each number alone shows half an ε, all sixteen together far more than one."""

        def release(value: int, draws: int, seed: int | None = None) -> Any:
            return value / 2 + np.random.default_rng(seed).laplace(0, 1, (draws, 16))

        found = measure(release, 1, pairs=ONE, draws=10_000, seed=1)
        assert found.refuted
        assert any(word in str(found) for word in ("classifier", "evidence", "sum"))

    def test_what_is_read_of_an_output_depends_on_it_alone(self) -> None:
        reader = Reader.of([[1, 2], [3]])
        alone, among = reader.read([[7, 8, 9]]), reader.read([[], [7, 8, 9], "text"])
        assert np.array_equal(alone.columns[0], among.columns[1], equal_nan=True)
        assert len(among) == 3

    def test_a_release_that_returns_too_few(self) -> None:
        with pytest.raises(ArgumentError, match=r"as many outputs as were asked for.*SRD-V002"):
            measure(lambda _value, draws: np.zeros(draws - 1), 1, pairs=ONE)
        with pytest.raises(ArgumentError, match="SRD-V002"):
            measure(lambda _value, _draws: [], 1, pairs=ONE)

    def test_outputs_that_never_come_again_show_nothing(self) -> None:
        names = (sha256(str(place).encode()).hexdigest() for place in range(10**6))
        found = measure(each(lambda _value: next(names)), 1, pairs=ONE, draws=1_000)
        assert (found.refuted, found.epsilon, found.witness, found.counted) == (False, 0.0, None, False)
        assert found.verdict is Verdict.NOTHING_COUNTED
        assert found.verdict.exit_code == 2
        assert str(found).startswith("release: nothing could be counted: outputs never come again")
        assert "give view=" in str(found)
        assert found.to_json()["verdict"] == "nothing could be counted"

    def test_outputs_that_are_always_the_same_show_nothing(self) -> None:
        found = measure(lambda _value, draws: np.zeros(draws), 1, pairs=ONE, draws=1_000)
        assert (found.refuted, found.epsilon, found.counted) == (False, 0.0, True)


class TestWords:
    def test_a_refutation(self) -> None:
        found = measure(laplace(0.5), 1, pairs=ONE, draws=20_000, seed=1)
        assert found.verdict is Verdict.REFUTED
        assert found.verdict.exit_code == 1
        first, second, third = str(found).splitlines()
        assert first.startswith(f"refuted: ε ≥ {found.epsilon:.3g} (99 %) where 1 was claimed; the event {{output ")
        assert found.witness is not None
        fresh = f"{found.witness.draws:,}"
        assert f" times of {fresh} on 1 and " in first or f" times of {fresh} on 0 and " in first
        assert found.witness.draws is not None
        assert found.draws == 20_000
        assert found.witness.draws > 10_000
        assert third.startswith("in floating point: ")
        assert second.startswith(f"certain after {found.draws_to_refute:,} draws on each side")

    def test_what_is_suspicious_is_not_called_refuted(self) -> None:
        """By chance every hundredth honest mechanism shows more than its claim at 99 %; here at 5 %, so most do."""
        response = randomized_response(1, other=True)
        audits = (measure(response, 1, pairs=ONE, draws=2_000, confidence=0.05, seed=seed) for seed in range(30))
        found = next(audit for audit in audits if audit.epsilon > 1)
        assert found.verdict is Verdict.NOT_REFUTED
        assert found.verdict.exit_code == 0
        assert "draw more to be certain" in str(found)

    def test_json(self) -> None:
        found = measure(laplace(0.5), (1, "1e-6"), pairs=ONE, draws=4_000, seed=1)
        plain = json.loads(json.dumps(found.to_json()))
        assert plain["verdict"] == "refuted"
        assert plain["claim"]["points"] == [{"epsilon": 1.0, "delta": 1e-6}]
        assert plain["witness"]["draws"] == found.witness.draws  # type: ignore[union-attr]
        assert plain["trade_off"]["mu"] > 0

    def test_progress(self) -> None:
        parts: list[float] = []
        measure(laplace(1), 1, pairs=ONE, draws=2_000, progress=parts.append)
        assert parts == sorted(parts)
        assert parts[-1] == 1.0
        measure(laplace(1), 1, pairs=ONE, draws=1_000, progress=True)


class TestSeeds:
    def test_the_same_seed_gives_the_same_measurement(self) -> None:
        first, second, third = (measure(laplace(0.9), 1, pairs=ONE, draws=3_000, seed=seed) for seed in (1, 1, 2))
        assert first.to_json() == second.to_json() != third.to_json()

    def test_a_release_that_takes_no_seed_goes_without(self) -> None:
        assert not measure(lambda _value, draws: np.arange(draws), 1, pairs=ONE, draws=1_000, seed=1).refuted

    def test_a_witness_is_reproduced(self) -> None:
        release = laplace(0.5)
        witness = measure(release, 1, pairs=ONE, draws=4_000, seed=1).witness
        assert witness is not None
        again = witness.reproduce(release, 10_000, seed=5)
        assert again == witness.reproduce(release, 10_000, seed=5)
        assert 1 < again.epsilon <= 2
        assert not witness.reproduce(laplace(1), 10_000, seed=5).epsilon > 1


class TestSubjects:
    def test_mechanisms_of_the_house_know_their_inputs(self) -> None:
        assert of(Laplace(2)).pairs == ((1, 0),)
        assert of(RandomizedResponse(1)).pairs == ((1, 0),)
        assert ([0, 0, 0], [1, 1, 1]) in of(Exponential(1, 3)).pairs
        assert of(AboveThreshold(4, 2, 4)).pairs[0][0] == [4] * 6
        vector = of(Laplace(2), bound=Bound.vector(l0=3, linf=1))
        assert vector.pairs[0][0].tolist() == [1, 1, 1]
        assert vector.release(vector.pairs[0][0], 5).shape == (5, 3)
        assert of(Laplace(2)).claim == Claim.of(events.DiscreteLaplace(2))

    def test_each(self) -> None:
        assert each(lambda value: value + 1)(1, 3) == [2, 2, 2]

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ((laplace(1), 1), "give pairs="),
            ((3, 1), "mechanism must be"),
        ],
    )
    def test_what_is_missing_is_named(self, arguments: Any, words: str) -> None:
        with pytest.raises(ArgumentError, match=rf"{words}.*SRD-V001"):
            measure(*arguments)

    @pytest.mark.parametrize("pairs", [[], [(1,)], [(1, 2, 3)]])
    def test_pairs_are_pairs(self, pairs: Any) -> None:
        with pytest.raises(ArgumentError, match="SRD-V001"):
            Subject("x", laplace(1), pairs)

    @pytest.mark.parametrize(
        "words", [{"draws": 10}, {"confidence": 1}, {"confidence": 0}, {"delta": -1}, {"claim": "one"}, {"claim": (1,)}]
    )
    def test_arguments_are_checked(self, words: Any) -> None:
        with pytest.raises(SordinoError):
            measure(laplace(1), **{"claim": 1, "pairs": ONE, **words})


class TestClaims:
    def test_what_is_implied_elsewhere(self) -> None:
        assert Claim.read(1) == Claim.pure(1)
        assert Claim.read((1, 0)) == Claim.pure(1)
        assert Claim.read((1, "0.1")) == Claim.approximate(1, "0.1")
        assert str(Claim.approximate(1, "0.1")) == "ε = 1 at δ = 0.1"
        assert Claim.approximate(1, "0.1").epsilon_at(0.05) == math.inf
        # δ(ε′) = (e^ε − e^ε′)/(1 + e^ε) for randomized response
        assert Claim.pure(1).epsilon_at((math.e - math.exp(0.5)) / (1 + math.e)) == pytest.approx(0.5)
        assert Claim.pure(1).epsilon_at(0.9) == 0.0
        assert Claim.gaussian(1).epsilon_at(0.0) == math.inf
        assert Claim.of(Laplace(1), Bound.scalar(1)).deltas[0] == 0.0

    def test_an_event_without_a_price_is_refused(self) -> None:
        with pytest.raises(SordinoError, match="SRD-C003"):
            Claim.of(events.Sensitive(1, "p"))
        with pytest.raises(ArgumentError, match="SRD-A001"):
            Claim.of("laplace")


class TestNeighbours:
    def test_patterns_of_lists(self) -> None:
        found = neighbours.lists(4)
        assert ([0, 0, 0, 0], [1, 0, 0, 0]) in found
        assert ([0, 0, 0, 0], [-1, 1, 1, 1]) in found
        assert ([1, 1, 0, 0], [0, 0, 1, 1]) in found
        assert len(neighbours.lists(1)) == 2
        assert all(max(abs(x - y) for x, y in zip(*pair, strict=True)) == 1 for pair in found)

    def test_tables_without_a_row(self) -> None:
        frame = pandas.DataFrame({"x": [1, 2, 3]}, index=[0, 0, 0])
        assert [len(pair[1]) for pair in neighbours.without_one(frame)] == [2, 2, 2]
        assert neighbours.without_one([1, 2, 3])[-1] == ([1, 2, 3], [1, 2])
        assert neighbours.without_one(np.eye(20), most=2)[1][1].shape == (19, 20)
        with pytest.raises(ArgumentError, match="SRD-V001"):
            neighbours.without_one([])
        with pytest.raises(ArgumentError, match="SRD-V001"):
            neighbours.without_one({1: 2})
