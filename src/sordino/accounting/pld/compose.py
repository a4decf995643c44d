"""Sums of independent grid laws by the fast Fourier transform, tilted, with a bound on all errors.

Each factor is an exponentially tilted (Esscher 1932) law on the integers, normalized. Under the tilt the composed law
is centred where the answer lies, so that round-off and truncation are relative to the tail in question and not to 1.

**Guarantee**: the true composed law differs from `Composed.masses` by a vector whose 2-norm is at most `error`, plus
what wraps around, whose total is bounded by `strays`. Round-off: an FFT of size N computes each output as a tree of
log₂N levels of additions and twiddle products, hence with an error of at most η = 16·u·log₂(2N) times the sum of
absolute inputs (Higham 2002, §24.1, with room for the library's radices). If |F̂ − F| ≤ η, then F̂ⁿ is off by at most
(|F̂|+η)ⁿ − |F̂|ⁿ, likewise for products; by Parseval's identity the 2-norm of that over all frequencies, divided by √N,
is the 2-norm of the error of the law. Wrap-around: Chernoff's bound from the factors themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from sordino.accounting.curve import Floats

EXTENDED = bool(np.finfo(np.longdouble).eps < np.finfo(np.float64).eps)
"""Whether long doubles have more digits than floats on this machine; where they do not, brackets stay wide."""
_CHEAP = 2**14
_FEW = 24  # transforms of full size
_NEGLIGIBLE = 1e-39  # a spectrum's entry that is left out, and counted as an error


@dataclass(frozen=True)
class Factor:
    """A normalized law on first, first+1, …, taken `count` times; `slack` bounds the sum of its absolute errors."""

    first: int
    masses: Floats
    count: int = 1
    slack: float = 0.0

    @cached_property
    def log_masses(self) -> Floats:
        """The logarithms of the masses."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.masses)
        return logs

    @property
    def length(self) -> int:
        """How many values the sum of all `count` copies can take."""
        return self.count * (len(self.masses) - 1) + 1


@dataclass(frozen=True)
class Window:
    """The indices first, …, first + size − 1 on which a composed law is computed."""

    first: int
    size: int


@dataclass(frozen=True)
class Composed:
    """The composed law on a window, with its error bounds, of which two are logarithms.

    `log_before` bounds all that lies to the left of the window, `log_beyond` all to the right; further to the right, by
    k indices, the bound is `log_beyond` − `rate`·k.
    """

    window: Window
    masses: Floats
    error: float
    log_before: float
    log_beyond: float
    rate: float

    def strays(self, offsets: Floats) -> Floats:
        """Return bounds on what is not in the window and wraps around to the given offsets in it, or to the right."""
        wrapped: Floats = np.exp(self.log_before) + np.exp(np.minimum(self.log_beyond - self.rate * offsets, 0.0))
        return wrapped


def window_for(factors: Sequence[Factor], low: int, high: int) -> Window:
    """Return a window that holds all values, if that is cheap, or else those from `low` to `high`."""
    length = sum(factor.length - 1 for factor in factors) + 1
    if length <= max(high - low + 1, _CHEAP):
        return Window(
            sum(factor.count * factor.first for factor in factors), scipy.fft.next_fast_len(length, real=True)
        )
    return Window(low, scipy.fft.next_fast_len(high - low + 1, real=True))


def compose(
    factors: Sequence[Factor], window: Window, left: float, right: float, *, extended: bool = False
) -> Composed:
    """Return the law of the sum of all factors, each taken `count` times, on the window.

    `left` < 0 < `right` are further tilts, per index, for Chernoff's bound on what lies outside. A single law is
    returned as it is, whole. `extended` transforms in long doubles, some ten times slower: for many runs whose rare
    large losses no tilt brings near the rest, so that round-off in the bulk, times the runs, would hide a small δ.
    """
    if len(factors) == 1 and factors[0].count == 1:
        (only,) = factors
        return Composed(Window(only.first, len(only.masses)), only.masses, only.slack, -math.inf, -math.inf, right)
    lowest = sum(factor.count * factor.first for factor in factors)
    end = window.first + window.size
    below = -math.inf if lowest >= window.first else _log_chernoff(factors, left, window.first - 1)
    highest = lowest + sum(factor.length - 1 for factor in factors)
    above = -math.inf if highest < end else _log_chernoff(factors, right, end)
    roots = _grouped(factors, window.size) if len(factors) > _FEW else list(factors)
    masses, error = _convolved(roots, window, np.longdouble if extended else np.float64)
    possible = Window(window.first, min(end, highest + 1) - window.first)
    return Composed(possible, masses[: possible.size], error, min(below, 0.0), above, right)


def _convolved(factors: Sequence[Factor], window: Window, real: type[np.floating[Any]]) -> tuple[Floats, float]:
    """Return the composed law modulo the window's size, and a bound on the 2-norm of its error; computed in `real`s."""
    size, rounding = window.size, _rounding(window.size, real)
    kept = np.arange(size // 2 + 1)
    product, bound = np.ones(len(kept), dtype=np.result_type(real, np.complex64)), np.ones(len(kept), dtype=real)
    centre = 0
    for factor in sorted(factors, key=lambda factor: -factor.length):
        middle = factor.first + int(np.argmax(factor.masses))
        centre += factor.count * middle
        spectrum = scipy.fft.rfft(_folded(factor.masses, factor.first - middle, size).astype(real))[kept]
        bound *= (np.abs(spectrum) + (rounding + factor.slack)) ** factor.count
        # powers of what will be left out need not be taken
        large = bound > _NEGLIGIBLE
        kept, bound = kept[large], bound[large]
        product = product[large] * _power(spectrum[large], factor.count)
    whole = np.zeros(size // 2 + 1, dtype=product.dtype)
    whole[kept] = product
    masses = np.roll(scipy.fft.irfft(whole, size), centre - window.first).astype(np.float64)
    return masses, _norm(bound - np.abs(product) + rounding * bound, size) + _NEGLIGIBLE


def _norm(errors: Floats, size: int) -> float:
    """Return the 2-norm of a law's error from bounds on the errors of half of its spectrum."""
    return math.sqrt(2 * float(errors @ errors) / size)


def _rounding(size: int, real: type[np.floating[Any]] = np.float64) -> float:
    """Return η of a transform of `size`, in units of which the type's own roundoff is one sixteenth a level."""
    return 16 * float(np.finfo(real).eps) / 2 * math.log2(2 * size)


def _power(spectrum: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the entries to the power of `count`, by their logarithms, whose rounding `_rounding` covers."""
    if count == 1:
        return spectrum
    sizes = np.maximum(np.abs(spectrum), 1e-300)
    powers: NDArray[Any] = np.exp(count * (np.log(sizes) + 1j * np.angle(spectrum)))
    return powers


def _folded(masses: Floats, first: int, size: int) -> Floats:
    """Return the law modulo `size`."""
    padded = np.zeros(-(-len(masses) // size) * size)
    padded[: len(masses)] = masses
    return np.roll(padded.reshape(-1, size).sum(axis=0), first)


def _log_chernoff(factors: Sequence[Factor], tilt: float, index: int) -> float:
    """Return ln of a bound on the law from `index` on, to the right for a positive tilt, to the left otherwise."""
    exponent = 1e-9 + 1e-14 * sum(factor.count for factor in factors)
    for factor in factors:
        exponents = factor.log_masses + tilt * np.arange(len(factor.masses))
        peak = float(np.max(exponents))
        moment = peak + math.log(float(np.sum(np.exp(exponents - peak))))
        exponent += factor.count * (moment + tilt * factor.first)
    return exponent - tilt * index


def _grouped(factors: Sequence[Factor], size: int) -> list[Factor]:
    """Return fewer, longer factors: short ones are convolved in groups whose transforms stay small."""
    remaining = sorted(factors, key=lambda factor: factor.length)
    while len(remaining) > _FEW:
        group: list[Factor] = []
        grown: list[Factor] = []
        length = 0
        limit = max(size // 4, 16 * remaining[0].length)
        for factor in remaining:
            if group and (length + factor.length > limit or len(group) == 32):
                grown.append(_merged(group))
                group, length = [], 0
            group.append(factor)
            length += factor.length
        grown.append(_merged(group))
        if len(grown) == len(remaining):
            break
        remaining = sorted(grown, key=lambda factor: factor.length)
    return remaining


def _merged(group: Sequence[Factor]) -> Factor:
    """Return the law of a small sum, all values kept, from one batch of transforms."""
    if len(group) == 1:
        return group[0]
    first = sum(factor.count * factor.first for factor in group)
    length = sum(factor.length - 1 for factor in group) + 1
    size = scipy.fft.next_fast_len(length, real=True)
    padded = np.zeros((len(group), size))
    for row, factor in zip(padded, group, strict=True):
        row[: len(factor.masses)] = factor.masses
    spectra = scipy.fft.rfft(padded)
    slacks = np.array([[_rounding(size) + factor.slack] for factor in group])
    bounds = np.abs(spectra) + slacks
    for index, factor in enumerate(group):
        if factor.count > 1:
            spectra[index], bounds[index] = _power(spectra[index], factor.count), bounds[index] ** factor.count
    product, bound = np.prod(spectra, axis=0), np.prod(bounds, axis=0)
    masses = scipy.fft.irfft(product, size)[:length]
    error = _norm(bound - np.abs(product) + _rounding(size) * bound, size)
    return _trimmed(first, np.maximum(masses, 0.0), math.sqrt(size) * error)


def _trimmed(first: int, masses: Floats, slack: float) -> Factor:
    """Return the law without its far ends, which count as errors; what is left adds up to 1 up to the slack."""
    ends = 1e-18
    low = int(np.argmax(np.cumsum(masses) > ends))
    high = len(masses) - int(np.argmax(np.cumsum(masses[::-1]) > ends))
    return Factor(first + low, masses[low:high], 1, slack + 2 * ends)
