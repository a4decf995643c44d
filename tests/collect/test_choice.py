"""The way that is chosen is within 2 % of the best, everywhere; and says why."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sordino.collect.choice import LARGEST, WAYS, frequency
from sordino.errors import ArgumentError

DOMAINS = (2, 3, 4, 7, 10, 16, 50, 100, 400, 1000, 5000, 10**5)
EPSILONS = ("0.05", "0.35", "0.5", "1", "1.5", "2", "3", "4", "5", "6", "8", "12")


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_choice_is_within_two_percent_of_the_best(domain: int) -> None:
    for epsilon in EPSILONS:
        chosen = frequency(domain, epsilon=epsilon)
        every = [way.make(domain, Fraction(epsilon)) for way in WAYS]
        best = min(each.mean_squared_error() for each in every)
        assert chosen.randomizer.mean_squared_error() <= 1.02 * best, (domain, epsilon, chosen.why)
        equal = [each for each in every if each.mean_squared_error() <= chosen.randomizer.mean_squared_error()]
        assert chosen.randomizer.size <= min(each.size for each in equal)
        assert f"{chosen.randomizer.size} byte" in chosen.why


@pytest.mark.parametrize("domain", [2, 100, 10**6, LARGEST])
@pytest.mark.parametrize("epsilon", ["1e-6", "32"])
def test_something_is_chosen_at_the_ends(domain: int, epsilon: str) -> None:
    chosen = frequency(domain, epsilon=epsilon)
    assert chosen.randomizer.domain == domain
    assert chosen.error(10**6) > 0


def test_values_have_codes() -> None:
    asked = frequency(["tea", "café", 7], epsilon=1)
    assert asked.values == ("tea", "café", 7)
    assert [asked.code(value) for value in ("tea", "cafe\u0301", 7)] == [0, 1, 2]
    assert frequency(10, epsilon=1).code(9) == 9


@pytest.mark.parametrize("value", ["secret-canary", 8, True, None, 7.0, "7", ["tea"]])
def test_another_value_is_refused_and_not_shown(value: Any) -> None:
    with pytest.raises(ArgumentError, match="SRD-C104") as caught:
        frequency(["tea", "café", 7], epsilon=1).code(value)
    assert "canary" not in str(caught.value)
    with pytest.raises(ArgumentError, match="SRD-C104"):
        frequency(5, epsilon=1).code(value)


@pytest.mark.parametrize("way", [way.name for way in WAYS])
def test_a_way_can_be_asked_for(way: str) -> None:
    asked = frequency(12, epsilon=2, way=way)
    assert way.startswith(asked.randomizer.protocol)
    assert asked.why.startswith(f"{way}: asked for")


def test_reports_can_be_kept_short() -> None:
    asked = frequency(1000, epsilon=4, most_bytes=8)
    assert asked.randomizer.size <= 8
    with pytest.raises(ArgumentError, match="SRD-C105"):
        frequency(1000, epsilon=4, most_bytes=1)


@pytest.mark.parametrize(
    "values",
    ["tea", b"ab", True, 1, 0, -3, LARGEST + 1, ["a"], [], ["a", "a"], ["é", "e\u0301"], ["a", None], [1, 2.5], None],
)
def test_values_that_are_none_are_refused(values: Any) -> None:
    with pytest.raises(ArgumentError, match="SRD-A00"):
        frequency(values, epsilon=1)


def test_wrong_words_are_refused() -> None:
    with pytest.raises(ArgumentError, match="SRD-A001"):
        frequency(5, epsilon=1, way="magic")
    with pytest.raises(ArgumentError, match="SRD-C105"):
        frequency(LARGEST, epsilon=1, way="unary")
    for most in (0, 2.0, True):
        with pytest.raises(ArgumentError, match="most_bytes"):
            frequency(5, epsilon=1, most_bytes=most)  # type: ignore[arg-type]
