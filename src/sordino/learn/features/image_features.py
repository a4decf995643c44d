"""Features of images for a linear model: scattering, turned and scaled to what is uncorrelated in made-up images.

Gradient descent is slow along directions in which features vary little, and every private step costs noise. Features
that are uncorrelated and equally large need few steps. How they vary is not read off the data, which would have to be
paid for, but off made-up images (`made_up_images`): most of it is owed to the wavelets.

**Guarantee**: as `scattering`: a function of one image alone, the same bits whoever else is there, and no data was seen
when it was made.
**Proof**: `scattering` is. The rest is a product of matrices whose entries are whole multiples of 2⁻¹⁰ below 2⁶ and of
2⁻²⁰ below 2², over at most 2¹³ places: every partial sum is a multiple of 2⁻³⁰ below 2²¹, exact in float64 whatever
the order.
**Source**: Tramèr, Boneh 2021 for private training on scattering; whitening on made-up images is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from sordino.arguments import whole
from sordino.errors import ArgumentError

from .made_up_images import strokes
from .scattering import AT_ONCE, Real, Wide, scattering

_MADE_UP = 6_000
_MOST = 2**13
_FEATURE_BITS, _DIRECTION_BITS = 10, 20
_DAMPING = 0.1
"""Added to variances, so that what hardly varies in made-up images is not blown up."""


def image_features(images: ArrayLike, *, keep: int = 800) -> Real:
    """Return `keep` features of each grey image (n, height, width); pixels are between 0 and 1, or bytes.

    The first call for a size of images makes the features from made-up images, which takes a while for large ones.

    >>> image_features(np.zeros((3, 8, 8)), keep=50).shape
    (3, 50)
    """
    given = np.asarray(images)
    if given.ndim != 3:
        raise ArgumentError("images must be one array of numbers (images, height, width)", "SRD-A001")
    basis = _basis(given.shape[1], given.shape[2])
    count = whole("keep", keep, least=1, most=basis.turned.shape[1])
    found = np.empty((len(given), count), dtype=np.float32)
    for start in range(0, len(given), AT_ONCE):
        here = scattering(given[start : start + AT_ONCE])
        with np.errstate(all="ignore"):  # what is no number concerns its own image, and nobody is told
            found[start : start + AT_ONCE] = basis.of(here.reshape(len(here), -1), count)
    return found


@dataclass(frozen=True, eq=False)
class Basis:
    """Where features of made-up images lie and how they vary: their mean, and directions from the most varied on."""

    mean: Wide
    turned: Wide
    """A column for each direction, divided by the deviation along it."""

    def of(self, features: Real, count: int) -> Real:
        """Return features along the first directions."""
        exact: Wide = (on_grid(features, _FEATURE_BITS) - self.mean) @ self.turned[:, :count]
        return exact.astype(np.float32)


def on_grid(values: NDArray[np.floating], bits: int) -> Wide:
    """Return values rounded to multiples of 2^−bits."""
    return np.ldexp(np.rint(np.ldexp(values.astype(np.float64), bits)), -bits)


@cache
def _basis(height: int, width: int) -> Basis:
    if (size := scattering(np.zeros((1, height, width))).size) > _MOST:
        raise ArgumentError(
            f"images of {height} × {width} pixels have {size:,} features by scattering, more than the {_MOST:,} that "
            "can be decorrelated; train on scattering(images) as it is, or make the images smaller",
            "SRD-A002",
        )
    made_up = scattering(strokes(_MADE_UP, height, width)).reshape(_MADE_UP, -1)
    mean = made_up.mean(axis=0)
    made_up -= mean
    variances, directions = linalg.eigh(made_up.T @ made_up / _MADE_UP, overwrite_a=True, check_finite=False)
    scaled = directions / np.sqrt(np.maximum(variances, 0) + np.float32(_DAMPING))
    return Basis(on_grid(mean, _FEATURE_BITS), on_grid(scaled[:, ::-1], _DIRECTION_BITS))
