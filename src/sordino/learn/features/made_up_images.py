"""Images that nobody ever took: a few strokes and patches of grey on black, the same ones every time.

They say what images are roughly like, where to look at people's would have to be paid for. Their parameters come from
Weyl's sequence, the fractional parts of multiples of square roots of primes: spread evenly, and no chance is involved.

**Guarantee**: a function of its arguments alone. **Source**: Weyl 1916; Lee, Mumford, Huang 2001 for images as objects
that hide each other.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

_STROKES, _POINTS = 4, 12
_SPREAD = 0.5
_THIN, _THICK = 0.05, 0.5
_DARK = 0.2
_EACH = 8
"""Numbers that make a stroke: three points, its width and its brightness."""


def strokes(count: int, height: int, width: int) -> NDArray[np.float32]:
    """Return `count` images of one to four strokes each, with pixels between 0 and 1."""
    numbers = _weyl(count, 1 + _STROKES * _EACH)
    rows, columns = (((np.arange(side) + 0.5) / side * 2 - 1) for side in (height, width))
    found = np.zeros((count, height, width), dtype=np.float32)
    for image, (how_many, *rest) in zip(found, numbers, strict=True):
        for each in range(1 + int(how_many * _STROKES)):
            _draw(image, rows, columns, np.array(rest[each * _EACH : (each + 1) * _EACH]))
    return found


def _draw(
    image: NDArray[np.float32], rows: NDArray[np.float64], columns: NDArray[np.float64], numbers: NDArray[np.float64]
) -> None:
    """Draw a curve through space, as wide and as bright as its numbers say, over what is there."""
    start, bend, end = special.ndtri(numbers[:6]).reshape(3, 2) * _SPREAD
    way = np.linspace(0, 1, _POINTS)[:, None]
    curve = (1 - way) ** 2 * start + 2 * way * (1 - way) * bend + way**2 * end
    apart = (rows[:, None, None] - curve[:, 0]) ** 2 + (columns[None, :, None] - curve[:, 1]) ** 2
    half = _THIN * (_THICK / _THIN) ** numbers[6]
    covered = np.clip((half - np.sqrt(apart.min(axis=2))) * len(rows) / 2 + 0.5, 0, 1)
    image *= 1 - covered
    image += covered * (_DARK + (1 - _DARK) * numbers[7])


def _weyl(count: int, dimensions: int) -> NDArray[np.float64]:
    """Return `count` points of the unit cube, none on its border."""
    roots = [math.sqrt(each) for each in range(2, 40 * dimensions) if _is_prime(each)][:dimensions]
    found: NDArray[np.float64] = np.outer(np.arange(1, count + 1), roots) % 1
    return found


def _is_prime(number: int) -> bool:
    return all(number % each for each in range(2, math.isqrt(number) + 1))
