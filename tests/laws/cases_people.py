"""Cases for mechanisms that take what single people hold: their answers, their classes, their records."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from laws import references as reference
from sordino.accounting.bound import Bound
from sordino.accounting.neighbours import Neighbours
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.classes import Classes
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.personalised import PersonalisedSample
from sordino.mechanisms.personalised_choice import PersonalisedCount, PersonalisedMedian
from sordino.mechanisms.randomized_response import RandomizedResponse
from sordino.mechanisms.sensitive import AnomalyPolicy, IsAnomaly

ADDED = Bound.scalar(1)
REPLACED = Bound.scalar(1, neighbours=Neighbours.REPLACE_ONE)

_CLASSES = ["careful", "open", "open", "careful"]
_CAREFUL, _OPEN = Fraction(1, 2), Fraction(2)


def _policy(level: Fraction) -> Classes:
    return Classes.of({"careful": _CAREFUL / level, "open": _OPEN / level})


def _epsilons(level: float) -> list[float]:
    return [float(_CAREFUL if name == "careful" else _OPEN) / level for name in _CLASSES]


def _how_many(rows: Any) -> int:
    return len(rows)


def _sample_law(value: Any, level: float) -> reference.Law:
    """Each careful person is kept by a coin, each open one always; then Laplace noise."""
    keep = math.expm1(0.5 / level) / math.expm1(2 / level)
    careful, always = value[1].count("careful"), value[1].count("open")
    law: dict[int, float] = {}
    for kept in range(careful + 1):
        share = math.comb(careful, kept) * keep**kept * (1 - keep) ** (careful - kept)
        for label, chance in reference.clamped(reference.discrete_laplace(level / 2), kept + always, -1, 5).items():
            law[label] = law.get(label, 0.0) + share * chance
    return law


def _count_law(value: Any, level: float) -> reference.Law:
    epsilons, answers = _epsilons(level / 2), value[0]
    refusals, truth = [not answer for answer in answers], sum(answers)
    costs = [
        reference.least_change(epsilons, answers if r < truth else refusals, abs(r - truth))
        for r in range(len(answers) + 1)
    ]
    return reference.exponential([-cost for cost in costs], 2.0)


def _median_law(value: Any, level: float) -> reference.Law:
    epsilons, numbers = _epsilons(level / 2), value[0]
    costs = {}
    for candidate in (0.0, 2.0, 4.0, 9.0):
        below, above = [n < candidate for n in numbers], [n > candidate for n in numbers]
        costs[candidate] = sum(
            reference.least_change(epsilons, side, max(0, sum(side) - len(numbers) // 2)) for side in (below, above)
        )
    law = reference.exponential([-cost for cost in costs.values()], 2.0)
    return {candidate: law[i] for i, candidate in enumerate(costs)}


def _anomaly_law(value: Any, level: float) -> reference.Law:
    """With 2 others around, two changes away from another truth; with 3, one."""
    distance = 4 - int(np.sum(value[:, 0] == 0.5))
    wrong = math.exp(-(distance - 1) / level) / (1 + math.exp(1 / level))
    return {True: 1 - wrong, False: wrong}


def _crowd(size: int) -> Any:
    return np.array([[0.0, 0.0]] + [[0.5, 0.0]] * size + [[9.0, 9.0]] * 3)


PEOPLE = (
    Case(
        "randomized-response",
        lambda level: RandomizedResponse(2 / level),
        REPLACED,
        value=1,
        neighbour=0,
        law=lambda value, level: reference.randomized_response(value, 2 / level, 2),
        tightness=0.6,
        draws=6000,
    ),
    Case(
        "randomized-response-of-five",
        lambda level: RandomizedResponse(2 / level, 5),
        REPLACED,
        value=np.array([4, 1]),
        neighbour=np.array([2, 1]),
        outcome=lambda released: int(released[0]),
        law=lambda value, level: reference.randomized_response(value[0], 2 / level, 5),
        tightness=0.6,
    ),
    Case(
        "personalised-sample-open",
        lambda level: PersonalisedSample(_policy(level), _how_many, Laplace(level / 2)),
        ADDED,
        value=([0, 0, 0], ["careful", "open", "careful"]),
        neighbour=([0, 0], ["careful", "careful"]),
        outcome=lambda released: min(max(released, -1), 5),
        law=_sample_law,
        tightness=0.4,
    ),
    Case(
        "personalised-sample-careful",
        lambda level: PersonalisedSample(_policy(level), _how_many, Laplace(level / 2)),
        ADDED,
        value=([0, 0], ["careful", "open"]),
        neighbour=([0], ["open"]),
        outcome=lambda released: min(max(released, -1), 5),
        law=_sample_law,
        claim=_CAREFUL,
    ),
    Case(
        "personalised-count",
        lambda level: PersonalisedCount(_policy(level / 2), 4),
        REPLACED,
        value=([True, False, True, False], _CLASSES),
        neighbour=([True, True, True, False], _CLASSES),
        law=_count_law,
        tightness=0.1,
        draws=6000,
    ),
    Case(
        "personalised-count-careful",
        lambda level: PersonalisedCount(_policy(level / 2), 4),
        REPLACED,
        value=([True, False, True, False], _CLASSES),
        neighbour=([False, False, True, False], _CLASSES),
        law=_count_law,
        claim=2 * _CAREFUL,
        draws=6000,
    ),
    Case(
        "personalised-median",
        lambda level: PersonalisedMedian(_policy(level / 2), 4, tuple(map(Fraction, (0, 2, 4, 9)))),
        REPLACED,
        value=([1.0, 2.0, 6.0, 7.0], _CLASSES),
        neighbour=([1.0, 9.0, 6.0, 7.0], _CLASSES),
        law=_median_law,
        draws=12000,
    ),
    Case(
        "is-anomaly",
        lambda level: IsAnomaly((Fraction(0),) * 2, 1 / level, AnomalyPolicy(5, Fraction(1), 2)),
        ADDED,
        value=_crowd(2),
        neighbour=_crowd(3),
        law=_anomaly_law,
        claim=Fraction(1),
        tightness=0.3,
        draws=10000,
    ),
)
