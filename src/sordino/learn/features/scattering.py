"""Scattering: features of an image by wavelets that are fixed beforehand, so a linear model on them learns quickly.

An image is convolved with wavelets of each scale and angle, the modulus is taken, and so once more; averages of all
that over 2^scales × 2^scales pixels are the features. Small shifts and deformations change them little, nothing of them
is learned, and so they cost nothing.

**Guarantee**: each image's features are a function of that image alone, the same bits whoever else is there: passes
have one constant shape, and what is missing is padded. So features are part of what an example is, not a release, and
whatever is trained on them is priced as if it were trained on the images.
**Source**: Bruna, Mallat 2013, Invariant scattering convolution networks (Morlet wavelets, two layers); Tramèr, Boneh
2021, for private training on them and for the normalisation of each example by groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from sordino.arguments import whole
from sordino.errors import ArgumentError

Real = NDArray[np.float32]
Wide = NDArray[np.float64]
Complex = NDArray[np.complex64]

AT_ONCE = 128
"""How many images go through together: always as many."""
_LITTLE = 1e-5
_WIDTH, _PITCH = 0.8, 3 * math.pi / 4
"""Of the finest wavelet: the standard deviation of its envelope in pixels, and its frequency."""


def scattering(images: ArrayLike, *, scales: int = 2, angles: int = 8, groups: int | None = 27) -> Real:
    """Return features of grey images (n, height, width): (n, channels, height / 2^scales, width / 2^scales).

    Pixels are between 0 and 1, or bytes, which count as 255ths.
    There are 1 + scales·angles + angles²·scales·(scales − 1)/2 channels. With `groups`, the channels of each image are
    normalised to mean 0 and deviation 1 in so many groups; None leaves them as they are.

    >>> scattering(np.zeros((3, 28, 28))).shape
    (3, 81, 7, 7)
    """
    given = np.asarray(images)
    if given.ndim != 3 or given.dtype.kind not in "biuf":
        raise ArgumentError("images must be one array of numbers (images, height, width)", "SRD-A001")
    bank = _bank(*given.shape[1:], whole("scales", scales, least=1), whole("angles", angles, least=1))
    parts = groups if groups is None else whole("groups", groups, least=1)
    if parts is not None and bank.channels % parts:
        raise ArgumentError(
            f"groups must divide the number of channels, which is {bank.channels}; or leave features as they are: "
            "groups=None",
            "SRD-A002",
        )
    found = np.empty((len(given), bank.channels, *bank.shape), dtype=np.float32)
    for start in range(0, len(given), AT_ONCE):
        here = as_pixels(given[start : start + AT_ONCE])
        with np.errstate(all="ignore"):  # what is no number concerns its own image, and nobody is told
            part = bank.scatter(padded(here))[: len(here)]
            found[start : start + AT_ONCE] = part if parts is None else _normalised(part, parts)
    return found


def as_pixels(images: NDArray[np.generic]) -> Real:
    """Return pixels as floats; bytes as 255ths."""
    with np.errstate(all="ignore"):
        floats = images.astype(np.float32)
    return floats / np.float32(255 if images.dtype == np.uint8 else 1)


def padded(rows: Real) -> Real:
    """Return as many rows as go through at once, zeros for those that are missing."""
    whole_pass = np.zeros((AT_ONCE, *rows.shape[1:]), dtype=np.float32)
    whole_pass[: len(rows)] = rows
    return whole_pass


def _normalised(features: Real, groups: int) -> Real:
    """Return the features of each image with mean 0 and deviation 1 in every group of channels."""
    flat = features.reshape(len(features), groups, -1)
    centred = flat - flat.mean(axis=2, keepdims=True)
    spread = np.sqrt(np.square(centred).mean(axis=2, keepdims=True) + np.float32(_LITTLE))
    found: Real = (centred / spread).reshape(features.shape)
    return found


@dataclass(frozen=True, eq=False)
class Bank:
    """The wavelets for images of one size, as their Fourier transforms."""

    shape: tuple[int, int]
    """Of the features in space."""
    padding: tuple[tuple[int, int], ...]
    average: Complex
    wavelets: tuple[Complex, ...]
    """For each scale, an array (angles, height, width)."""

    @property
    def channels(self) -> int:
        """How many features there are at each place."""
        scales, angles = len(self.wavelets), len(self.wavelets[0])
        return 1 + scales * angles + angles**2 * scales * (scales - 1) // 2

    def scatter(self, images: Real) -> Real:
        """Return the features of images: first the average, then those of one wavelet, then those of two."""
        spectra = _transformed(np.pad(images, ((0, 0), *self.padding), mode="symmetric"))[:, None]
        found = [self._averaged(spectra, 0)]
        later = []
        for scale, wavelets in enumerate(self.wavelets):
            once = self._bent(spectra, wavelets, 0, scale)
            found.append(self._averaged(once, scale))
            for finer, others in enumerate(self.wavelets[scale + 1 :], scale + 1):
                later.append(self._averaged(self._bent(once, others, scale, finer), finer))
        return np.concatenate(found + later, axis=1)

    def _bent(self, spectra: Complex, wavelets: Complex, have: int, want: int) -> Complex:
        """Return the spectra of |signals * each wavelet|, of every 2^want-th pixel; signals have every 2^have-th."""
        waves = _coarser(wavelets, 2**have) * np.float32(4**have)  # so that its sum stays what it was
        products = spectra[:, :, None] * waves
        count, before, angles = products.shape[:3]
        fewer = _coarser(products.reshape(count, before * angles, *products.shape[3:]), 2 ** (want - have))
        return _transformed(np.abs(fft.ifft2(fewer)))

    def _averaged(self, spectra: Complex, have: int) -> Real:
        """Return local averages, one for each 2^scales × 2^scales pixels, without those of the padding."""
        average = _coarser(self.average[None], 2**have) * np.float32(4**have)
        low = _coarser(spectra * average, 2 ** (len(self.wavelets) - have))
        return fft.ifft2(low).real[..., 1 : 1 + self.shape[0], 1 : 1 + self.shape[1]]


def _transformed(signals: Real) -> Complex:
    found: Complex = fft.fft2(signals).astype(np.complex64, copy=False)
    return found


def _coarser(spectra: Complex, times: int) -> Complex:
    """Return the spectra of every `times`-th pixel of the signals: frequencies fold."""
    if times == 1:
        return spectra
    *lead, height, width = spectra.shape
    folded = spectra.reshape(*lead, times, height // times, times, width // times)
    found: Complex = folded.mean(axis=(-4, -2), dtype=np.complex64)
    return found


@cache
def _bank(height: int, width: int, scales: int, angles: int) -> Bank:
    step = 2**scales
    if min(height, width) < step:
        raise ArgumentError(f"images must be at least {step} pixels wide and high for {scales} scales", "SRD-A002")
    shape = height // step, width // step
    sizes = [(-(-side // step) + 2) * step for side in (height, width)]
    padding = tuple((step, size - side - step) for size, side in zip(sizes, (height, width), strict=True))
    rows, columns = (np.fft.fftfreq(size, 1 / size) for size in sizes)
    average = _spectrum(_envelope(rows, columns, _WIDTH * 2 ** (scales - 1), 0, 1.0))
    turns = [math.pi * each / angles for each in range(angles)]
    wavelets = tuple(
        np.stack([_spectrum(_wavelet(rows, columns, 2.0**scale, turn, 4 / angles)) for turn in turns])
        for scale in range(scales)
    )
    return Bank(shape, padding, average, wavelets)


def _envelope(rows: Wide, columns: Wide, width: float, turn: float, slant: float) -> Wide:
    """Return a Gaussian bump of sum about 1: of deviation `width` along its turn, and `width`/`slant` across."""
    along = rows[:, None] * math.cos(turn) + columns * math.sin(turn)
    across = columns * math.cos(turn) - rows[:, None] * math.sin(turn)
    bump: Wide = np.exp(-(along**2 + (slant * across) ** 2) / (2 * width**2))
    return bump * (slant / (2 * math.pi * width**2))


def _wavelet(rows: Wide, columns: Wide, scale: float, turn: float, slant: float) -> NDArray[np.complex128]:
    """Return a Morlet wavelet: a wave under an envelope, less so much of the envelope that its sum is 0."""
    bump = _envelope(rows, columns, _WIDTH * scale, turn, slant)
    wave = bump * np.exp(1j * _PITCH / scale * (rows[:, None] * math.cos(turn) + columns * math.sin(turn)))
    found: NDArray[np.complex128] = wave - bump * (wave.sum() / bump.sum())
    return found


def _spectrum(kernel: NDArray[np.generic]) -> Complex:
    found: Complex = np.fft.fft2(kernel).astype(np.complex64)
    return found
