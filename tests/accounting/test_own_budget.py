"""A plan uses up whole what it may spend: by a budget of its own, in the manner of the account's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from sordino.accounting.budget import Budget
from sordino.accounting.events import Gaussian, Repeated
from sordino.accounting.filter import Filter
from sordino.accounting.own_budget import own_budget, used_whole
from sordino.errors import ArgumentError

WITH_DELTA = Budget(epsilon=Fraction(3), delta=Fraction(1, 10**6))


def test_a_budget_of_its_own_is_like_the_account() -> None:
    assert own_budget(WITH_DELTA, "0.5", None, None) == Budget(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))
    assert own_budget(WITH_DELTA, "0.5", "1e-9", None) == Budget(epsilon=Fraction(1, 2), delta=Fraction(1, 10**9))
    assert own_budget(None, 1, "0.1", None) == Budget(epsilon=Fraction(1), delta=Fraction(1, 10))
    assert own_budget(WITH_DELTA, None, None, "0.25") == Budget(rho=Fraction(1, 4))


@pytest.mark.parametrize(
    ("account", "words"),
    [
        (WITH_DELTA, (None, None, None)),
        (WITH_DELTA, (1, None, 1)),
        (WITH_DELTA, (None, "1e-9", 1)),
        (WITH_DELTA, (1, "1e-3", None)),
        (Budget(epsilon=Fraction(1)), (1, None, None)),
        (Budget(rho=Fraction(1)), (1, None, None)),
        (None, (1, None, None)),
    ],
)
def test_what_does_not_say_a_budget_is_refused(account: Any, words: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ArgumentError):
        own_budget(account, *words)


@pytest.mark.parametrize("own", [Budget(rho=Fraction(1, 8)), Budget(epsilon=Fraction(1), delta=Fraction(1, 10**6))])
def test_the_noise_found_fits_and_a_little_less_does_not(own: Budget) -> None:
    rule = Filter.open(own)

    def build(multiplier: Fraction) -> Repeated:
        return Repeated(Gaussian(multiplier**2), 5)

    found = used_whole(build, rule)
    assert rule.fits(rule.columns.nothing, rule.charge(build(found)))
    assert not rule.fits(rule.columns.nothing, rule.charge(build(found * Fraction(9999, 10000))))
    if own.rho is not None:
        assert 5 / (2 * found**2) == pytest.approx(float(own.rho), rel=1e-5)
