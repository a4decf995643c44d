"""The one place where a sum of gradients becomes public: rounded to the grid, noise added in integers, then a mean.

**Guarantee**: as `mechanisms.Gaussian`: the floats of the sum are rounded to whole steps of the grid, exact noise is
added in int64, and what comes back as floats is a function of that. Dividing by the public batch is post-processing.
**Proof.** A float x is rounded to ⌊x + ½⌋ = ⌊(⌊2x⌋ + 1)/2⌋: 2x and its floor are exact in float64, the rest is in
integers. (x + ½ itself is not exact: the float just below ½ would become 1.)
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from sordino.accounting.grant import Grant
from sordino.learn.run.plan import Recipe
from sordino.mechanisms.grid import LIMIT
from sordino.mechanisms.mechanism import use_grant

from .noise_ahead import NoiseAhead


class Noisy(Protocol):
    """Turns the exact sum of a step into the noisy mean that leaves."""

    def release(self, total: Tensor, grant: Grant, within: int) -> Tensor:
        """Return the mean of a flat sum, with noise on every number; uses `grant` up, and the memory of the sum.

        `within` is the number of the step within what was charged at once.
        """
        ...


class NoisyMean:
    """Fresh noise for every step."""

    def __init__(self, recipe: Recipe, ahead: NoiseAhead) -> None:
        self._mechanism = recipe.mechanism
        self._ahead = ahead
        self._mean_of_step = 2.0**recipe.mechanism.grid.exponent / recipe.sampler.batch

    def release(self, total: Tensor, grant: Grant, within: int) -> Tensor:  # noqa: ARG002  (all steps are alike)
        """Return the noisy mean, which takes the place of the sum piece by piece."""
        use_grant(self._mechanism, grant)
        start = 0
        for noise in self._ahead.pieces():
            some = total[start : start + len(noise)]
            steps = whole_steps(some, self._mechanism.grid.exponent, LIMIT).add_(torch.from_numpy(noise))
            some.copy_(steps.double().mul_(self._mean_of_step))
            start += len(noise)
        return total


def whole_steps(total: Tensor, exponent: int, limit: int) -> Tensor:
    """Return a sum in whole steps of 2^`exponent`, kept within ± `limit`, which moves no two sums further apart."""
    halves = total.double().mul_(2.0 ** (1 - exponent)).floor_()
    halves = halves.nan_to_num_(nan=0.0).clamp_(-limit, limit).to(torch.int64)
    return halves.add_(1).bitwise_right_shift_(1)
