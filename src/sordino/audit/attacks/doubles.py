"""Which doubles can come out of a sampler in floating point, and on which grid a double lies.

Noise in floats is a function of a uniform number u = k·2⁻⁵³, so there are at most 2⁵³ of them and most doubles are
never noise. Whether y = value + noise can occur is decided by inverting it at y − value and trying the u's around.

**Source**: Mironov 2012, *On significance of the least significant bits for differential privacy*, sections 3 and 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats

_UNIT = 2.0**-53
_AROUND = 4
"""How many u's are tried on either side of the one that the inverse names. With z = −ln u, an error of half a unit in
the last place of z moves u by less than 2⁻⁵³, and rounding inside the inverse by less than 2·2⁻⁵³, as u(1 + z) ≤ 1."""
_ZERO_BIT = 1100
"""Zero lies on every grid; this is coarser than any double's."""


@dataclass(frozen=True)
class FloatSampler:
    """How a library makes noise of a scale from a uniform double: `forward(u, scale)`, and `inverse(noise, scale)`.

    `inverse` returns a u whose noise has the size asked for, as near as doubles allow. Samplers without the two stand
    for whatever makes doubles. `slack` is by how many units in the last place the noise may differ from `forward`:
    mathematical libraries differ by one in a logarithm. With the library's own functions 0 will do, and shows more.
    """

    name: str
    forward: Callable[[Floats, float], Floats] | None = None
    inverse: Callable[[Floats, float], Floats] | None = None
    slack: int = 2


def _numpy(u: Floats, scale: float) -> Floats:
    """What NumPy's generators compute: one uniform double for the sign and the size."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(u >= 0.5, -scale * np.log(2.0 - u - u), scale * np.log(u + u))


def _numpy_inverse(noise: Floats, scale: float) -> Floats:
    half = np.exp(-np.abs(noise) / scale) / 2
    return np.where(noise < 0, half, 1.0 - half)


ANY_DOUBLE = FloatSampler("any double")
"""No matter how the noise is made: it is a double, and is added to the value."""
TEXTBOOK = FloatSampler(
    "sign · scale · ln u",
    lambda u, scale: scale * np.log(u),
    lambda noise, scale: np.exp(-np.abs(noise) / scale),
)
"""A random sign, and the logarithm of a uniform double. `forward` gives noise without its sign."""
NUMPY = FloatSampler("NumPy's Laplace", _numpy, _numpy_inverse)


def reachable(outputs: Floats, value: float, sampler: FloatSampler, scale: float = 1.0) -> NDArray[np.bool_]:
    """Tell of each output whether it can be `value` plus noise of the sampler, rounded once to a double.

    **Guarantee**: what is called out of reach cannot occur if noise is made as the sampler says, up to its slack.
    """
    wanted = outputs - value
    if sampler.forward is None or sampler.inverse is None:
        return _hit(outputs, value, wanted, 2)
    guess = np.round(sampler.inverse(wanted, scale) / _UNIT)
    found = np.zeros(outputs.shape, dtype=bool)
    for offset in range(-_AROUND, _AROUND + 1):
        u = (guess + offset) * _UNIT
        inside = (u > 0) & (u <= 1)
        with np.errstate(divide="ignore"):  # NumPy's way takes the logarithm of zero at u = 1, which it never draws
            noise = np.abs(sampler.forward(np.where(inside, u, 0.5), scale))
        found |= inside & _hit(outputs, value, np.copysign(noise, wanted), sampler.slack)
    return found


def _hit(outputs: Floats, value: float, noise: Floats, slack: int) -> NDArray[np.bool_]:
    """Tell whether the noise, or one of the next `slack` doubles on either side of it, leads to the output."""
    hit = np.asarray(value + noise == outputs)
    for direction in (-np.inf, np.inf):
        beside = noise
        for _ in range(slack):
            beside = np.nextafter(beside, direction)
            hit |= value + beside == outputs
    return hit


def lowest_bit(values: Floats) -> NDArray[np.int64]:
    """Return the largest k with values = integer · 2^k: the coarsest grid of powers of two that each value lies on.

    >>> lowest_bit(np.array([6.0, 0.75, 2.0**-1074])).tolist()
    [1, -2, -1074]
    """
    mantissa, exponent = np.frexp(values)
    integer = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    lowest = np.bitwise_and(integer, -integer)
    shift = np.log2(np.maximum(lowest, 1).astype(float)).astype(np.int64)
    return np.where(integer == 0, _ZERO_BIT, exponent - 53 + shift)
