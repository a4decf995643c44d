"""From the error that is acceptable to the cheapest price that gets there."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sordino.errors import QuestionError
from sordino.query.words import Within

from .plan import QueryPlan
from .price import column_prices, needs_size
from .strategy import Target, magnitude

_LEAST, _MOST = Fraction(1, 10**6), Fraction(1000)
_DIGITS = 4
_HALVINGS = 14
_NUDGE = 1.0002
_PROPORTIONS = 8  # guesses by proportion, before halving alone
_LEAP = 1.3


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
    if plan.selection is not None and plan.selection.counted:
        return math.sqrt(plan.selection.mechanism.variance_of_error)
    if not reading.targets:
        raise QuestionError("this question adds up nothing, so it has no noise to choose; give epsilon", "SRD-Q314")
    place = max(range(len(reading.targets)), key=lambda each: _is_count(reading.targets[each]))
    spreads = []
    for part in plan.blocks:
        spread = math.sqrt(part.mechanism.law.variance) * plan.worth_of(part)
        spreads += [spread] * len(part.block.features)
    terms = reading.targets[place].terms
    largest = sum(abs(weight) * magnitude(statistic, reading.steps) for statistic, weight in terms)
    row = reading.coefficients[place] / largest
    return math.sqrt(sum((weight * spread) ** 2 for weight, spread in zip(row, spreads, strict=True)))


def _is_count(target: Target) -> bool:
    return len(target.terms) == 1 and not any(getattr(target.terms[0][0], "powers", ()))


def cheapest(make: Callable[[Fraction], Any], measure: Callable[[Any], float], goal: float) -> Fraction:
    """Return the least price, to four digits and rounded up, at which ``measure(make(price))`` is within `goal`.

    Errors fall nearly in proportion to the price, so guesses by proportion come close; what is left is halved.
    """
    short, enough = _LEAST / 2, None
    price: Fraction | None = Fraction(1)
    looked = 0
    while price is not None:
        error = measure(make(price))
        if error > goal:
            short = price
        else:
            enough = price
        if short >= _MOST:
            break
        looked += 1
        ratio = error / goal if looked < _PROPORTIONS else math.inf
        price = _next_price(price, ratio, short, enough)
    if enough is None:
        raise QuestionError("no price up to 1,000 gets this close; allow a larger error, or larger groups", "SRD-Q315")
    return enough


def _next_price(price: Fraction, ratio: float, short: Fraction, enough: Fraction | None) -> Fraction | None:
    """Return where to look next, between what was short and what was enough; None when there is no room left."""
    by_proportion = float(price) * ratio * _NUDGE
    if enough is None:
        further = by_proportion if math.isfinite(by_proportion) else 2 * float(price)
        return min(_rounded_up(Fraction(max(further, float(price) * _LEAP)), _DIGITS), _MOST)
    for guess in (by_proportion, math.sqrt(float(short) * float(enough))):
        if float(short) * _NUDGE < guess < float(enough) / _NUDGE:
            following = max(_rounded_up(Fraction(guess), _DIGITS), _LEAST)
            if short < following < enough:
                return following
    return None


def largest_that_fits(fits: Callable[[Fraction], bool], most: Fraction) -> Fraction | None:
    """Return the largest price below `most`, to three digits and rounded down, that fits; None if hardly any does."""
    low, high = most / 1000, most
    if not fits(low):
        return None
    for _ in range(_HALVINGS):
        middle = Fraction(math.sqrt(float(low) * float(high))).limit_denominator(10**6)
        low, high = (middle, high) if low < middle < high and fits(middle) else (low, middle)
    exponent = Fraction(10) ** (math.floor(math.log10(float(low))) - 2)
    rounded = math.floor(low / exponent) * exponent
    candidates = (rounded + exponent, rounded)  # the next one may be exactly what is left
    return next((price for price in candidates if 0 < price < most and fits(price)), None)


def _rounded_up(value: Fraction, digits: int) -> Fraction:
    exponent = math.floor(math.log10(float(value))) - digits + 1
    unit = Fraction(10) ** exponent
    return math.ceil(value / unit) * unit
