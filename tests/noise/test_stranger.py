"""A law that the house does not ship: the engine asks for nothing but the contract of `Law`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from sordino.noise.enclosure import exp_negative
from sordino.noise.law import Law
from sordino.noise.partition import partition


@dataclass(frozen=True)
class CutGeometric(Law):
    """P[k] ∝ e^(-k/scale) for 0 ≤ k ≤ most: blocks are wide, and the last one reaches beyond the support."""

    scale: int
    most: int
    fineness: ClassVar[int] = 2

    @property
    def mode(self):
        return 0

    @property
    def spread(self):
        return self.scale

    @property
    def support(self):
        return 0, self.most

    @property
    def variance(self):
        return math.nan

    def ratio(self, x, origin, bits):
        return exp_negative(x - origin, self.scale, bits)


def _chances(scale, most):
    weights = np.exp(-np.arange(most + 1) / scale)
    return weights / weights.sum()


@pytest.mark.parametrize("most", [40, 250])
def test_a_cut_law_is_drawn_exactly(most, fits, differs):
    law = CutGeometric(100, most)
    assert law.width_bits == 4
    counts = np.bincount(law.draw(60_000), minlength=most + 1)
    assert len(counts) == most + 1
    fits(counts, _chances(100, most))
    if most > 100:
        for wrong in (70, 130):
            differs(counts, _chances(wrong, most))
    singles = np.bincount([law.draw() for _ in range(1000)], minlength=most + 1)
    fits(singles, _chances(100, most))


@pytest.mark.parametrize("most", [5, 16, 250])
def test_the_tail_of_a_cut_law_is_safe(most):
    law = CutGeometric(100, most)
    inside = np.cumsum(_chances(100, most))
    for confidence in (0.3, 0.9, 0.999):
        t = law.tail(confidence)
        assert t <= most + 1 << law.width_bits
        assert inside[min(t, most)] >= confidence


def test_the_last_strip_ends_the_partition():
    level = partition(CutGeometric(100, 250), 64)
    assert level.nodes[1][-1] == (0, 0)
    assert 2**64 - level.below[-1] <= 4
    assert all(one.low <= other.low for one, other in pairwise(level.strips))
    assert isinstance(CutGeometric(100, 250).heights(1, 64), Iterator)
