"""Augmented views of examples: each example is shown to the model in several forms, whose gradients are averaged.

**Guarantee**: the mean over an example's views is clipped as one gradient, so views do not change what a unit can move.
**Proof**: the function that makes a view is called with one example at a time, so a view is a function of that example
and of fresh randomness, which is public; the rest is `ClippedGradients` with its `views`.
**Assumes**: the function keeps nothing of what it sees.
**Source**: De, Berrada, Hayes, Smith, Balle 2022, section 3.2 (augmentation multiplicity).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sordino.arguments import whole
from sordino.errors import ArgumentError
from sordino.learn.gradients.made_up import Field

Augment = Callable[..., Any]
"""From one example's inputs to another view of them, of the same shapes and types: a tensor, or a tuple of several."""


@dataclass(frozen=True)
class Views:
    """How many views of each example there are, and what makes one; none of it if nothing does."""

    count: int = 1
    augment: Augment | None = None

    @classmethod
    def of(cls, count: int, augment: Augment | None, inputs: tuple[Field, ...]) -> Views:
        """Return views as a user asks for them, after the function was tried on a made-up example."""
        number = whole("views", count, least=1, most=2**16)
        if augment is None:
            if number > 1:
                raise ArgumentError(
                    "views of an example differ by what augment=… does to it, a function from one example's inputs to "
                    "another view of them; give it, or leave views out",
                    "SRD-A003",
                )
            return cls()
        made = cls(number, augment)
        alone = tuple(field.made_up(1) for field in inputs)
        try:
            made.shown(alone)
        except Exception as error:  # it has seen nothing but made-up numbers, so its words may be told
            raise ArgumentError(
                f"augment cannot be used: on a made-up example it fails with {type(error).__name__}; it takes one "
                "example's inputs, without a batch, and returns as many of the same shapes and types",
                "SRD-T107",
            ) from error
        return made

    def shown(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return for each example its views: (examples, views, …), without the second dimension if there is one."""
        if self.augment is None:
            return inputs
        found = tuple(each.new_empty((len(each), self.count, *each.shape[1:])) for each in inputs)
        for place in range(len(inputs[0])):
            for view in range(self.count):
                made = self._one(tuple(each[place] for each in inputs))
                for whole_part, part in zip(found, made, strict=True):
                    whole_part[place, view] = _same(part, whole_part[place, view])
        return found if self.count > 1 else tuple(each[:, 0] for each in found)

    def _one(self, example: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        assert self.augment is not None  # noqa: S101  (asked by whoever has one)
        made = self.augment(*(each.clone() for each in example))
        return made if isinstance(made, tuple) else (made,)


def _same(part: Any, like: Tensor) -> Tensor:
    """Return a view's part if it is of the shape and type that it must have; torch would stretch or cast it."""
    if not isinstance(part, torch.Tensor) or part.shape != like.shape or part.dtype != like.dtype:
        raise TypeError("another shape or type")
    return part
