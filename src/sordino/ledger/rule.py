"""Rules: what a scope may spend, in which columns, and what that promises to whom.

A rule holds its orders and caps, not only its budget: they were fixed when the scope was opened, and what has been
spent is counted by those orders ever after. A rule whose caps promise more than its budget cannot be built.

**Blocks.** A data set whose data arrives by day may give every day a budget of its own. A query over some days charges
those days and no others (parallel composition), which is sound only where all rows of one unit lie on one day:

* ``"owner-in-one-block"``: the owner of the data declares that it is so;
* ``"unit-per-block"``: it is so because the unit is a (person, day). That protects what a person did on one day. A
  person who comes on k days is protected as a group of k units is, and every receipt says the unit.

*Proof, where one unit comes or goes.* Let the unit's day be b. What does not charge b reads other days only and has the
same law on both neighbours, so the loss is that of b's filter (``accounting/filter.py``) alone.
*Proof, where one unit is replaced.* The old rows may lie on b and the new ones on c. The charges of what reads either
add up, in each column, to at most twice the largest that any day has spent. So a day's caps are half of the budget's
(which is the same as to charge everything twice), and one column must hold **for all days at once**: with one column
alive on b and another on c, neither bounds the sum. With a common column the filter's proof goes through for the pair.

**Refresh.** A budget that begins anew each period promises nothing over a lifetime: losses of periods add up without
end. `Rule.promise` says so, and the lifetime total is always kept beside what the period has spent. For both a cap by
period and a cap for life, put the data set into a group of its own, whose budget does not refresh.

**Raising.** The guarantee of a scope is that of the largest budget it ever had, or ever would have had after other
answers: whoever raises by what the answers were has promised the largest raise from the start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

from sordino.accounting.budget import Budget
from sordino.accounting.columns import Vector
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.orders import cap_rounded_down, delta_rounded_up
from sordino.accounting.units import PER_DELTA, PER_EPSILON
from sordino.accounting.units import cap_rounded_down as units_rounded_down
from sordino.arguments import Number, one_of
from sordino.errors import ArgumentError, LedgerError

from .periods import Refresh, checked_refresh
from .scope import Scope, checked_name
from .vectors import read_vector, vector_text

Blocks = Literal["owner-in-one-block", "unit-per-block"]

_PAIR = re.compile(r"\(.+, day\)")
_FIELDS = frozenset({"blocks", "budget", "caps", "groups", "neighbours", "orders", "refresh", "unit"})
_HALVED = 2


@dataclass(frozen=True)
class Rule:
    """The budget of one scope and how it is kept. Build it with `Rule.open`.

    **Guarantee**: see `promise`. **Assumes**: as ``accounting/filter.py`` does, and what `blocks` declares.
    """

    budget: Budget
    orders: tuple[float, ...]
    caps: Vector
    unit: str | None = None
    neighbours: Neighbours | None = None
    refresh: Refresh | None = None
    blocks: Blocks | None = None
    groups: tuple[str, ...] = ()

    @classmethod
    def open(
        cls,
        budget: Budget,
        *,
        unit: str | None = None,
        neighbours: Neighbours | None = None,
        refresh: Refresh | None = None,
        blocks: Blocks | None = None,
        groups: tuple[str, ...] = (),
        order: Number | None = None,
    ) -> Rule:
        """Return the rule that keeps `budget`; `order` is as in `Filter.open`.

        `unit` and `neighbours` say who is protected by a data set or a group; an analyst's or a project's budget caps
        what they may ask for and promises nothing about anybody, so it has neither.
        """
        full = Filter.open(budget, order=order)
        share = _share(neighbours, blocks)
        caps = tuple(cap // share for cap in full.caps)
        return cls(budget, full.orders, caps, unit, neighbours, refresh, blocks, groups)

    def __post_init__(self) -> None:
        if (self.unit is None) != (self.neighbours is None):
            raise ArgumentError("a rule has both a unit and a neighbouring relation, or neither", "SRD-A003")
        if self.unit is not None:
            checked_name("unit", self.unit)
        if self.refresh is not None:
            checked_refresh(self.refresh)
        for group in self.groups:
            checked_name("group", group)
        if tuple(sorted(set(self.groups))) != self.groups:
            raise ArgumentError("groups must be named once each, in alphabetical order", "SRD-A003")
        self._check_blocks()
        share = _share(self.neighbours, self.blocks)
        Filter(self.budget, self.orders, tuple(cap * share for cap in self.caps))  # refuses caps beyond the budget

    def _check_blocks(self) -> None:
        if self.blocks is None:
            return
        one_of("blocks", self.blocks, get_args(Blocks))
        if self.unit is None:
            raise ArgumentError("blocks need a unit: they rest on where one unit's rows lie", "SRD-A003")
        if (self.blocks == "unit-per-block") != bool(_PAIR.fullmatch(self.unit)):
            raise ArgumentError(
                "with blocks='unit-per-block' the unit is a pair and is called so, as in '(person, day)'; any other "
                "unit needs blocks='owner-in-one-block', which declares that all rows of one lie on one day",
                "SRD-A003",
            )
        if self.refresh is not None:
            raise ArgumentError(
                "a scope has blocks or a refresh, not both: with blocks, data that arrives brings its own budget",
                "SRD-A003",
            )

    def check_for(self, scope: Scope) -> None:
        """Refuse a rule that a scope of this kind cannot have."""
        protects = scope.protects
        if protects != (self.unit is not None):
            raise ArgumentError(
                f"{scope} must say who is protected: unit and neighbours"
                if protects
                else f"{scope} is capped by policy and protects nobody by itself: leave out unit and neighbours",
                "SRD-A003",
            )
        if scope.kind != "dataset" and (self.blocks or self.groups):
            raise ArgumentError(f"only a data set has blocks or belongs to groups, not {scope}", "SRD-A003")

    @cached_property
    def filter(self) -> Filter:
        """The filter that decides; for each block where there are blocks."""
        return Filter(self.budget, self.orders, self.caps)

    @property
    def one_column_for_all_blocks(self) -> bool:
        """Whether blocks share their column, because one replacement may touch two of them."""
        return _share(self.neighbours, self.blocks) > 1

    @property
    def lasts(self) -> bool:
        """Whether the budget is a cap for life: not where it begins anew each period."""
        return self.refresh is None

    @property
    def promise(self) -> str:
        """What the rule promises, in one sentence for receipts and pages."""
        if self.unit is None or self.neighbours is None:
            return f"a cap of {self.budget} by policy{self._each_period()}, which by itself promises nothing to anybody"
        said = f"each {self.unit} is protected under {self.neighbours.value} within {self.budget}"
        if self.blocks == "unit-per-block":
            said += "; whoever comes on several days is protected on each, not within that budget over all"
        if self.blocks == "owner-in-one-block":
            said += f", provided that all rows of one {self.unit} lie on one day, as the owner declares"
        if not self.lasts:
            said += f"{self._each_period()}; losses add up over periods, so nothing is promised for a lifetime"
        return said

    def _each_period(self) -> str:
        if self.refresh is None:
            return ""
        return f" in each {self.refresh}" if isinstance(self.refresh, str) else f" in every {self.refresh} seconds"

    def with_budget(self, budget: Budget) -> Rule:
        """Return the rule with another budget and the same orders, by which everything so far has been counted.

        Each order keeps its share of δ: caps change by what the conversion gives for it (``accounting/orders.py``).
        """
        try:
            return replaced(self, budget, _caps(self, budget))
        except ArgumentError as error:
            raise LedgerError(
                f"a budget of {self.budget} cannot become {budget}: {error.message}; choose a larger ε or δ in the "
                "same calculus, or open another scope",
                "SRD-L026",
            ) from error

    def to_plain(self) -> dict[str, Any]:
        """Return the rule as what canonical JSON can hold."""
        return {
            "blocks": self.blocks,
            "budget": self.budget.to_json(),
            "caps": vector_text(self.caps),
            "groups": list(self.groups),
            "neighbours": None if self.neighbours is None else self.neighbours.value,
            "orders": " ".join(map(repr, self.orders)),
            "refresh": self.refresh,
            "unit": self.unit,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Rule:
        """Return the rule that `to_plain` wrote."""
        if set(plain) != _FIELDS:
            raise ValueError("not the fields of a rule")
        relation = plain["neighbours"]
        return cls(
            Budget.from_json(plain["budget"]),
            tuple(map(float, plain["orders"].split())),
            read_vector(plain["caps"]),
            plain["unit"],
            None if relation is None else Neighbours(relation),
            plain["refresh"],
            plain["blocks"],
            tuple(plain["groups"]),
        )


def _share(neighbours: Neighbours | None, blocks: Blocks | None) -> int:
    """Return by how much the caps of one block are divided."""
    return _HALVED if blocks is not None and neighbours is Neighbours.REPLACE_ONE else 1


def replaced(rule: Rule, budget: Budget, caps: Vector) -> Rule:
    """Return `rule` with another budget and other caps at the same orders, or raise `ArgumentError`."""
    if budget.calculus != rule.budget.calculus:
        raise ArgumentError(
            f"what was spent under {rule.budget} is counted in another calculus than {budget}; open another scope",
            "SRD-A003",
        )
    return replace(rule, budget=budget, caps=caps)


def _caps(rule: Rule, budget: Budget) -> Vector:
    """Return the caps of `budget` at the orders of `rule`."""
    share = _share(rule.neighbours, rule.blocks)
    old, new = (Fraction(each.epsilon or each.rho or 0) for each in (rule.budget, budget))
    caps = [budget.own_delta_cap, units_rounded_down("budget", new, PER_EPSILON)]
    if rule.orders:
        if budget.rest_delta * PER_DELTA < 1:
            raise ArgumentError("no δ is left for the orders", "SRD-A002")
        parts = (
            delta_rounded_up(order, cap * share, old) for order, cap in zip(rule.orders, rule.caps[1:-1], strict=True)
        )
        scale = budget.rest_delta / rule.budget.rest_delta
        caps[1:1] = [cap_rounded_down(order, new, part * scale) for order, part in zip(rule.orders, parts, strict=True)]
    if min(caps) < 0:
        raise ArgumentError("an order could admit nothing", "SRD-A002")
    return tuple(cap // share for cap in caps)
