"""What a stream costs: exactly what was given, whole, before the first step; and the forecast of its errors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sordino as so
from collect.stream.riders import Riders
from sordino.accounting.events import Gaussian
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan
from sordino.collect.stream import counting, histogram, open_stream, summing, top_k
from sordino.collect.stream.plan import bound_of
from sordino.collect.stream.price import quantile
from sordino.errors import ArgumentError, BudgetError, SordinoError

SPECS = [
    counting(100),
    counting(100, events=5, apart=7),
    counting(100, strategy="square-root"),
    counting(100, strategy="tree", events=3),
    counting(100, strategy="weighted-tree"),
    counting(100, window=10),
    summing(100, bounds=(-3, "7.5"), events=2),
    histogram(100, ["bus", "tram"], events=3),
    top_k(100, ["bus", "tram", "train"], 2),
]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_rho_given_is_rho_charged(spec: Any, neighbours: Neighbours) -> None:
    account = so.account(Riders(neighbours=neighbours), so.budget(rho=1))
    plan = spec.price(account, rho="0.25").plan
    assert isinstance(plan, Plan)
    event = plan.event()
    assert isinstance(event, Gaussian)
    rho = event.sensitivity_squared / (2 * event.variance)
    assert Fraction(1, 4) * Fraction(999_999, 1_000_000) <= rho <= Fraction(1, 4)
    open_stream(account, spec, rho="0.25")
    assert account.remaining is not None
    assert float(account.remaining.rho or 0) == pytest.approx(0.75, abs=1e-5)


def test_replacing_doubles_what_moves() -> None:
    spec, unit = counting(50), Riders().unit
    there, replaced = (
        bound_of(spec, spec.tactics(), unit, each) for each in (Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)
    )
    assert replaced.l2_squared == 4 * there.l2_squared


def test_epsilon_given_is_spent_whole() -> None:
    account = so.account(Riders(), so.budget(epsilon=1, delta="1e-6"))
    open_stream(account, counting(1000), epsilon="0.5")
    used = account.account.used
    alone = so.account(Riders(), so.budget(epsilon="0.5", delta="1e-6"))
    alone.begin(counting(1000).price(account, epsilon="0.5").plan)
    assert 0.9999 < alone.account.used <= 1
    with pytest.raises(BudgetError):
        open_stream(account, counting(1000), epsilon="0.9")
    assert account.account.used == used


def test_plans_that_differ_have_other_digests() -> None:
    digests = {each.price(rho="0.1").plan.digest() for each in SPECS} | {SPECS[0].price(rho="0.2").plan.digest()}
    assert len(digests) == len(SPECS) + 1
    assert SPECS[0].price(rho="0.1").plan.digest() == counting(100).price(rho="0.1").plan.digest()


def test_the_forecast_is_that_of_the_prototype() -> None:
    price = counting(10**6).price(rho="0.01")
    assert price.largest == pytest.approx(5.4731 / math.sqrt(0.02), rel=1e-3)
    assert price.root_mean_square == pytest.approx(5.3093 / math.sqrt(0.02), rel=1e-3)
    assert price.error() == pytest.approx(1.96 * price.largest, rel=1e-3)
    assert price.error_of_all() == pytest.approx(5.45 * price.largest, rel=1e-2)
    assert price.rho == pytest.approx(0.01)
    assert "1,000,000 steps" in str(price)
    assert "±" in str(price)


def test_together_takes_more_than_alone() -> None:
    assert quantile("0.95") == pytest.approx(1.959964, rel=1e-6)
    assert (1 - 2 * 0.5 * math.erfc(quantile("0.9", 50) / math.sqrt(2))) ** 50 == pytest.approx(0.9, rel=1e-9)


def test_windows_are_told_more_exactly_than_totals() -> None:
    total, recent = (counting(10**5, window=each).price(rho="0.01") for each in (None, 100))
    assert recent.largest < 0.8 * total.largest


def test_a_price_says_what_the_account_is_charged() -> None:
    account = so.account(Riders(), so.budget(rho=1))
    price = counting(100).price(account, rho="0.5")
    assert price.cost is not None
    assert "charged" in str(price)
    assert np.all(price.plan.deviations() > 0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: counting(0),
        lambda: counting(10**9),
        lambda: counting(10, events=0),
        lambda: counting(10, apart=-1),
        lambda: counting(10, most=0),
        lambda: counting(10, strategy="cosine"),
        lambda: counting(10, window=0),
        lambda: counting(10**6, window=10**5),
        lambda: counting(True),
        lambda: counting(float("nan")),  # type: ignore[arg-type]
        lambda: summing(10, bounds=(0, 0)),
        lambda: summing(10, bounds=(2, 1)),
        lambda: summing(10, bounds=(0, math.inf)),
        lambda: summing(10, bounds=3),  # type: ignore[arg-type]
        lambda: histogram(10, []),
        lambda: histogram(10, ["a", "a"]),
        lambda: histogram(10, "ab"),
        lambda: histogram(10, ["a\ud800"]),
        lambda: top_k(10, ["a"], 2),
        lambda: counting(10).price(),
        lambda: counting(10).price(rho=0),
        lambda: counting(10).price(rho=1, epsilon=1),
        lambda: counting(10).price(rho=1, delta="1e-6"),
        lambda: counting(10).price(epsilon=1),
        lambda: counting(10).price("account", rho=1),
        lambda: open_stream(None, counting(10), rho=1),  # type: ignore[arg-type]
        lambda: open_stream(so.account(Riders(), so.budget(rho=1)), "counting", rho=1),  # type: ignore[arg-type]
        lambda: open_stream(so.account(Riders(), so.budget(rho=1)), counting(10), rho=1, folder=3),
        lambda: open_stream(so.account(Riders(), so.budget(rho=1)), counting(10), rho=1, folder="/proc/nowhere"),
        lambda: open_stream(so.account(Riders(), so.budget(rho=1)), counting(10), resume="x"),
    ],
)
def test_mistakes_are_refused_before_anything_is_charged(wrong: Any) -> None:
    with pytest.raises(ArgumentError) as refused:
        wrong()
    assert isinstance(refused.value, SordinoError)
