"""Filters: whether one more event still fits a budget, for analysts who choose it after seeing all answers so far.

A `Filter` is a frozen rule over vectors of integers (see ``columns.py``): an account adds up charges, and an event is
admitted if, after adding its charge, its own δ still fits the first cap and **some other column** still fits its own.
Spending only grows, so a column once exceeded is dead for good. The state is one short vector, so admission takes the
same time after a million events as after one, and a database can decide it in one conditional UPDATE.

**Guarantee** (fully adaptive, concurrent composition). Let an analyst choose each event, its parameters included, by
everything released so far; let interactive mechanisms stay open and their queries interleave. What she sees is then

* pure filter: ε-differentially private;
* zCDP filter: ρ-zCDP, and δ-approximately so if the budget has a δ;
* Rényi filter: (ε, δ)-differentially private.

**Assumes** that every admitted event's curves are right, that charges depend on the released transcript only and never
on data, and that nothing is released without being admitted first.

**Proof.** Fix neighbours D, D'; let P and Q be the laws of the transcript on D and D', and leave own δ's aside.

1. *One order.* Let an account admit only while the sum of the divergences of order α stays within c. Then the
   transcript's divergence of order α is at most c, however the events were chosen (the Rényi filter of Feldman, Zrnic
   2021 and Lécuyer 2021): exp((α − 1)(loss − spent)) is a supermartingale under P. This holds for α = ∞, where it is
   the plain sum, and every valid filter of a fixed order holds for concurrent interaction as well (Haney, Shoemate,
   Tian, Vadhan, Vyrros, Xu, Zhang 2023; Vadhan, Wang 2021 for pure; Lyu 2022 for parameters fixed beforehand). A sum
   of ρ's within ρ is this with c = ρα at every α at once: ρ-zCDP (Whitehouse, Ramdas, Rogers, Wu 2023).
2. *Some order.* Let order j have the cap for (ε, δⱼ), with δ = 0 for order ∞. Let J be the first order that is still
   alive when the interaction ends; J is a function of the transcript. Consider the analyst who asks the same questions
   but stops as soon as the next charge would exceed order j. By step 1 and the conversion (``orders.py``) what she sees
   is (ε, δⱼ)-close, and where J = j it is the whole transcript. So for any set S of transcripts
   P[S] = Σⱼ P[S, J = j] ≤ Σⱼ (e^ε Q[S, J = j] + δⱼ) = e^ε Q[S] + Σⱼ δⱼ,   and the δⱼ add up to at most the budget's.
3. *Own δ.* An event whose curves hold outside of a failure of probability d has outputs (1 − d)P' + dP'' and
   (1 − d)Q' + dQ'', where P', Q' obey the curve (Kairouz, Oh, Viswanath 2015; if it is interactive and (ε, d)-private,
   Lyu 2022). On every path the admitted d's add up to at most the first cap, so some event fails with at most that
   probability. Without a failure a path's weight is the product of its (1 − d)'s, which is at most 1 and the same on D
   and D', so it only lowers the excess P − e^ε Q that step 2 bounds. The first cap thus adds to δ, and that is all.
   (For approximate zCDP this is the filter of Whitehouse, Ramdas, Rogers, Wu 2023.)

**The unsound variant.** Giving each order the *full* δ and admitting while some order fits looks the same and is wrong:
J is chosen by outcomes. An analyst who steers so that unlucky outcomes end with one order alive and others with another
reaches δ up to once for each order. ``tests/accounting/test_filter_adversary.py`` plays her exactly, and gets to 1.98
times the claim with two orders. `Filter` recomputes Σⱼ δⱼ from its caps and refuses to be built that way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from functools import cached_property

from sordino.arguments import Number, rational, rounded_up
from sordino.errors import ArgumentError, UnsupportedError

from .approximate import target
from .budget import Budget
from .columns import Columns, Vector, add
from .event import Event
from .events import Concentrated, Pure
from .odometer import loss_so_far
from .orders import HIGHEST_ORDER, cap_rounded_down, delta_rounded_up, orders_and_caps
from .units import LARGEST_CAP, PER_DELTA, PER_EPSILON, exact, significant
from .units import cap_rounded_down as units_rounded_down


@dataclass(frozen=True)
class Remaining:
    """What still fits an account, as the largest single event of each kind; None where its calculus has no such kind.

    Only one of them fits, not all together.
    """

    epsilon: Fraction | None
    """The largest ε of a pure event."""
    rho: Fraction | None
    """The largest ρ of a zero-concentrated event (Gaussian noise of variance sensitivity²/(2ρ))."""
    own_delta: Fraction
    """The δ left for events that bring one of their own."""

    def __str__(self) -> str:
        def most(value: Fraction) -> str:
            return f"{float(significant(value, 6, ROUND_FLOOR)):.6g}"

        parts = [f"ε up to {most(self.epsilon)}"] if self.epsilon is not None else []
        parts += [f"or ρ up to {most(self.rho)}"] if self.rho is not None else []
        parts += [f"with an own δ of up to {most(self.own_delta)}"] if self.own_delta else []
        return " ".join(parts)


@dataclass(frozen=True)
class Filter:
    """The rule of one account, frozen when it is opened: build it with `Filter.open`, store `orders` and `caps`.

    Building it from stored values checks that they promise no more than `budget` does.
    """

    budget: Budget
    orders: tuple[float, ...]
    caps: Vector

    def __post_init__(self) -> None:
        units = all(type(cap) is int and 0 <= cap <= LARGEST_CAP for cap in self.caps)
        if not units or len(self.caps) != len(self.columns.nothing):
            raise ArgumentError("caps must be one whole number of units for each column", "SRD-A003")
        if not all(self.caps[1:]):
            raise ArgumentError("a cap of 0 admits nothing; leave that order out", "SRD-A003")
        if not all(1 < order <= HIGHEST_ORDER for order in self.orders):
            raise ArgumentError(f"orders must lie above 1 and be at most {HIGHEST_ORDER}", "SRD-A002")
        promised = _largest_cap(self.budget)
        used = sum((delta_rounded_up(*pair, promised) for pair in self._finite()), Fraction(0))
        sound = (
            self.caps[0] <= self.budget.own_delta_cap
            and exact(self.caps[-1], PER_EPSILON) <= promised
            and used <= self.budget.rest_delta
        )
        if not sound:
            raise ArgumentError(
                f"these caps promise more than the budget ({self.budget}): the δ's of all orders must add up to at "
                "most the budget's, or an analyst who steers by outcomes exceeds it; use Filter.open(budget)",
                "SRD-A003",
            )

    @classmethod
    def open(cls, budget: Budget, *, order: Number | None = None) -> Filter:
        """Return the filter that keeps `budget`.

        `order` fixes one finite Rényi order, which then gets all of δ: better for a workload whose best order is known
        before the first event, worse for any other. Order ∞ stands beside it in any case, as it needs no δ.
        """
        last = units_rounded_down("budget", _largest_cap(budget), PER_EPSILON)
        if budget.calculus != "renyi":
            if order is not None:
                raise ArgumentError("order belongs to an (epsilon, delta) budget; leave it out", "SRD-A003")
            return cls(budget, (), (budget.own_delta_cap, last))
        orders, caps = _finite_orders(budget, order)
        return cls(budget, orders, (budget.own_delta_cap, *caps, last))

    @cached_property
    def columns(self) -> Columns:
        """The columns that an account under this filter adds up."""
        return Columns(self.budget.calculus, self.orders)

    def charge(self, event: Event) -> Vector:
        """Return what `event` costs in each column, or refuse an event that the calculus does not know."""
        return self.columns.charge(event)

    def fits(self, spent: Vector, charge: Vector) -> bool:
        """Return whether an event that costs `charge` may still be admitted after `spent`.

        **Guarantee**: as the module says, if every admitted charge was added to `spent` and fitted when it was.
        """
        after = add(spent, charge)
        return after[0] <= self.caps[0] and any(s <= cap for s, cap in zip(after[1:], self.caps[1:], strict=True))

    def remaining(self, spent: Vector) -> Remaining:
        """Return the largest events that would still fit after `spent`."""
        return Remaining(
            epsilon=self._largest(Pure, spent),
            rho=self._largest(Concentrated, spent),
            own_delta=exact(max(self.caps[0] - spent[0], 0), PER_DELTA),
        )

    def telling(self, amount: Vector) -> int:
        """Return the column by which `amount` is told: where it is the smallest part of the cap. Own δ stands aside."""
        return min(range(1, len(self.caps)), key=lambda place: amount[place] / self.caps[place])

    def part(self, amount: Vector, column: int) -> Fraction:
        """Return which part of the budget `amount` is in a column: of 1, or above it."""
        return Fraction(amount[column], self.caps[column])

    def used(self, spent: Vector) -> float:
        """Return the part of the budget that `spent` used up, from 0 to 1: that of the order with most left."""
        return float(self.part(spent, self.telling(spent)))

    def rise(self, spent: Vector, charge: Vector) -> Fraction:
        """Return by how much `used` rises if `charge` is added to `spent`: what a charge is as a part of the budget.

        Never less than the smallest part that `charge` is of any cap, and more where another order is told by
        afterwards. Rises of charges one after the other add up to what is used.
        """
        after = add(spent, charge)
        return self.part(after, self.telling(after)) - self.part(spent, self.telling(spent))

    def spent_as(self, spent: Vector, delta: Number = 0) -> tuple[Fraction | float, Fraction]:
        """Return (ε, δ), an honest statement of the loss so far at a moment that the analyst may have chosen.

        See ``odometer.py``. Near the end it may exceed the budget: a statement that holds at every moment costs more
        than the one that was fixed at opening. The budget's own promise holds in any case.
        """
        return loss_so_far(self.columns, spent, target(delta))

    def _finite(self) -> list[tuple[float, int]]:
        return list(zip(self.orders, self.caps[1:-1], strict=True))

    def _largest(self, kind: Callable[[Fraction], Event], spent: Vector) -> Fraction | None:
        """Return the largest parameter, in whole units, of a `kind` of event that fits; bisection, as costs grow."""
        low, high = 0, LARGEST_CAP
        try:
            while low < high:
                middle = (low + high + 1) // 2
                fits = self.fits(spent, self.charge(kind(exact(middle, PER_EPSILON))))
                low, high = (middle, high) if fits else (low, middle - 1)
        except UnsupportedError:
            return None
        return exact(low, PER_EPSILON)


def _largest_cap(budget: Budget) -> Fraction:
    """Return the cap of the last column: ρ for zCDP, else ε."""
    cap = budget.rho if budget.epsilon is None else budget.epsilon
    return Fraction(cap or 0)


def _finite_orders(budget: Budget, order: Number | None) -> tuple[tuple[float, ...], tuple[int, ...]]:
    epsilon, delta = _largest_cap(budget), budget.rest_delta
    enough = delta * PER_DELTA >= 1  # what rounding the own δ's cap down leaves over is no share for the orders
    if order is None:
        return orders_and_caps(epsilon, delta) if enough else ((), ())
    fixed = rounded_up(rational("order", order, above=1, most=HIGHEST_ORDER))
    cap = cap_rounded_down(fixed, epsilon, delta) if enough else 0
    if cap < 1:
        raise ArgumentError(
            f"order {fixed:g} could never admit anything under {budget}; choose a higher order, or leave it out",
            "SRD-A003",
        )
    return (fixed,), (cap,)
