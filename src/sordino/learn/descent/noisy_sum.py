"""The one place where a sum of gradients becomes public: rounded to the grid, noise added in integers, then a mean.

**Guarantee**: as `mechanisms.Gaussian`: the floats of the sum are rounded to whole steps of the grid, exact noise is
added in int64, and what comes back as floats is a function of that. Dividing by the public batch is post-processing.
**Proof.** A float x is rounded to ⌊x + ½⌋ = ⌊(⌊2x⌋ + 1)/2⌋: 2x and its floor are exact in float64, the rest is in
integers. (x + ½ itself is not exact: the float just below ½ would become 1.) Whole numbers below 2⁵² are exact as
float64, too: sums that public numbers keep far below that, and noise below 2³¹, are added there, for the same result.
A float32 below 2⁵¹ is a whole number of 24 bits times 2ᵏ. With k ≥ −53 its sum with ½ is exact in float64; otherwise
it is below 2⁻²⁹ and the sum, however it is rounded, lies between 0 and 1, as it should. So there ⌊x + ½⌋ is computed.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from sordino.accounting.grant import Grant
from sordino.learn.run.plan import Recipe
from sordino.mechanisms.grid import LIMIT
from sordino.mechanisms.mechanism import use_grant

from .noise_ahead import NoiseAhead

_NARROW = 2**51
"""A limit for sums such that they and noise of 32 bits are exact as float64."""

_USUAL = 2**40
"""The sums of usual steps lie below it where that limit is taken: they never come near it."""

_AT_ONCE = 1 << 15
"""Numbers that are rounded at once: they stay in the processor's cache, and torch takes one thread for so few."""


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
        self._exponent = recipe.mechanism.grid.exponent
        self._mean_of_step = 2.0**self._exponent / recipe.sampler.batch
        usual = recipe.sampler.batch * max(1.0, float(recipe.clip)) * 2.0**-self._exponent
        self._limit = _NARROW if usual < _USUAL else LIMIT

    def release(self, total: Tensor, grant: Grant, within: int) -> Tensor:  # noqa: ARG002  (all steps are alike)
        """Return the noisy mean, which takes the place of the sum piece by piece."""
        use_grant(self._mechanism, grant)
        start = 0
        for drawn in self._ahead.pieces():
            noise = torch.from_numpy(drawn)
            for first in range(0, len(noise), _AT_ONCE):
                few = noise[first : first + _AT_ONCE]
                some = total[start + first : start + first + len(few)]
                some.copy_(noisy_steps(some, few, self._exponent, self._limit).mul_(self._mean_of_step))
            start += len(noise)
        return total


def noisy_steps(total: Tensor, noise: Tensor, exponent: int, limit: int) -> Tensor:
    """Return a sum in whole steps with noise added, exactly, and then as float64."""
    if limit > _NARROW or noise.dtype != torch.int32:
        return whole_steps(total, exponent, limit).add_(noise).double()
    if total.dtype == torch.float32 and _are_within(total, limit * 2.0**exponent):
        steps = np.multiply(total.numpy(), 2.0**-exponent, dtype=np.float64)
        steps += 0.5
        return torch.from_numpy(np.add(np.floor(steps, out=steps), noise.numpy(), out=steps))
    return _halves(total, exponent, limit).add_(1).mul_(0.5).floor_().add_(noise)


def _are_within(values: Tensor, limit: float) -> bool:
    """Tell whether all values lie within ± `limit`, and none is NaN."""
    if not len(values):
        return True
    low, high = torch.aminmax(values)
    return bool(-limit <= low) and bool(high <= limit)


def whole_steps(total: Tensor, exponent: int, limit: int) -> Tensor:
    """Return a sum in whole steps of 2^`exponent`, kept within ± `limit`, which moves no two sums further apart."""
    return _halves(total, exponent, limit).to(torch.int64).add_(1).bitwise_right_shift_(1)


def _halves(total: Tensor, exponent: int, limit: int) -> Tensor:
    halves = total.to(torch.float64, copy=True).mul_(2.0 ** (1 - exponent)).floor_()
    return halves.nan_to_num_(nan=0.0).clamp_(-limit, limit)
