"""Laws about what a mechanism's event costs, in every calculus that knows it.

The accountants may be handed in, so that a stranger's accountant can be judged as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import brentq

from sordino.accounting.accountants import side_by_side
from sordino.accounting.event import Event
from sordino.accounting.events import Composed, PoissonSampled, Repeated

from .case import Case, FailedCheckError

Prices = Callable[[Event, float], Mapping[str, float]]
"""ε by each accountant that knows an event, at one δ."""

DELTAS = (1e-3, 1e-6, 1e-9)
COUNT = 7
_LOSS_STEP = 2.0**-10
SLACK = 1e-9
"""Relative; for sums of floats taken in another order."""


def every_accountant(event: Event, delta: float) -> Mapping[str, float]:
    """Return ε at `delta` by every calculus of the house that knows `event`."""
    return {quote.calculus: quote.epsilon for quote in side_by_side(event, str(delta)) if quote.epsilon is not None}


def count_check(case: Case, prices: Prices = every_accountant) -> None:
    """n at once cost what n one after the other cost, and more than one; never more than n times one pure ε."""
    event = case.event
    for delta in DELTAS:
        once = prices(event, delta)
        at_once = prices(Repeated(event, COUNT), delta)
        one_by_one = prices(Composed((event,) * COUNT), delta)
        for calculus in once.keys() & at_once.keys():
            price = once[calculus]
            if not math.isclose(at_once[calculus], one_by_one[calculus], rel_tol=SLACK):
                raise FailedCheckError(
                    f"count check: {COUNT} at once cost {at_once[calculus]} by {calculus} at δ = {delta}, "
                    f"one after the other {one_by_one[calculus]}"
                )
            if price > 0 and not at_once[calculus] > price:
                raise FailedCheckError(
                    f"count check: {COUNT} cost no more than one by {calculus} at δ = {delta}: {price}"
                )
        if "pure" in once and not math.isclose(at_once["pure"], COUNT * once["pure"], rel_tol=SLACK):
            raise FailedCheckError(f"count check: {COUNT} times ε = {once['pure']} cost {at_once['pure']} by pure ε")


def order_check(case: Case, prices: Prices = every_accountant) -> None:
    """No accountant is below what is certainly lost on this case's two inputs, once and several times over."""
    if case.law is None:
        return
    here, there = case.law(case.value, 1.0), case.law(case.neighbour, 1.0)
    for count in (1, COUNT):
        for delta in DELTAS:
            floor = max(lost_at_least(here, there, count, delta), lost_at_least(there, here, count, delta))
            for calculus, price in prices(Repeated(case.event, count), delta).items():
                if price < floor * (1 - SLACK):
                    raise FailedCheckError(
                        f"order check: {calculus} says ε = {price} for {count} at δ = {delta}; at least {floor} is lost"
                    )


def lost_at_least(here: Mapping[Any, float], there: Mapping[Any, float], count: int, delta: float) -> float:
    """Return a lower bound on ε at `delta` of `count` draws that come from `here` and might come from `there`.

    Losses ln(P/Q) are rounded down to a grid, and what is possible on one side only is left out; both only lower the
    bound. (The lower end of a privacy loss distribution would not do: some dominating pairs are never attained.)
    """
    losses = {label: math.log(share / there[label]) for label, share in here.items() if there.get(label, 0) * share > 0}
    low = math.floor(min(losses.values()) / _LOSS_STEP)
    masses = np.zeros(math.floor(max(losses.values()) / _LOSS_STEP) - low + 1)
    for label, loss in losses.items():
        masses[math.floor(loss / _LOSS_STEP) - low] += here[label]
    composed = np.ones(1)
    for _ in range(count):
        composed = np.convolve(composed, masses)
    grid = (np.arange(composed.size) + count * low) * _LOSS_STEP

    def excess(epsilon: float) -> float:
        return float(composed @ np.maximum(-np.expm1(np.minimum(epsilon - grid, 0.0)), 0.0)) - delta * (1 + 1e-6)

    return brentq(excess, 0.0, float(grid[-1])) if excess(0.0) > 0 else 0.0


def identity_check(case: Case, prices: Prices = every_accountant) -> None:
    """Sampling at rate 1 is no sampling: no calculus makes it cheaper, and the best price stays the same."""
    for delta in DELTAS:
        plain = prices(case.event, delta)
        sampled = prices(PoissonSampled(case.event, Fraction(1)), delta)
        common = plain.keys() & sampled.keys()
        for calculus in common:
            if sampled[calculus] < plain[calculus] * (1 - 1e-6):
                raise FailedCheckError(
                    f"identity check: by {calculus} at δ = {delta} ε is {plain[calculus]} unsampled "
                    f"and {sampled[calculus]} sampled at rate 1"
                )
        best = [min((quotes[calculus] for calculus in common), default=0.0) for quotes in (plain, sampled)]
        if not math.isclose(*best, rel_tol=1e-6, abs_tol=1e-12):
            raise FailedCheckError(f"identity check: at δ = {delta} ε is {best[0]} unsampled and {best[1]} at rate 1")


def monotone_check(case: Case, prices: Prices = every_accountant) -> None:
    """Twice the noise never costs more, and costs less by at least one accountant."""
    quiet, loud = case.event, case.build(Fraction(2)).event(case.bound)
    for delta in DELTAS:
        before, after = prices(quiet, delta), prices(loud, delta)
        for calculus in before.keys() & after.keys():
            if after[calculus] > before[calculus] * (1 + SLACK):
                raise FailedCheckError(
                    f"monotone check: with twice the noise ε by {calculus} at δ = {delta} rises "
                    f"from {before[calculus]} to {after[calculus]}"
                )
        if before and not any(after.get(calculus, math.inf) < price for calculus, price in before.items()):
            raise FailedCheckError(f"monotone check: twice the noise costs as much by every accountant at δ = {delta}")
