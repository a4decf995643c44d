"""The one place where a sum of gradients becomes public: rounded to the grid, noise added in integers, then a mean.

**Guarantee**: as `mechanisms.Gaussian`: the floats of the sum are rounded to whole steps of the grid, exact noise is
added in int64, and what comes back as floats is a function of that. Dividing by the public batch is post-processing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from sordino.accounting.grant import Grant
from sordino.learn.run.plan import Recipe
from sordino.mechanisms.grid import LIMIT
from sordino.mechanisms.mechanism import use_grant

from .noise_ahead import NoiseAhead


class NoisyMean:
    """Turns the exact sum of a step into the noisy mean that leaves."""

    def __init__(self, recipe: Recipe, ahead: NoiseAhead) -> None:
        self._mechanism = recipe.mechanism
        self._ahead = ahead
        self._per_step = 2.0**-recipe.mechanism.grid.exponent
        self._mean_of_step = 2.0**recipe.mechanism.grid.exponent / recipe.sampler.batch

    def release(self, total: Tensor, grant: Grant) -> Tensor:
        """Return the mean of a flat sum, with fresh noise on every number, as float32; uses `grant` up."""
        steps = total.double().mul_(self._per_step).add_(0.5).floor_()
        steps = steps.nan_to_num_(nan=0.0).clamp_(-LIMIT, LIMIT).to(torch.int64)
        use_grant(self._mechanism, grant)
        steps += torch.from_numpy(self._ahead.take())
        return steps.double().mul_(self._mean_of_step).float()
