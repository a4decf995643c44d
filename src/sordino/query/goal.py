"""From the error that is acceptable to the cheapest price that gets there."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.arguments import Number, probability, rational
from sordino.errors import ArgumentError, QuestionError

from .answer import Answer
from .plan import QueryPlan
from .price import column_prices, needs_size
from .strategy import Target

_LEAST, _MOST = Fraction(1, 10**6), Fraction(1000)
_DIGITS = 4
_ROUNDS = 12
_CLOSE = 1e-3


@dataclass(frozen=True)
class Within:
    """A goal: column `of` is off by at most `amount` with this confidence, in groups of `size` rows or more."""

    amount: Fraction
    of: str
    confidence: Fraction
    size: float | None


def within(amount: Number, of: str, *, confidence: Number = 0.95, size: Number | Answer | None = None) -> Within:
    """Say how far off a column may be. `size` is the smallest group that matters, where the error depends on it.

    An earlier answer may stand for the size: then it is the least count that it shows, at the low end of its interval.
    """
    if not isinstance(of, str):
        raise ArgumentError(f"of must be the name of a column, not {type(of).__name__}", "SRD-A001")
    rows = _least_count(size) if isinstance(size, Answer) else size
    known = None if rows is None else float(rational("size", rows, above=0))
    return Within(rational("amount", amount, above=0), of, probability("confidence", confidence), known)


def _least_count(answer: Answer) -> float:
    for name in answer.noisy_names:
        column = answer.column(name)
        if getattr(column.bare, "noises", None) is not None:
            low, _ = answer.interval(name)
            return max(float(low.min()), 1.0)
    raise ArgumentError("the answer given as size has no count; ask for COUNT(*) first, or give a number", "SRD-A003")


def error_of(plan: QueryPlan, goal: Within) -> float:
    """Return how far off the goal's column will be under a plan."""
    names = [output.name for output in plan.question.outputs]
    if goal.of not in names:
        raise QuestionError(f"the answer has no column {goal.of!r}; it has {', '.join(names)}", "SRD-Q313")
    sizes = (goal.size,) if goal.size is not None else (100.0, 10_000.0)
    for column in column_prices(plan, goal.confidence, sizes):
        if column.name == goal.of:
            if not column.half_widths:
                break
            if column.depends_on_size and goal.size is None:
                raise needs_size(goal.of)
            return max(column.half_widths.values())
    raise QuestionError(f"column {goal.of!r} has no error to aim for: it is a key, or chosen privately", "SRD-Q313")


def noise_of(plan: QueryPlan) -> float:
    """Return the standard deviation of the noise in a count, or in the first sum, in rows."""
    reading = plan.reading
    if not reading.targets:
        raise QuestionError("this question adds up nothing, so it has no noise to choose; give epsilon", "SRD-Q314")
    place = max(range(len(reading.targets)), key=lambda each: _is_count(reading.targets[each]))
    spreads = []
    for part in plan.blocks:
        worth = float(part.mechanism.grid.step) / (plan.bounding.unit if part.bound.linf > 1 else 1)
        spreads += [math.sqrt(part.mechanism.law.variance) * worth] * len(part.block.features)
    row = reading.coefficients[place] * reading.targets[place].weight
    return math.sqrt(sum((weight * spread) ** 2 for weight, spread in zip(row, spreads, strict=True)))


def _is_count(target: Target) -> bool:
    return len(target.terms) == 1 and not any(getattr(target.terms[0][0], "powers", ()))


def cheapest(make: Callable[[Fraction], Any], measure: Callable[[Any], float], goal: float) -> Fraction:
    """Return a price, to four digits, at which ``measure(make(price))`` is within `goal`, and hardly more than needed.

    Errors fall nearly like a power of the price, so a step or two of proportion come close; the rest is nudged upwards.
    """
    price, power = Fraction(1), 1.0
    error = measure(make(price))
    for _ in range(_ROUNDS):
        if (1 - _CLOSE) * goal <= error <= goal:
            break
        guess = Fraction(float(price) * (error / goal) ** (1 / power) * (1 + _CLOSE / 2))
        following = _rounded_up(min(max(guess, _LEAST), _MOST), _DIGITS)
        if following == price:
            break
        reached = measure(make(following))
        if reached != error:
            power = min(max(math.log(error / reached) / math.log(float(following / price)), 0.4), 4.0)
        price, error = following, reached
    while error > goal:
        if price >= _MOST:
            raise QuestionError(
                "no price up to 1,000 gets this close; allow a larger error, or larger groups", "SRD-Q315"
            )
        price = _rounded_up(price * (1 + Fraction(1, 10**3)), _DIGITS)
        error = measure(make(price))
    return price


def _rounded_up(value: Fraction, digits: int) -> Fraction:
    exponent = math.floor(math.log10(float(value))) - digits + 1
    unit = Fraction(10) ** exponent
    return math.ceil(value / unit) * unit
