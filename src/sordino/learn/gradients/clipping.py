"""Clipping: from norms to the factor that each unit's gradient is multiplied by.

**Guarantee**: whatever the gradients, each unit's factors times its gradients have a norm of at most the clip, in exact
arithmetic; a unit with a NaN or an infinity anywhere has factors of 0.
**Assumes**: the squared norms are not too small (`rounding`).
**Source**: Abadi et al. 2016 (flat); McMahan et al. 2018 (by layer: each of L layers at clip/√L, as the root of the
summed squares is then the clip); Bu, Wang, Zha, Karypis 2023 (automatic: every gradient is brought near the clip,
C/(‖g‖ + γ), which needs no tuning of the clip beside the learning rate).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from sordino.arguments import one_of, rational, rounded_down
from sordino.errors import ArgumentError

FLAT, LAYER, AUTOMATIC = "flat", "layer", "automatic"

_SAFETY = 1 - 2.0**-48
"""More than what the few operations in float64 between a norm and its factor can round by."""


@dataclass(frozen=True)
class Clipping:
    """How gradients are clipped: to `clip` in all (`flat`), evenly by layer, or by automatic scaling.

    `stability` is the γ of automatic clipping: gradients much smaller than it are not blown up.

    >>> Clipping(1.0).factors([torch.tensor([0.25, 4.0], dtype=torch.float64)])[0]
    tensor([1.0000, 0.5000], dtype=torch.float64)
    """

    clip: float
    kind: str = FLAT
    stability: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "clip", rounded_down(rational("clip", self.clip, above=0)))
        one_of("clipping", self.kind, (FLAT, LAYER, AUTOMATIC))
        object.__setattr__(self, "stability", float(rational("stability", self.stability, above=0)))
        if not 2.0**-60 <= self.clip <= 2.0**60:
            raise ArgumentError(
                "clip must lie between 2^-60 and 2^60: beyond that, floats do not hold gradients and their squares",
                "SRD-A002",
            )

    def parts(self, names: Iterable[str]) -> dict[str, int]:
        """Return to which part, counted from 0, each parameter belongs: parameters of a part are clipped together."""
        if self.kind != LAYER:
            return dict.fromkeys(names, 0)
        found: dict[str, int] = {}
        return {name: found.setdefault(name.rpartition(".")[0], len(found)) for name in names}

    def factors(self, squares: list[Tensor]) -> list[Tensor]:
        """Return the factors of all units for each part, from the squared norms of the parts."""
        share = self.clip / math.sqrt(len(squares)) * _SAFETY
        norms = [square.sqrt() for square in squares]
        fit = torch.stack(norms).isfinite().all(0)
        if self.kind == AUTOMATIC:
            wanted = [share / (norm + self.stability) for norm in norms]
        else:
            wanted = [(share / norm).clamp(max=1) for norm in norms]
        return [torch.where(fit, factor * _SAFETY if self.kind == AUTOMATIC else factor, 0) for factor in wanted]
