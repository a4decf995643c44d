"""How the noise of a training's steps hangs together: not at all, or along a band of whole numbers (DP-FTRL).

What leaves of step t is a function of yₜ = Σⱼ cⱼ·xₜ₋ⱼ + zₜ, where x are the sums of the steps in whole steps of the
grid, c is a column of whole numbers and z is fresh noise; sums before the block count as 0. Decoding x̂ = C⁻¹y gives
each step's sum with noise C⁻¹z, which cancels over steps: sums of many steps, which is what weights are, have less of
it than with independent noise of the same ε.

**Guarantee**: a block is one Gaussian on Cx, as its sampler says (``sampling.py``; the proof is in
``accounting/correlated.py``). All of it is whole numbers, so what can come out does not depend on data (a strategy of
real numbers would show by its support which sums are possible).
**Assumes**: blocks are charged whole and never cut: what is left of one after a crash is lost, and the next step begins
a new block. The past sums that a block needs are secret; they are kept in memory alone, so no file can leak them.
**Source**: Denisov, McMahan, Rush, Smith, Thakurta 2022 (adaptive streams); Choquette-Choo, Ganesh, McKenna, McMahan,
Rush, Thakurta, Xu 2023, *(Amplified) banded matrix factorization*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from sordino.accounting.event import Event
from sordino.accounting.events import Composed, Gaussian, Repeated
from sordino.arguments import whole
from sordino.errors import ArgumentError

from .sampling import Column, Sampler


class Correlation(Protocol):
    """How noise hangs together: public."""

    @property
    def column(self) -> Column:
        """What of the steps before is added to each step before its noise."""
        ...

    def gain(self, sampler: Sampler) -> int:
        """Return the squared factor by which noise is larger than a multiplier says, as more is added than one sum."""
        ...

    def event(self, sampler: Sampler, step: Gaussian, steps: int) -> Event:
        """Return what `steps` steps run, where `step` is the noise against what a unit moves one sum by."""
        ...


@dataclass(frozen=True)
class Independent:
    """Fresh noise in every step."""

    column: ClassVar[Column] = (1,)

    def gain(self, sampler: Sampler) -> int:  # noqa: ARG002  (whatever the sampler is)
        """Return 1."""
        return 1

    def event(self, sampler: Sampler, step: Gaussian, steps: int) -> Event:
        """Return the sampler's steps."""
        return sampler.event(step, steps)


@dataclass(frozen=True)
class InBlocks:
    """Noise on Cx, in blocks of `block` steps that know nothing of each other."""

    column: Column
    block: int

    def gain(self, sampler: Sampler) -> int:
        """Return how far a unit can move a block (or one of its steps, where steps are sampled), squared."""
        return _spaced(sampler).gain(self.block, self.column)

    def event(self, sampler: Sampler, step: Gaussian, steps: int) -> Event:
        """Return the blocks, one after the other, and what is left."""
        spaced = _spaced(sampler)
        full, rest = divmod(steps, self.block)
        blocks: list[Event] = []
        if full:
            whole_block = spaced.block(step, self.block, self.column)
            blocks.append(whole_block if full == 1 else Repeated(whole_block, full))
        if rest:
            blocks.append(spaced.block(step, rest, self.column))
        return blocks[0] if len(blocks) == 1 else Composed(tuple(blocks))


@dataclass(frozen=True)
class Banded:
    """What a user says about correlated noise; build it with `banded`."""

    bands: int | None = None
    column: Column | None = None


def banded(bands: int | None = None, *, coefficients: Sequence[int] | None = None) -> Banded:
    """Return noise that is correlated along a band, for `correlation=`.

    Args:
        bands: over how many steps noise cancels; found for the least error of the weights if left out.
        coefficients: the band itself, as whole numbers that do not increase; that of a power of summation if left out,
            the best for the number of steps.

    >>> banded(8).bands
    8
    """
    count = None if bands is None else whole("bands", bands, least=1, most=10_000)
    if coefficients is None:
        return Banded(count)
    column = tuple(whole("coefficients", each, least=0) for each in coefficients)
    if not column or not column[0] or list(column) != sorted(column, reverse=True) or count not in (None, len(column)):
        raise ArgumentError(
            "coefficients must be whole numbers that begin above 0 and do not increase, as many as bands", "SRD-A003"
        )
    return Banded(len(column), column)


@runtime_checkable
class _Spaced(Sampler, Protocol):
    """A sampler under which it is known how often, and how far apart, a unit comes."""

    def block(self, step: Gaussian, steps: int, column: Column) -> Event: ...

    def gain(self, steps: int, column: Column) -> int: ...


def _spaced(sampler: Sampler) -> _Spaced:
    if isinstance(sampler, _Spaced):
        return sampler
    raise ArgumentError(
        'correlated noise needs steps of one unit that are known to be apart: take sampling="separated", or '
        'sampling="poisson", which then draws over bands',
        "SRD-A003",
    )
