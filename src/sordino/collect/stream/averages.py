"""Totals from measurements of buffered noise: a few exponential averages, all of a batch's steps at once.

Post-processing of what was released, in floats. An average is aₜ = ζ·aₜ₋₁ + yₜ, and the total h*·yₜ + Σⱼ κⱼ·aⱼₜ (see
``buffered.py``). A batch is cut into chunks: within one, totals are a matrix times its measurements; over chunks, the
averages are a matrix of powers of ζ times what each chunk adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .buffered import Exponentials
from .strategy import Real

_CHUNK, _CHUNKS = 64, 16


@dataclass(frozen=True, eq=False)
class _Tables:
    within: Real
    """From a chunk's measurements to its totals: [step, measurement]."""
    after: Real
    """From the averages before a chunk to its totals: [step, pole]."""
    adding: Real
    """From a chunk's measurements to what they add to the averages after it: [pole, measurement]."""
    over: Real
    """From what chunks add to the averages before each chunk: [before, chunk, pole]."""
    kept: Real
    """How much is left of an average after 0, 1, … steps: [steps, pole]."""


def averaged(shape: Exponentials, averages: Real, measured: Real) -> tuple[Real, Real]:
    """Return the total after each measurement, and the averages after the last; a row of cells each."""
    totals = np.empty_like(measured)
    size = _CHUNK * _CHUNKS
    for start in range(0, len(measured), size):
        totals[start : start + size], averages = _piece(_tables(shape), averages, measured[start : start + size])
    return totals, averages


def _piece(tables: _Tables, averages: Real, measured: Real) -> tuple[Real, Real]:
    """Return the same for up to 1,024 measurements."""
    cells = measured.shape[1]
    chunks = -(-len(measured) // _CHUNK)
    last = len(measured) - (chunks - 1) * _CHUNK
    padded = np.zeros((chunks * _CHUNK, cells))
    padded[: len(measured)] = measured
    blocks = padded.reshape(chunks, _CHUNK, cells)
    added = np.matmul(tables.adding, blocks[: chunks - 1])
    starts = np.einsum("bcp,cpn->bpn", tables.over[:chunks, : chunks - 1], added)
    starts += tables.kept[: chunks * _CHUNK : _CHUNK, :, None] * averages
    totals = np.matmul(tables.within, blocks) + np.matmul(tables.after, starts)
    ended = tables.kept[last][:, None] * starts[-1] + tables.adding[:, _CHUNK - last :] @ blocks[-1, :last]
    return totals.reshape(-1, cells)[: len(measured)], ended


@lru_cache(maxsize=64)
def _tables(shape: Exponentials) -> _Tables:
    first, poles, residues = (np.array(each) for each in shape.inverse())
    kept = np.power(poles[None, :], np.arange(_CHUNK * _CHUNKS + 1)[:, None])
    lag = np.arange(_CHUNK)[:, None] - np.arange(_CHUNK)[None, :]
    within = np.where(lag < 0, 0.0, (kept @ residues)[np.maximum(lag, 0)]) + first * np.eye(_CHUNK)
    chunks = np.arange(_CHUNKS)[:, None] - 1 - np.arange(_CHUNKS)[None, :]
    over = np.where(chunks[:, :, None] < 0, 0.0, kept[np.maximum(chunks, 0) * _CHUNK])
    return _Tables(within, kept[1 : _CHUNK + 1] * residues, kept[:_CHUNK][::-1].T.copy(), over, kept)
