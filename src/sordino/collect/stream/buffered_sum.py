"""Buffered Toeplitz noise on whole numbers: Cx rounded to the grid before its noise, the rounding paid for.

Time is cut into chunks of 128 steps. What the chunks before left is kept in one whole number for each buffer; within a
chunk what arrived is kept as it is. So what is measured does not depend on the batches in which it came.
    Sᵢ ← ⌊aᵢ·Sᵢ⌋ + Σⱼ Qᵢⱼ·xⱼ     once a chunk, in integers of any size (Sᵢ counts 2^−q units)
    yₜ = r(Σⱼ cⱼ·xₜ₋ⱼ + 2^−q·Σᵢ Pᵢₖ·Sᵢ)    over the steps j of its own chunk, k steps after its begin, in floats
with aᵢ, Qᵢⱼ, cⱼ, Pᵢₖ equal to θᵢ^128, 2^q·θᵢ^(128−j), Σ ωᵢθᵢʲ, ωᵢθᵢᵏ *rounded down*, and r to whole steps of the grid.

**Guarantee**: with C the Toeplitz matrix of `Exponentials`, a person who moves x by w moves y by at most
√`moved_squared`. *Proof.* (1) Without its roundings y would be C̃x, and 0 ≤ C̃ₜⱼ ≤ c_{t−j} for every entry, as each
factor is rounded down; so ‖C̃w‖ ≤ ‖C|w|‖, which ``people.py`` bounds. (2) Each ⌊·⌋ moves two streams apart by less than
1, so their Sᵢ are apart from what is linear by less than 1/(1 − aᵢ), and y by less than D = 2^−q·Σ ωᵢ/(1 − aᵢ) for it.
(3) A sum of n products in floats is off by at most γₙ times the sum of their absolute values, γₙ = nu/(1 − nu),
u = 2^−53, in any order (Higham 2002, section 3.1), and these are bounded as |x| ≤ `most`: by E, for each stream.
(4) r moves two numbers apart by at most a step g. Cells that a person does not touch are equal to the last bit. By
Minkowski, over T steps and m cells that are touched: ‖Δy‖ ≤ ‖C|w|‖ + √(Tm)·(g + D + 2E).
**Assumes**: floats are IEEE doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import rounded_down
from sordino.errors import ArgumentError
from sordino.mechanisms.grid import LIMIT, Grid, floor_log2, root_rounded_up

from . import toeplitz
from .averages import averaged
from .buffered import Exponentials, fitted
from .people import Arrivals
from .strategy import Real, State, Whole

CHUNK = 128
_DECAY_BITS = 96
_SLACK = 1 + Fraction(1, 2**30)
"""Covers the floats of a column and of its norm: fewer than 2^23 roundings of 2^-53 each."""
_FINENESS = 14
"""Rounding to the grid adds no more than 2^-14 of what a person moves."""
_MOST_PAID = Fraction(1, 16)
"""Streams whose roundings would add more than this to what a person moves are refused."""


@dataclass(frozen=True)
class Tables:
    """All that is multiplied with: public numbers, each rounded down."""

    within: Real
    """cⱼ as a lower triangular matrix over a chunk."""
    after: Real
    """Pᵢₖ, a row for each step k of a chunk."""
    arriving: NDArray[np.int64]
    """Qᵢⱼ in two halves of so many bits each: the upper, then the lower."""
    decays: NDArray[Any]
    """aᵢ in units of 2^−96, as whole numbers of any size."""
    half: int


@dataclass(frozen=True)
class Buffered:
    """Noise that cancels over all steps, along a sum of exponentials."""

    steps: int
    shape: Exponentials

    @classmethod
    def over(cls, steps: int, buffers: int, horizon: int | None = None) -> Buffered:
        """Return the strategy for so many steps, fitted to the square root over them or over a shorter horizon."""
        return cls(steps, fitted(max(2, min(steps, horizon or steps)), buffers))

    @property
    def most_measured(self) -> int:
        """One measurement a step."""
        return self.steps

    def exponent(self, arrivals: Arrivals) -> int:
        """Return the coarsest grid on which rounding costs next to nothing."""
        return _exponent(self, arrivals)

    def moved_squared(self, arrivals: Arrivals) -> Fraction:
        """Return the bound of the module's proof."""
        step = Grid(self.exponent(arrivals)).step
        linear = _linear(self, arrivals)
        paid = _root_of_steps(self, arrivals) * (step + self._floors(arrivals) + 2 * self._floats(arrivals))
        if paid > linear * _MOST_PAID or self._largest(arrivals, self.steps) > LIMIT * step:
            raise ArgumentError(
                "a step may hold so much, against what one person adds, that sums of it in floats would need far more "
                "noise; declare fewer events a step by most=…, or fewer steps",
                "SRD-C506",
            )
        return (linear + paid) ** 2

    def rounding(self, arrivals: Arrivals) -> float:
        """Return a step for the grid and for the floors and floats of the sums."""
        step = Grid(self.exponent(arrivals)).step
        return float(1 + (self._floors(arrivals) + 3 * self._floats(arrivals)) / step)

    def begin(self, arrivals: Arrivals) -> tuple[State, State]:
        """Return empty buffers."""
        sums = np.zeros((len(self.shape.decays), arrivals.cells), dtype=object)
        averages = np.zeros((len(self.shape.decays), arrivals.cells))
        return {"sums": sums, "chunk": np.zeros((0, arrivals.cells), dtype=np.int64)}, {"averages": averages}

    def encode(self, arrivals: Arrivals, state: State, taken: int, counts: Whole) -> tuple[Whole, State]:
        """Return Cx in whole steps of the grid; see the module."""
        tables, before = _tables(self.shape, _half(arrivals)), taken % CHUNK
        whole = np.concatenate([state["chunk"], counts])
        full, chunks = len(whole) // CHUNK, -(-len(whole) // CHUNK)
        padded = np.zeros((chunks * CHUNK, arrivals.cells), dtype=np.int64)
        padded[: len(whole)] = whole
        blocks = padded.reshape(chunks, CHUNK, arrivals.cells)
        starts, sums = _carried(tables, state["sums"], blocks, full)
        measured = _times(tables.within, blocks) + np.matmul(tables.after, starts)
        rows = measured.reshape(-1, arrivals.cells)[before : before + len(counts)]
        steps: Whole = _grid(_exponent(self, arrivals)).to_steps(np.ascontiguousarray(rows))
        return steps, {"sums": sums, "chunk": whole[full * CHUNK :]}

    def decode(self, arrivals: Arrivals, state: State, taken: int, steps: int, noisy: Whole) -> tuple[Real, State]:  # noqa: ARG002
        """Return the totals: exponential averages of what was measured."""
        real = noisy.astype(np.float64) * 2.0 ** self.exponent(arrivals)
        totals, averages = averaged(self.shape, state["averages"], real)
        return totals, {"averages": averages}

    def deviations(self, window: int | None) -> Real:
        """Return the deviation of each step's total for noise of 1."""
        return toeplitz.deviations(self.shape.response(self.steps), window)

    def reaches(self, window: int | None) -> Real:
        """Return Σ|h|."""
        return toeplitz.reaches(self.shape.response(self.steps), window)

    def _largest(self, arrivals: Arrivals, steps: int) -> Fraction:
        """Return a bound of |Cx| for what arrived in so many steps: `most` times the sum of the column."""
        pairs = zip(self.shape.decays, self.shape.weights, strict=True)
        sums = (Fraction(weight) * min(Fraction(steps), 1 / (1 - Fraction(decay))) for decay, weight in pairs)
        return arrivals.most * sum(sums, Fraction(0))

    def _floors(self, arrivals: Arrivals) -> Fraction:
        """Return D, or a little more: 1 − θ is less than 1 − θ^128."""
        pairs = zip(self.shape.decays, self.shape.weights, strict=True)
        slow = (Fraction(weight) / (1 - Fraction(decay)) for decay, weight in pairs)
        return sum(slow, Fraction(0)) / Fraction(4) ** _half(arrivals)

    def _floats(self, arrivals: Arrivals) -> Fraction:
        """Return E, with a few roundings more than there are: of 128 products, and of one for each buffer."""
        within = self._largest(arrivals, min(self.steps, CHUNK))
        before = self._largest(arrivals, self.steps) + self._floors(arrivals)
        return _gamma(CHUNK + 4) * within + _gamma(len(self.shape.decays) + 4) * before


def _gamma(roundings: int) -> Fraction:
    return Fraction(roundings, 2**53 - roundings)


def _half(arrivals: Arrivals) -> int:
    """Return how many bits fit beside what arrives, so that a chunk's sum of products stays within int64."""
    return 54 - arrivals.most.bit_length()


@lru_cache(maxsize=256)
def _linear(strategy: Buffered, arrivals: Arrivals) -> Fraction:
    """Return ‖C|w|‖ for the worst person, rounded up."""
    worst = arrivals.worst(strategy.shape.column(strategy.steps))
    return root_rounded_up(Fraction(float(np.sum(np.square(worst)))) * arrivals.each**2) * _SLACK


@lru_cache(maxsize=256)
def _exponent(strategy: Buffered, arrivals: Arrivals) -> int:
    return floor_log2(_linear(strategy, arrivals) / _root_of_steps(strategy, arrivals)) - _FINENESS


_grid = lru_cache(maxsize=64)(Grid)


def _root_of_steps(strategy: Buffered, arrivals: Arrivals) -> Fraction:
    return root_rounded_up(Fraction(strategy.steps * arrivals.moved_cells))


def _carried(tables: Tables, sums: NDArray[Any], blocks: NDArray[np.int64], full: int) -> tuple[Real, NDArray[Any]]:
    """Return the buffers at the begin of each chunk, in units, and exactly after those that are full.

    In Python's own integers, as they are larger than int64: one multiplication for each buffer and cell of a chunk.
    """
    decays = tables.decays.repeat(sums.shape[1]).tolist()
    halves = np.matmul(tables.arriving[:, None], blocks[None, :full]).reshape(2, full, sums.size).tolist()
    now, starts, half = sums.ravel().tolist(), [], tables.half
    for upper, lower in zip(*halves, strict=True):
        starts.append(now)
        rows = zip(decays, now, upper, lower, strict=True)
        now = [(decay * held >> _DECAY_BITS) + (high << half) + low for decay, held, high, low in rows]
    after = np.array(now, dtype=object).reshape(sums.shape)
    begun = np.array([*starts, now][: len(blocks)], dtype=np.float64).reshape(-1, *sums.shape)
    return begun * 2.0 ** (-2 * half), after


def _times(matrix: Real, blocks: NDArray[np.int64]) -> Real:
    """Return the matrix times every chunk, as one product."""
    chunks, size, cells = blocks.shape
    flat = blocks.transpose(1, 0, 2).reshape(size, chunks * cells).astype(np.float64)
    product: Real = (matrix @ flat).reshape(size, chunks, cells).transpose(1, 0, 2)
    return product


@lru_cache(maxsize=64)
def _tables(shape: Exponentials, half: int) -> Tables:
    powers = [[Fraction(decay) ** place for place in range(CHUNK + 1)] for decay in shape.decays]
    weights = [Fraction(weight) for weight in shape.weights]
    column = [
        rounded_down(sum((w * p[k] for w, p in zip(weights, powers, strict=True)), Fraction(0))) for k in range(CHUNK)
    ]
    within = np.array([[column[k - j] if k >= j else 0.0 for j in range(CHUNK)] for k in range(CHUNK)])
    after = np.array([[rounded_down(w * p[k]) for w, p in zip(weights, powers, strict=True)] for k in range(CHUNK)])
    arriving = [[math.floor(p[CHUNK - j] * 4**half) for j in range(CHUNK)] for p in powers]
    halves = np.array(
        [[[q >> half for q in row] for row in arriving], [[q % 2**half for q in row] for row in arriving]]
    )
    decays = np.array([[math.floor(p[CHUNK] * 2**_DECAY_BITS)] for p in powers], dtype=object)
    return Tables(within, after, halves.astype(np.int64), decays, half)
