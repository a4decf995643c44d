from __future__ import annotations

import math
from decimal import ROUND_UP, Context, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.accounting.budget import Budget, budget
from sordino.accounting.columns import Columns, Vector, add
from sordino.accounting.curve import CURVES, Curves
from sordino.accounting.event import Event
from sordino.accounting.events import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteLaplace,
    Exponential,
    FixedSizeSampled,
    Gaussian,
    Laplace,
    PartitionSelection,
    PoissonSampled,
    Pure,
    RandomizedResponse,
    Repeated,
    Sensitive,
)
from sordino.accounting.filter import Filter
from sordino.accounting.orders import (
    HIGHEST_ORDER,
    cap_rounded_down,
    delta_rounded_up,
    epsilon_rounded_up,
    orders_and_caps,
)
from sordino.accounting.units import LARGEST_CAP, PER_DELTA, PER_EPSILON, SATURATED
from sordino.errors import ArgumentError, UnsupportedError

PURE, CONCENTRATED, RENYI = budget(1), budget(rho="0.5"), budget(1, 1e-6)
BUDGETS = [
    PURE,
    CONCENTRATED,
    RENYI,
    budget(3, 1e-9),
    budget("0.1", 1e-5),
    budget(20, 1e-10),
    budget(rho=1, delta=1e-6),
]


def admitted(rule: Filter, event: Event) -> int:
    """Return how often `event` is admitted in a row."""
    spent, count, charge = rule.columns.nothing, 0, rule.charge(event)
    while rule.fits(spent, charge):
        spent, count = add(spent, charge), count + 1
    return count


# ---- charges ---------------------------------------------------------------------------------------------------------


def test_pure_and_concentrated_charges_are_exact() -> None:
    assert Filter.open(PURE).charge(Laplace(10)) == (0, 10**11)
    assert Filter.open(CONCENTRATED).charge(Gaussian(4)) == (0, 125 * 10**9)
    assert Filter.open(RENYI).charge(PartitionSelection(1, "1e-8"))[0] == 10**10


@pytest.mark.parametrize("cap", [PURE, CONCENTRATED, RENYI])
@pytest.mark.parametrize(
    "event", [Laplace(3), RandomizedResponse("0.37", 4), Exponential("1e-7"), DiscreteLaplace(7, 2)]
)
def test_count_law(cap: Budget, event: Event) -> None:
    """A hundred at once cost what a hundred cost one by one, however they are nested."""
    rule = Filter.open(cap)
    one_by_one = rule.columns.nothing
    for _ in range(100):
        one_by_one = add(one_by_one, rule.charge(event))
    assert rule.charge(Repeated(event, 100)) == one_by_one
    assert rule.charge(Repeated(Composed((event, Repeated(event, 4))), 20)) == one_by_one


def test_renyi_charges_agree_with_dp_accounting() -> None:
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    rule = Filter.open(RENYI)
    for ours, theirs in [
        (Gaussian(100), dp_accounting.GaussianDpEvent(10)),
        (Laplace(20), dp_accounting.LaplaceDpEvent(20)),
        (
            PoissonSampled(Gaussian(1), "0.01"),
            dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1)),
        ),
    ]:
        accountant = RdpAccountant(orders=list(rule.orders))
        accountant.compose(theirs)
        expected = accountant._rdp * PER_EPSILON
        charged = np.array(rule.charge(ours)[1:-1], dtype=float)
        keep = expected < 20 * PER_EPSILON
        np.testing.assert_allclose(charged[keep], expected[keep], rtol=1e-6, atol=2)


def test_a_cost_without_a_pure_epsilon_saturates_order_infinity() -> None:
    assert Filter.open(RENYI).charge(Gaussian(100))[-1] == SATURATED
    assert Filter.open(RENYI).charge(Laplace(100))[-1] == 10**10


def test_a_pure_curve_alone_bounds_every_order(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(Event):
        pass

    monkeypatch.setitem(CURVES, Odd, Curves(pure=lambda _: Fraction(1, 4)))
    charge = Filter.open(RENYI).charge(Odd())
    assert set(charge[1:]) == {25 * 10**10}


@pytest.mark.parametrize("event", [Repeated(Gaussian("1e-300"), 10**30), Pure(10**30)])
@pytest.mark.parametrize("cap", [CONCENTRATED, RENYI])
def test_absurd_costs_saturate_and_never_fit(event: Event, cap: Budget) -> None:
    rule = Filter.open(cap)
    charge = rule.charge(event)
    assert max(charge[1:]) == SATURATED
    assert not rule.fits(rule.columns.nothing, charge)
    assert add(charge, charge) == charge


def test_unknown_and_sensitive_events_are_refused() -> None:
    class Unknown(Event):
        pass

    for cap in (PURE, CONCENTRATED, RENYI):
        rule = Filter.open(cap)
        for event in (
            Unknown(),
            Sensitive(1, "outliers"),
            PoissonSampled(Sensitive(1, "outliers"), "0.5"),
            Composed((Laplace(1), Sensitive(1, "outliers"))),
        ):
            with pytest.raises(UnsupportedError):
                rule.charge(event)
    with pytest.raises(UnsupportedError):
        Filter.open(PURE).charge(Gaussian(1))


def test_events_of_different_relations_do_not_add_up() -> None:
    mixed = Composed((PoissonSampled(Gaussian(1), "0.1"), FixedSizeSampled(Gaussian(1), 1, 10)))
    with pytest.raises(UnsupportedError):
        Filter.open(RENYI).charge(mixed)


def test_an_event_that_runs_nothing_is_refused() -> None:
    with pytest.raises(ArgumentError, match="nothing to charge"):
        Filter.open(PURE).charge(Composed(()))


# ---- caps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [cap for cap in BUDGETS if cap.calculus == "renyi"])
def test_orders_reach_far_and_their_deltas_add_up_to_no_more_than_the_budget(cap: Budget) -> None:
    rule = Filter.open(cap)
    assert rule.orders[-1] == HIGHEST_ORDER
    assert len(rule.orders) <= 30
    deltas = [delta_rounded_up(order, units, cap.epsilon or Fraction(0)) for order, units in rule._finite()]
    assert cap.rest_delta * Fraction(999, 1000) < sum(deltas) <= cap.rest_delta
    assert rule.caps[-1] == cap.epsilon * PER_EPSILON  # type: ignore[operator]


@settings(deadline=None, max_examples=60)
@given(st.floats(1.01, 4096), st.fractions(Fraction(1, 100), 50), st.floats(1e-15, 0.5))
def test_conversion_agrees_with_its_formula_and_inverts(order: float, epsilon: Fraction, delta: float) -> None:
    exact = Fraction(delta)
    cap = cap_rounded_down(order, epsilon, exact)
    formula = float(epsilon) + math.log(order / (order - 1)) + (math.log(delta) + math.log(order)) / (order - 1)
    assert cap / PER_EPSILON == pytest.approx(formula, abs=1e-9, rel=1e-9)
    assert delta_rounded_up(order, cap, epsilon) <= exact
    assert delta_rounded_up(order, cap + 3, epsilon) > exact
    if cap > 0:
        assert (
            0 <= epsilon - epsilon_rounded_up(order, cap, exact) + Fraction(4, PER_EPSILON) <= Fraction(8, PER_EPSILON)
        )


def test_conversion_agrees_with_dp_accounting() -> None:
    from dp_accounting.rdp import compute_epsilon

    for order, divergence, delta in [(8.0, 0.5, 1e-6), (32.0, 0.1, 1e-9), (2.0, 0.7, 1e-3)]:
        theirs, _ = compute_epsilon([order], [divergence], delta)
        ours = epsilon_rounded_up(order, int(divergence * PER_EPSILON), Fraction(str(delta)))
        assert float(ours) == pytest.approx(theirs, rel=1e-9)


def test_no_finite_order_where_none_could_admit_anything() -> None:
    assert orders_and_caps(Fraction(1, 10**6), Fraction(1, 10**9)) == ((), ())
    rule = Filter.open(budget(1e-6, 1e-9))
    assert rule.caps == (25 * 10**7, 10**6)
    assert not rule.fits((0, 0), rule.charge(Gaussian(10**9)))
    assert rule.fits((0, 0), rule.charge(Laplace(10**6)))


@pytest.mark.parametrize("cap", BUDGETS)
def test_stored_filters_are_rebuilt_and_inflated_ones_refused(cap: Budget) -> None:
    rule = Filter.open(cap)
    assert Filter(rule.budget, rule.orders, rule.caps) == rule
    for place in range(len(rule.caps)):
        inflated = list(rule.caps)
        inflated[place] += 10**13 if place else 1
        with pytest.raises(ArgumentError, match="promise more"):
            Filter(rule.budget, rule.orders, tuple(inflated))


@pytest.mark.parametrize(
    ("orders", "caps"),
    [
        ((), (0,)),
        ((), (0, -1)),
        ((), (0, LARGEST_CAP + 1)),
        ((1.0,), (0, 1, 1)),
        ((5000.0,), (0, 1, 1)),
        ((2.0,), (0, 1)),
        ((2.0,), (0, 0, 1)),
    ],
)
def test_malformed_filters_are_refused(orders: tuple[float, ...], caps: Vector) -> None:
    with pytest.raises(ArgumentError):
        Filter(RENYI, orders, caps)


# ---- admission -------------------------------------------------------------------------------------------------------


def test_a_few_laplace_queries_add_up_exactly() -> None:
    for cap in (PURE, RENYI):
        assert admitted(Filter.open(cap), Laplace(10)) == 10
        assert admitted(Filter.open(cap), Laplace(1)) == 1


def test_many_laplace_queries_go_by_the_orders() -> None:
    hundred = Repeated(Laplace(1000), 100)
    assert admitted(Filter.open(PURE), hundred) == 10
    assert admitted(Filter.open(RENYI), hundred) > 200


def test_a_dead_order_stays_dead_while_another_carries_on() -> None:
    rule = Filter.open(RENYI)
    spent = add(rule.charge(Repeated(Gaussian(1000), 30)), rule.columns.nothing)
    assert spent[-1] == SATURATED  # order ∞ is gone
    assert rule.fits(spent, rule.charge(Laplace(100)))
    assert not rule.fits(spent, rule.charge(Laplace(2)))


def test_own_delta_adds_up_beside_the_orders() -> None:
    rule = Filter.open(RENYI)  # a quarter of 1e-6 is for own δ's
    event = PartitionSelection("0.001", "1e-7")
    assert admitted(rule, event) == 2
    assert admitted(Filter.open(budget(1, 1e-6, own_delta_share=1)), event) == 10
    assert admitted(Filter.open(budget(1, 1e-6, own_delta_share=0)), event) == 0
    assert admitted(Filter.open(PURE), event) == 0
    assert admitted(Filter.open(CONCENTRATED), event) == 0
    assert admitted(Filter.open(budget(rho="0.5", delta="3e-7")), event) == 3


def test_all_of_delta_for_own_deltas_is_plain_addition() -> None:
    rule = Filter.open(budget(1, 1e-6, own_delta_share=1))
    assert rule.orders == ()
    assert admitted(rule, Approximate("0.25", "1e-7")) == 4
    assert admitted(rule, Gaussian(10**6)) == 0


def _ideal_rho(cap: Budget) -> float:
    """Return the largest ρ that the best single order, chosen with hindsight and with all of δ, admits."""
    alpha = 1 + np.geomspace(0.05, 4095, 20_000)
    epsilon, delta = float(cap.epsilon or 0), float(cap.rest_delta)
    return float(np.max((epsilon - np.log1p(-1 / alpha) + (math.log(delta) + np.log(alpha)) / (alpha - 1)) / alpha))


@pytest.mark.parametrize("epsilon", ["0.1", "0.3", 1, 3, 10])
@pytest.mark.parametrize("delta", [1e-5, 1e-6, 1e-9])
def test_the_price_of_watching_many_orders_is_small(epsilon: str, delta: float) -> None:
    cap = budget(epsilon, delta)
    rho = Filter.open(cap).remaining(Filter.open(cap).columns.nothing).rho
    assert rho is not None
    assert 0.9 <= float(rho) / _ideal_rho(cap) <= 1


def test_one_order_fixed_at_opening_gets_all_of_delta() -> None:
    cap = budget(1, 1e-6, own_delta_share=0)
    many, one = Filter.open(cap), Filter.open(cap, order=25)
    assert one.orders == (25.0,)
    assert one.caps == (0, cap_rounded_down(25.0, Fraction(1), Fraction(1, 10**6)), 10**12)
    assert admitted(one, Gaussian(1000)) > admitted(many, Gaussian(1000))
    assert admitted(one, Laplace(10)) == 10


@pytest.mark.parametrize("order", [1, 0, -2, "1e9", float("nan"), True, 2])
def test_a_useless_order_is_refused(order: object) -> None:
    with pytest.raises(ArgumentError, match="order"):
        Filter.open(RENYI, order=order)  # type: ignore[arg-type]


def test_an_order_needs_an_epsilon_delta_budget() -> None:
    for cap in (PURE, CONCENTRATED, budget(1, 1e-6, own_delta_share=1)):
        with pytest.raises(ArgumentError, match="order"):
            Filter.open(cap, order=8)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 400), st.integers(1, 50)), min_size=1, max_size=8))
def test_never_more_than_the_accountant_for_events_fixed_beforehand(runs: list[tuple[int, int]]) -> None:
    """Whatever the filter admits, Rényi accounting with hindsight finds within the budget too."""
    from sordino.accounting import renyi

    rule = Filter.open(RENYI)
    spent, kept = rule.columns.nothing, []
    for scale, count in runs:
        event = Repeated(Gaussian(10 * scale) if count % 2 else Laplace(scale), count)
        if rule.fits(spent, rule.charge(event)):
            spent, kept = add(spent, rule.charge(event)), [*kept, event]
    if kept:
        assert renyi.epsilon(Composed(tuple(kept)), 1e-6) <= 1 + 1e-9


# ---- what is left ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cap", BUDGETS)
def test_what_remains_fits_and_a_unit_more_does_not(cap: Budget) -> None:
    rule = Filter.open(cap)
    unit = Fraction(1, PER_EPSILON)
    for spent in (rule.columns.nothing, rule.charge(Laplace(50))):
        left = rule.remaining(spent)
        for kind, most in ((Pure, left.epsilon), (Concentrated, left.rho)):
            if most is not None:
                assert not most or rule.fits(spent, rule.charge(kind(most)))
                assert not rule.fits(spent, rule.charge(kind(most + unit)))
        assert left.own_delta == Fraction(rule.caps[0], PER_DELTA)


def test_remaining_reads_well() -> None:
    rule = Filter.open(RENYI)
    assert str(rule.remaining(rule.columns.nothing)).startswith("ε up to 1 or ρ up to 0.02")
    assert str(Filter.open(PURE).remaining((0, 0))) == "ε up to 1"


def test_used_runs_from_zero_to_one() -> None:
    rule = Filter.open(PURE)
    assert rule.used((0, 0)) == 0
    assert rule.used((0, 10**12)) == 1


def test_columns_describe_themselves() -> None:
    columns = Columns("renyi", (2.0, 8.0))
    assert columns.names == ("own δ", "Rényi ε of order 2", "Rényi ε of order 8", "pure ε")
    assert columns.describe((1, 10**12, 2, SATURATED))["pure ε"] == "more than any budget"
    assert Columns("zcdp").names == ("own δ", "ρ")


def test_an_order_that_is_one_as_a_float_is_refused() -> None:
    with pytest.raises(ArgumentError, match="could never admit anything"):
        Filter.open(RENYI, order="1.00000000000000000001")


@pytest.mark.parametrize("delta", [Fraction(1, 3), Fraction(1, 10**6) + Fraction(1, 10**390)])
def test_less_than_a_unit_of_delta_is_no_share_for_the_orders(delta: Fraction) -> None:
    assert Filter.open(budget(1, delta, own_delta_share=1)).orders == ()


@pytest.mark.parametrize("cap", [LARGEST_CAP, 1.5, True])
def test_absurd_stored_caps_are_refused(cap: Any) -> None:
    with pytest.raises(ArgumentError, match="caps"):
        Filter(RENYI, (4096.0,), (0, cap, PER_EPSILON))


def test_a_high_cap_leaves_some_delta_however_little() -> None:
    assert 0 < delta_rounded_up(4096.0, 1, Fraction(4_000_000)) < Fraction(1, 10**400)
    assert delta_rounded_up(4096.0, LARGEST_CAP, Fraction(1)) >= 1


def test_the_callers_decimal_context_moves_no_cap() -> None:
    expected = Filter.open(RENYI).caps
    with localcontext(Context(prec=3, rounding=ROUND_UP, Emin=-5, Emax=5, traps=[])):
        assert Filter.open(RENYI).caps == expected


def test_a_subclass_with_its_own_equality_gets_no_other_price() -> None:
    class Impostor(Pure):
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash(Pure(Fraction(1, 100)))

    rule = Filter.open(RENYI)
    for honest, wrong in (
        (Pure(Fraction(1, 100)), Impostor(Fraction(10))),
        (Repeated(Pure(Fraction(1, 100)), 2), Repeated(Impostor(Fraction(10)), 2)),
        (Composed((Pure(Fraction(1, 100)),)), Composed((Impostor(Fraction(10)),))),
    ):
        rule.charge(honest)
        with pytest.raises(UnsupportedError, match=r"Impostor.*SRD-C001"):
            rule.charge(wrong)


@pytest.mark.parametrize("cap", [budget(2), budget(rho="0.5"), budget(1, "1e-6")], ids=str)
@pytest.mark.parametrize("scale", [Fraction(1, 3), 4, 1000])
def test_a_part_of_the_budget_is_the_smallest_over_columns_and_own_delta_stands_aside(
    cap: Budget, scale: Fraction
) -> None:
    rule = Filter.open(cap)
    charge = rule.charge(Laplace(scale))
    by_hand = min(Fraction(units, most) for units, most in zip(charge[1:], rule.caps[1:], strict=True))
    assert rule.part(charge, rule.telling(charge)) == by_hand
    assert rule.used(charge) == float(by_hand)
