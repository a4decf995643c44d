"""Polynomials as their values at roots of unity (the Lagrange basis): draft-irtf-cfrg-vdaf-18, Section 6.1.3.

All functions work on the last axis of arrays of any shape, whose length is a power of two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .field import Elements, Field


def power_of_two_from(least: int) -> int:
    """Return the least power of two that is not below `least`."""
    return 1 << (least - 1).bit_length()


def values(field: Field, coefficients: Elements) -> Elements:
    """Return the values at all n-th roots of unity, 1, w, w², …: the number theoretic transform."""
    count = coefficients.shape[-1]
    if count == 1:
        return coefficients
    even, odd = values(field, coefficients[..., ::2]), values(field, coefficients[..., 1::2])
    turned = odd * field.powers_of_root(count)[: count // 2]
    return np.concatenate([even + turned, even - turned], axis=-1) % field.modulus


def coefficients(field: Field, found: Elements) -> Elements:
    """Return the coefficients of the polynomial that has these values: the inverse of `values`."""
    count = found.shape[-1]
    backwards = -np.arange(count) % count
    known: Elements = values(field, found)[..., backwards] * field.inverse(count) % field.modulus
    return known


def doubled(field: Field, found: Elements) -> Elements:
    """Return the values of the same polynomial at twice as many roots of unity."""
    known = coefficients(field, found)
    return values(field, np.concatenate([known, np.zeros_like(known)], axis=-1))


def completed(field: Field, found: Elements) -> Elements:
    """Return n values of a polynomial of degree n − 2 at most, of which all but the last are given.

    The coefficient of x^(n−1), which is Σ wⁱ·yᵢ / n, is zero; that gives the last value, as 1/w^(n−1) = w.
    """
    roots = field.powers_of_root(found.shape[-1] + 1)
    last = -roots[1] * (found * roots[:-1]).sum(axis=-1, keepdims=True) % field.modulus
    return np.concatenate([found, last], axis=-1)


def weights(field: Field, points: Elements, count: int) -> Elements:
    """Return, for each point t, the factors of `count` values whose sum is the polynomial's value at t.

    They are wⁱ/n · Π (t − wʲ) over all j ≠ i, as Π (wⁱ − wʲ) = n/wⁱ. Products of what lies before i and of what lies
    after it make them without a division.
    """
    roots = field.powers_of_root(count)
    gaps = points[..., None] - roots
    before, after = np.ones_like(gaps), np.ones_like(gaps)
    for place in range(1, count):
        before[..., place] = before[..., place - 1] * gaps[..., place - 1] % field.modulus
        after[..., -place - 1] = after[..., -place] * gaps[..., -place] % field.modulus
    scaled = roots * field.inverse(count) % field.modulus
    factors: Elements = before * after % field.modulus * scaled % field.modulus
    return factors


def is_root_of_unity(field: Field, points: Elements, count: int) -> NDArray[np.bool_]:
    """Return whether each point's `count`-th power is one."""
    power = points
    for _ in range(count.bit_length() - 1):
        power = power * power % field.modulus
    found: NDArray[np.bool_] = (power == 1).astype(bool)
    return found
