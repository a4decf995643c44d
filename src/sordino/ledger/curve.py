"""Public keys that are points of Ed25519 of full order; the others would say yes to whatever somebody made up.

**Guarantee.** `is_strong` says yes exactly for the one encoding of each point of the subgroup of prime order but its
identity. So refused are the identity and all other points of small order (under the identity anybody signs anything,
for every message has the same signatures), points with a part of small order (verifiers disagree about these), numbers
that are no point, and second spellings of one.
**Source.** S. Josefsson, I. Liusvaara, RFC 8032 (2017), sections 5.1.3 and 5.1.4; K. Chalkias, F. Garillot,
V. Nikolaenko, *Taming the many EdDSAs* (2020), for what verifiers make of the others.
"""

from __future__ import annotations

from functools import lru_cache

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)
_IDENTITY = (0, 1, 1, 0)

_Point = tuple[int, int, int, int]
"""X, Y, Z, T with x = X/Z, y = Y/Z and xy = T/Z."""


@lru_cache(maxsize=1024)
def is_strong(public: bytes) -> bool:
    """Return whether these 32 bytes are a public key that is good for anything; some milliseconds, once for each."""
    point = _decoded(public)
    return point is not None and not _is_identity(point) and _is_identity(_times(_ORDER, point))


def _decoded(data: bytes) -> _Point | None:
    """Return the point that `data` is the one encoding of, or None."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    if len(data) != 32 or y >= _P:
        return None
    above, below = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = above * pow(below, 3, _P) * pow(above * pow(below, 7, _P), (_P - 5) // 8, _P) % _P
    if (below * x * x - above) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
        if (below * x * x - above) % _P:
            return None
    if not x and sign:
        return None
    x = x if x & 1 == sign else _P - x
    return x, y, 1, x * y % _P


def _added(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: _Point) -> _Point:
    found = _IDENTITY
    for digit in bin(factor)[2:]:
        found = _added(found, found)
        if digit == "1":
            found = _added(found, point)
    return found


def _is_identity(point: _Point) -> bool:
    x, y, z, _ = point
    return not x % _P and not (y - z) % _P
