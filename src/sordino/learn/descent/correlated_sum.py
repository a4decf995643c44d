"""Correlated noise: what leaves of a step is decoded from yₜ = Σⱼ cⱼ·xₜ₋ⱼ + zₜ, in whole numbers, and nothing else.

**Guarantee**: as ``run/correlation.py`` says: y is a Gaussian mechanism on Cx, and the decoded sum of a step, x̂ₜ with
c₀·x̂ₜ = yₜ − Σⱼ cⱼ·x̂ₜ₋ⱼ over j ≥ 1, is a function of y and of public numbers. A new reservation begins a new block, with
no past.
**Assumes**: the past sums, which are as secret as data, stay in this object: it is never written anywhere.
Decoding does not blow up the rounding of its floats: a column that does not increase has a series without zeros inside
the unit disc (Eneström, Kakeya), so its inverse does not grow exponentially.
"""

from __future__ import annotations

from collections import deque

import torch
from torch import Tensor

from sordino.accounting.grant import Grant
from sordino.learn.run.plan import Recipe
from sordino.mechanisms.grid import LIMIT
from sordino.mechanisms.mechanism import use_grant

from .noise_ahead import NoiseAhead
from .noisy_sum import whole_steps


class CorrelatedMean:
    """Noise that cancels along a band of steps."""

    def __init__(self, recipe: Recipe, ahead: NoiseAhead) -> None:
        self._mechanism = recipe.mechanism
        self._ahead = ahead
        self._column = recipe.correlation.column
        self._mean_of_step = 2.0**recipe.mechanism.grid.exponent / recipe.sampler.batch
        self._limit = LIMIT // sum(self._column)  # so that Cx stays within the limit
        self._past: deque[Tensor] = deque(maxlen=len(self._column) - 1)
        self._decoded: deque[Tensor] = deque(maxlen=len(self._column) - 1)

    def release(self, total: Tensor, grant: Grant, within: int) -> Tensor:
        """Return the noisy mean, decoded; the first step of a reservation forgets all before it."""
        if within == 0:
            self._past.clear()
            self._decoded.clear()
        steps = whole_steps(total, self._mechanism.grid.exponent, self._limit)
        use_grant(self._mechanism, grant)
        first, *later = self._column
        noisy = torch.from_numpy(self._ahead.take()).add_(steps, alpha=first)
        for weight, past in zip(later, self._past, strict=False):
            noisy.add_(past, alpha=weight)
        self._past.appendleft(steps)
        return self._decode(noisy.double()).mul(self._mean_of_step).float()

    def _decode(self, noisy: Tensor) -> Tensor:
        """Return the sum of the step with its noise, from what was released: post-processing."""
        first, *later = self._column
        for weight, past in zip(later, self._decoded, strict=False):
            noisy.sub_(past, alpha=weight)
        found = noisy.div_(first)
        self._decoded.appendleft(found)
        return found
