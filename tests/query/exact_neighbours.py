"""The oracle of neighbours: what the exact answers on two data sets that differ by one unit may differ in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Exact, Task


def violations(asked: Task, larger: Exact, smaller: Exact, claim: Bounding) -> list[str]:
    """Return what is wrong with the claim that one unit weighs no more than `claim`. The first monomial must be 1."""
    places = _places(larger)
    missing = [key for key in _places(smaller) if key not in places]
    if missing or (asked.public_keys and larger.keys != smaller.keys):
        return ["groups appear, or public groups differ"]
    if [key for key in places if key in _places(smaller)] != list(_places(smaller)):
        return ["the order of groups depends on the unit"]
    weights = _difference(larger.sums[0], smaller.sums[0], larger, smaller)
    return [
        *_weight_violations(weights, claim),
        *_sum_violations(asked, larger, smaller, weights),
        *_count_violations(larger, smaller, weights, by_row=claim.method == "row"),
        *_histogram_violations(larger, smaller, weights),
    ]


def _weight_violations(weights: list[int], claim: Bounding) -> Iterator[str]:
    unit = claim.unit
    if min(weights, default=0) < 0:
        yield "a unit takes weight away"
    if max(weights, default=0) > claim.linf * unit:
        yield "linf"
    if claim.l0 is not None and sum(weight != 0 for weight in weights) > claim.l0:
        yield "l0"
    if claim.l1 is not None and sum(weights) > claim.l1 * unit:
        yield "l1"
    if sum(weight**2 for weight in weights) > claim.l2_squared * unit**2:
        yield "l2"


def _sum_violations(asked: Task, larger: Exact, smaller: Exact, weights: list[int]) -> Iterator[str]:
    for place, monomial in enumerate(asked.monomials):
        most = 1
        for measure, power in zip(asked.measures, monomial.powers, strict=True):
            most *= measure.steps**power
        changes = _difference(larger.sums[place], smaller.sums[place], larger, smaller)
        if any(abs(change) > weight * most for change, weight in zip(changes, weights, strict=True)):
            yield f"monomial {place}"


def _count_violations(larger: Exact, smaller: Exact, weights: list[int], *, by_row: bool) -> Iterator[str]:
    if larger.people is not None:
        changes = _difference(larger.people, smaller.people, larger, smaller)
        most = weights if by_row else [min(weight, 1) for weight in weights]
        if any(not 0 <= change <= weight for change, weight in zip(changes, most, strict=True)):
            yield "people"
    for place in range(len(larger.distincts)):
        changes = _difference(larger.distincts[place], smaller.distincts[place], larger, smaller)
        if any(not 0 <= change <= weight for change, weight in zip(changes, weights, strict=True)):
            yield "distincts"


def _histogram_violations(larger: Exact, smaller: Exact, weights: list[int]) -> Iterator[str]:
    renumbered = list(_places(smaller).items())
    for spread, other in zip(larger.histograms, smaller.histograms, strict=True):
        changes = {(int(group), int(bucket)): int(weight) for group, bucket, weight in spread}
        for group, bucket, weight in other:
            where = (_places(larger)[renumbered[group][0]], int(bucket))
            changes[where] = changes.get(where, 0) - int(weight)
        totals = [0] * larger.groups
        for (group, _), change in changes.items():
            totals[group] += change
        if min(changes.values(), default=0) < 0 or any(a > b for a, b in zip(totals, weights, strict=True)):
            yield "histogram"


def _places(exact: Exact) -> dict[tuple[Any, ...], int]:
    return {key: place for place, key in enumerate(zip(*exact.keys, strict=True))} if exact.keys else {(): 0}


def _difference(one: Any, other: Any, larger: Exact, smaller: Exact) -> list[int]:
    result = [int(value) for value in one]
    places = _places(larger)
    for key, place in _places(smaller).items():
        result[places[key]] -= int(other[place])
    return result
