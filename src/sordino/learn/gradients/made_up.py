"""Made-up batches: inputs of a declared shape from a formula, so that a model can be tried before data is touched."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from sordino.arguments import one_of, shape, whole

_KINDS = {
    "float32": torch.float32,
    "float64": torch.float64,
    "int64": torch.int64,
    "int32": torch.int32,
    "uint8": torch.uint8,
    "bool": torch.bool,
}


_LIMITS = {"uint8": (0, 2**8 - 1), "bool": (0, 1)}
_WIDE = (1 - 2**31, 2**31 - 1)

_PIECE = 1 << 16  # numbers that are made at once: they take eight bytes on the way


@dataclass(frozen=True)
class Field:
    """What one example holds: its shape and the type of its numbers; whole numbers lie in `least`, …, `below` − 1.

    With `any_whole`, whole numbers beyond may come as well: only what is made up lies there.

    >>> Field((2,), "int64", below=10).made_up(2)
    tensor([[7, 4],
            [9, 6]])
    """

    shape: tuple[int, ...] = ()
    kind: str = "float32"
    below: int = 2
    least: int = 0
    any_whole: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", shape("shape", self.shape))
        one_of("kind", self.kind, tuple(_KINDS))
        object.__setattr__(self, "least", whole("least", self.least, least=-(2**31), most=2**31))
        object.__setattr__(self, "below", whole("below", self.below, least=self.least + 1, most=2**31))

    @property
    def is_float(self) -> bool:
        """Whether the numbers are floats."""
        return bool(_KINDS[self.kind].is_floating_point)

    @property
    def is_whole(self) -> bool:
        """Whether the numbers are whole, and not just true or false."""
        return not self.is_float and self.kind != "bool"

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest whole number that are looked for in what may come."""
        return _LIMITS.get(self.kind, _WIDE)

    def made_up(self, count: int, first: int = 0) -> Tensor:
        """Return `count` examples, no two alike, as far as that goes; `first` is the number of the first of them."""
        each = math.prod(self.shape)
        found = torch.empty(count * each, dtype=_KINDS[self.kind])
        for start, piece in zip(range(0, len(found), _PIECE), found.split(_PIECE), strict=True):
            piece.copy_(self._values(first * each + start, len(piece)))
        return found.view(count, *self.shape)

    def _values(self, first: int, count: int) -> Tensor:
        places = torch.arange(first + 1, first + count + 1, dtype=torch.float64)
        fractions = places * (math.sqrt(5) - 1)
        fractions.div_(2).add_(places.mul_(math.sqrt(2)).frac_().div_(4)).frac_()
        if self.is_float:
            return fractions.mul_(2).sub_(1)
        return fractions.mul_(self.below - self.least).floor_().add_(self.least)

    def outside(self, values: Tensor) -> Tensor:
        """Return which rows hold a whole number that an example cannot hold."""
        if self.is_float or self.any_whole or not len(values):
            return torch.zeros(len(values), dtype=torch.bool)
        flat = values.reshape(len(values), -1).long()
        return ((flat < self.least) | (flat >= self.below)).any(1)
