"""Prices: what a question costs and how far off its answer will be, before any data is touched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sordino.accounting.any_account import AnyAccount
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number
from sordino.errors import QuestionError
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.partition import GaussianThreshold
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Derived, Picked
from sordino.query.estimate.evaluate import Evaluated, Input, evaluate
from sordino.query.estimate.tails import half_width

from . import limits as contribution
from .imagine import imagine
from .notes import day_notes, looked_notes, notes
from .plan import QueryPlan
from .reading import read
from .whole import WholePlan

SIZES = (100, 1_000, 10_000)
"""The sizes of groups for which errors are stated where they depend on it."""


@dataclass(frozen=True)
class ColumnPrice:
    """How far off one column will be: half the width of its interval, by the size of the group."""

    name: str
    half_widths: Mapping[float, float]
    depends_on_size: bool

    def __str__(self) -> str:
        if not self.half_widths:
            return "chosen privately; no interval"
        if not self.depends_on_size:
            return f"± {_short(next(iter(self.half_widths.values())))}"
        parts = (f"± {_short(width)} for {size:,.0f} rows" for size, width in self.half_widths.items())
        return ", ".join(parts)


@dataclass(frozen=True)
class Price:
    """What a question costs and what it gives. Nothing in it comes from data."""

    epsilon: Fraction | None
    rho: Fraction | None
    delta: Fraction
    event: Event
    fits: bool
    """Whether the account would admit it now."""
    charge: str
    """What the account would be charged, in its own calculus."""
    columns: tuple[ColumnPrice, ...]
    notes: tuple[str, ...]
    confidence: Number
    ran: Neighbours = field(default=Neighbours.ADD_REMOVE, kw_only=True)
    """The relation under which `event` runs; the account may count by another."""
    part: float | None = field(default=None, kw_only=True)
    """By how much the used part of the budget would rise; None for an account without a cap."""
    used: float | None = field(default=None, kw_only=True)
    """The part of the budget that is used already."""

    def __str__(self) -> str:
        cost = f"ε = {_decimal(self.epsilon)}" if self.epsilon is not None else f"ρ = {_decimal(self.rho)}"
        if self.delta:
            cost += f", δ = {_decimal(self.delta)}"
        lines = [f"price: {cost}" + ("" if self.fits else " (more than what is left)"), f"charged: {self.charge}"]
        width = max((len(column.name) for column in self.columns), default=0)
        lines += [f"  {column.name:<{width}}  {column}" for column in self.columns]
        if self.columns:
            sure = f"{100 * float(self.confidence):.6g} %"
            lines.append(f"intervals at {sure}, noise only; groups of values spread evenly")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .price_html import page

        return page(self)


def column_prices(plan: QueryPlan, confidence: Number, sizes: Sequence[float] = SIZES) -> tuple[ColumnPrice, ...]:
    """Return the expected error of each noisy column of the plan's question."""
    prices = []
    for output, column in zip(plan.question.outputs, _outputs(plan, sizes), strict=True):
        if column.noisy:
            found = half_widths_of(column, confidence)
            widths = {} if found is None else dict(zip(sizes, found.tolist(), strict=True))
            spread = max(widths.values(), default=0.0) - min(widths.values(), default=0.0)
            depends = spread > 1e-6 * max(widths.values(), default=0.0)
            prices.append(ColumnPrice(output.name, widths, depends))
    return tuple(prices)


def _outputs(plan: QueryPlan, sizes: Sequence[float]) -> list[Evaluated]:
    """Return what the question shows of imagined groups of these sizes."""
    values: dict[str, Input] = {f"a{place}": each for place, each in enumerate(read(plan, imagine(plan, sizes)))}
    values |= {f"k{place}": [None] * len(sizes) for place in range(len(plan.question.keys))}
    return [evaluate(output.expression, values) for output in plan.question.outputs]


def half_widths_of(column: Evaluated, confidence: Number) -> Floats | None:
    """Return half the width of each imagined group's interval (the widest, for lists); None where there is none."""
    if isinstance(column.bare, Picked):
        return None
    if isinstance(column.bare, Derived):
        return _linearised(column.bare, confidence)
    ends = column.interval(confidence)
    if ends is None:
        return None
    low, high = ends
    widths: Floats = np.abs(high - low) / 2
    return np.asarray(widths.reshape(len(widths), -1).max(axis=1))


def _linearised(estimate: Derived, confidence: Number) -> Floats:
    """Return the half widths of a function's linear part: a price is the same each time, so it is not simulated."""
    slopes = []
    for place, law in enumerate(estimate.laws):
        step = max(math.sqrt(law.variance), 1.0) * 1e-3
        up, down = estimate.released.copy(), estimate.released.copy()
        up[place] += step
        down[place] -= step
        slope = (estimate.function(up) - estimate.function(down)) / (2 * step)
        slopes.append(np.where(np.isfinite(slope), slope, 0.0))
    columns = np.array(slopes).T.tolist()
    widths = [half_width(list(zip(estimate.laws, column, strict=True)), confidence) for column in columns]
    return np.minimum(widths, (estimate.high - estimate.low) / 2)


def price_of(whole: WholePlan, account: AnyAccount, confidence: Number) -> Price:
    """Return the price of a plan for an account."""
    event = whole.event()
    quote = account.price(event, whole.bound.neighbours)
    columns: tuple[ColumnPrice, ...] = ()
    if whole.passes:
        columns, said = column_prices(whole.passes[0], confidence), notes(whole.passes[0])
    else:
        said = [_discovery_note(whole), *looked_notes(whole.question.schema)]
    said += day_notes(whole.question)
    if whole.truncation is not None:
        said.append(f"{whole.truncation.count} estimates of how much bounding cuts off are included")
    spend = whole.spend
    return Price(
        spend.epsilon,
        spend.rho,
        own_delta_of(whole),
        event,
        quote.fits,
        str(quote),
        columns,
        tuple(said),
        confidence,
        ran=whole.bound.neighbours,
        part=None if quote.part is None else float(quote.part),
        used=None if quote.part is None else account.used,
    )


def own_delta_of(whole: WholePlan) -> Fraction:
    """Return the δ of the question by itself: for keys, and for Gaussian noise that is calibrated to (ε, δ)."""
    keys = Fraction(0) if contribution.keys_are_public(whole.question) else whole.spend.keys_delta
    mechanisms = [part.mechanism for each in whole.passes for part in each.blocks]
    mechanisms += [part.mechanism for each in whole.passes for part in each.histograms]
    selections = [each.selection for each in whole.passes if each.selection is not None]
    gaussian = any(isinstance(mechanism, Gaussian) for mechanism in mechanisms)
    gaussian |= any(isinstance(selection.mechanism, GaussianThreshold) for selection in selections)
    return keys + (whole.spend.gaussian_delta if gaussian and whole.spend.epsilon is not None else 0)


def _discovery_note(whole: WholePlan) -> str:
    share = 1 - float(whole.rest.amount / whole.spend.amount)
    count = len(whole.discovery.searches) if whole.discovery else 0
    return (
        f"{count} bounds are not declared: they are found privately first, for {share:.0%} of the price; how far off "
        "the answer will be depends on what is found. Declare bounds(…) and limits(…) to know beforehand"
    )


def needs_size(name: str) -> QuestionError:
    """Return the error for a goal that cannot be priced without a group's size."""
    return QuestionError(
        f"how far off {name!r} is depends on how many rows a group has; say within(…, of={name!r}, size=…) with the "
        "smallest group that matters, or use the counts of an earlier answer",
        "SRD-Q312",
    )


def _short(number: float) -> str:
    return f"{number:.3g}" if math.isfinite(number) else "∞"


def _decimal(value: Fraction | None) -> str:
    return f"{float(value or 0):.12g}"
