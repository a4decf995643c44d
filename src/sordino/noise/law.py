"""What every law of noise is: a frozen value that can be drawn from, exactly.

A law stores its exact parameters and knows its weight on the integers as enclosures. Sampling is the business of
`strips`; what a law must add is a reason why its weight is log-concave, and `ratio`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import astuple
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number, probability, rational, shape, shown
from sordino.errors import ArgumentError

from .enclosure import Enclosure
from .keystream import SOURCE
from .partition import Floats
from .strips import Fitting, Table, table
from .tail import radius

Shape = int | tuple[int, ...]

SMALLEST_SCALE = Fraction(1, 1000)
LARGEST_SCALE = Fraction(2**50)
_LEAST_TAIL = Fraction(1, 2**200)


def scale_within(name: str, value: Number, power: int) -> Fraction:
    """Return `value` exactly, if it is between the `power`-th powers of the smallest and the largest scale of noise."""
    exact = rational(name, value, above=0)
    if exact < SMALLEST_SCALE**power:
        raise ArgumentError(
            f"{name} must be at least 1/{1000**power}, not {shown(value)}: less noise is none; use a finer grid",
            "SRD-A002",
        )
    if exact > LARGEST_SCALE**power:
        raise ArgumentError(
            f"{name} must be at most 2**{50 * power}, not {shown(value)}: more would leave int64; use a coarser grid",
            "SRD-A002",
        )
    return exact


class Drawable(ABC):
    """A distribution on the integers, with parameters that are exact numbers; equal parameters make equal laws."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of one draw."""

    @abstractmethod
    def tail(self, confidence: Number) -> int:
        """Return t with P[|X| ≤ t] ≥ `confidence`: the smallest such t, or one that is larger by 0.1 % or less."""

    @abstractmethod
    def _one(self) -> int: ...

    @abstractmethod
    def _many(self, size: int) -> NDArray[np.int64]: ...

    @overload
    def draw(self) -> int: ...

    @overload
    def draw(self, size: None) -> int: ...

    @overload
    def draw(self, size: Shape) -> NDArray[np.int64]: ...

    def draw(self, size: Shape | None = None) -> int | NDArray[np.int64]:
        """Return one draw as an int, or an int64 array of independent draws of that shape.

        **Guarantee**: exactly this law, from the operating system's entropy; see `partition` for the proof.
        """
        if size is None:
            return self._one()
        sizes = shape("size", size)
        return self._many(math.prod(sizes)).reshape(sizes)

    def fitting(self, size: int) -> Fitting:
        """Return so many independent draws as `draw` does, in int32 where that is known to hold them, else in int64."""
        return self._many(size)

    def __reduce__(self) -> tuple[Any, ...]:
        # The table is rebuilt where the law arrives: it holds no randomness and is larger than the parameters.
        return type(self), astuple(self)  # type: ignore[call-overload]


class Law(Drawable):
    """A log-concave law, drawn by the strip method."""

    fineness: ClassVar[int] = 6
    """Blocks are narrow enough that 2**fineness or more of them span the law's scale."""
    symmetric: ClassVar[bool] = False
    """Whether the law is the same on both sides of its mode."""

    @property
    @abstractmethod
    def mode(self) -> int:
        """An integer of greatest probability."""

    @property
    @abstractmethod
    def spread(self) -> int:
        """The whole part of the law's scale or standard deviation."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest integer that can be drawn; None where there is no limit."""
        return None, None

    @abstractmethod
    def ratio(self, x: int, origin: int, bits: int) -> Enclosure:
        """Return an enclosure of P[x]/P[origin], both in the support, x on the far side of origin from the mode."""

    @cached_property
    def width_bits(self) -> int:
        """The logarithm of the width of a block."""
        return max(0, self.spread.bit_length() - 1 - self.fineness)

    def heights(self, direction: int, bits: int) -> Iterator[Enclosure]:
        """Yield enclosures of P[node]/P[mode] for the nodes mode + direction·i·2**width_bits, i = 0, 1, …"""
        end = self.support[direction > 0]
        yield 1 << bits, 1 << bits
        for block in count(1):
            node = self.mode + direction * (block << self.width_bits)
            if end is not None and direction * (node - end) > 0:
                yield 0, 0
                return
            yield self.ratio(node, self.mode, bits)

    def falls(self, node: NDArray[np.int64], beyond: NDArray[np.int64]) -> tuple[Floats, Floats] | None:  # noqa: ARG002
        """Return None: without more knowledge of a law, only log-concavity bounds it between nodes."""
        return None

    def tail(self, confidence: Number) -> int:
        """Return t with P[|X| ≤ t] ≥ `confidence`: the smallest such t, or one that is larger by 0.1 % or less."""
        return radius(self, beyond(confidence))

    @cached_property
    def _table(self) -> Table:
        return table(self)

    def _one(self) -> int:
        return self._table.draw(SOURCE)

    def _many(self, size: int) -> NDArray[np.int64]:
        return self.fitting(size).astype(np.int64, copy=False)

    def fitting(self, size: int) -> Fitting:
        """See `Drawable`."""
        return self._table.draws(size, SOURCE)


def beyond(confidence: Number) -> Fraction:
    """Return one minus the confidence, exactly."""
    rest = 1 - probability("confidence", confidence)
    if rest < _LEAST_TAIL:
        raise ArgumentError("confidence must be at most 1 - 2**-200; ask for less certainty", "SRD-A002")
    return rest
