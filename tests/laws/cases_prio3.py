"""The noise of one honest server, as cases for the laws: what is judged is the sum that all shares give, lifted."""

from __future__ import annotations

import numpy as np

from laws import references as reference
from sordino.accounting.neighbours import Neighbours
from sordino.collect.prio3 import Count, Histogram, Prio3, ServerNoise, Sum
from sordino.collect.prio3.field import Elements
from sordino.mechanisms.checks.case import Case
from sordino.mechanisms.gaussian import DiscreteGaussian
from sordino.mechanisms.laplace import Laplace

COUNT, SUM, BINS = Prio3(Count()), Prio3(Sum(3)), Prio3(Histogram(3, 3))
OTHERS = 12345678901234567
"""What the other servers' shares come to: known to whoever attacks, so it is taken off again."""


def share(survey: Prio3, *sums: int) -> Elements:
    return np.array([(value - OTHERS) % survey.circuit.field.modulus for value in sums], dtype=object)


def lifted(survey: Prio3, released: Elements) -> Elements:
    return survey.circuit.field.centred((released + OTHERS) % survey.circuit.field.modulus)


PRIO3 = (
    Case(
        "prio3-count",
        lambda level: ServerNoise(COUNT, Laplace(2 * level)),
        Count().bound(Neighbours.REPLACE_ONE),
        value=share(COUNT, 1),
        neighbour=share(COUNT, 0),
        outcome=lambda released: min(max(int(lifted(COUNT, released)[0]), -5), 5),
        law=lambda value, level: reference.clamped(
            reference.discrete_laplace(2 * level), int(lifted(COUNT, value)[0]), -5, 5
        ),
        tightness=0.4,
        draws=12000,
    ),
    Case(
        "prio3-sum",
        lambda level: ServerNoise(SUM, DiscreteGaussian(16 * level**2)),
        Sum(3).bound(Neighbours.REPLACE_ONE),
        value=share(SUM, 0),
        neighbour=share(SUM, 3),
        outcome=lambda released: min(max(int(lifted(SUM, released)[0]), -8), 11),
        law=lambda value, level: reference.clamped(
            reference.discrete_gaussian(16 * level**2), int(lifted(SUM, value)[0]), -8, 11
        ),
        tightness=0.1,
        draws=12000,
    ),
    Case(
        "prio3-histogram",
        lambda level: ServerNoise(BINS, Laplace(2 * level)),
        Histogram(3, 3).bound(Neighbours.REPLACE_ONE),
        value=share(BINS, 1, 0, 0),
        neighbour=share(BINS, 0, 0, 1),
        outcome=lambda released: min(max(int(lifted(BINS, released)[0] - lifted(BINS, released)[2]), -8), 8),
        tightness=0.2,
        draws=10000,
    ),
)
