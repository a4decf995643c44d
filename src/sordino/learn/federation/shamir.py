"""Secrets in shares: any `threshold` of them give the secret back, fewer say nothing about it.

**Guarantee**: for every set of fewer than `threshold` holders and every secret, their shares are uniform and
independent of the secret. *Proof*: the shares are values, at distinct points that are not 0, of a polynomial of degree
threshold − 1 with the secret at 0 and all other coefficients uniform in the field. For each secret and each choice of
threshold − 1 values there is exactly one such polynomial (Lagrange), so all values are equally likely.
**Assumes**: nobody is given two shares, and each secret is shared once.
**Source**: Shamir 1979.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sordino.noise.keystream import SOURCE, bits

PRIME = 2**521 - 1
"""The field: a prime of Mersenne, well above every secret of 32 bytes."""

SECRET_BYTES = 32
SHARE_BYTES = 66


def shares(secret: bytes, holders: Iterable[int], threshold: int) -> dict[int, bytes]:
    """Return a share for each holder (by number, from 0) of a secret of 32 bytes."""
    coefficients = [int.from_bytes(secret, "big"), *(_uniform() for _ in range(threshold - 1))]
    return {holder: evaluated(coefficients, holder + 1).to_bytes(SHARE_BYTES, "big") for holder in holders}


def rebuilt(given: Mapping[int, bytes], threshold: int) -> bytes | None:
    """Return the secret of which `given` holds shares; None if these are too few or not shares of one secret."""
    if len(given) < threshold:
        return None
    chosen = {holder + 1: int.from_bytes(given[holder], "big") % PRIME for holder in sorted(given)[:threshold]}
    secret = at_zero(chosen)
    return secret.to_bytes(SECRET_BYTES, "big") if secret < 256**SECRET_BYTES else None


def evaluated(coefficients: Sequence[int], x: int, prime: int = PRIME) -> int:
    """Return the value at x of the polynomial whose coefficients these are, from that of x⁰ up."""
    value = 0
    for each in reversed(coefficients):
        value = (value * x + each) % prime
    return value


def at_zero(points: Mapping[int, int], prime: int = PRIME) -> int:
    """Return the value at 0 of the polynomial of least degree through these points."""
    total = 0
    for x, y in points.items():
        above, below = 1, 1
        for other in points:
            if other != x:
                above, below = above * other % prime, below * (other - x) % prime
        total = (total + y * above * pow(below, -1, prime)) % prime
    return total


def _uniform() -> int:
    while (drawn := bits(SOURCE, PRIME.bit_length())) == PRIME:  # the one value of 521 bits that is no residue
        pass
    return drawn
