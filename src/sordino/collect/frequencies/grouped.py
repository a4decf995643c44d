"""How often each bit is 1 among the reports of each of many groups: hash functions, cohorts."""

from __future__ import annotations

import numpy as np

from sordino.collect.frequencies.columns import column_counts
from sordino.collect.frequencies.numbered import read
from sordino.collect.randomizer import Counts, Payloads

_FEW = 4096  # rows below which a byte for each bit is quicker


def ones_by_group(payloads: Payloads, groups: int) -> Counts:
    """Return, for each group (the first two bytes), how many reports it has and then how many 1s each bit."""
    which = read(payloads[:, :2])
    found = np.zeros((groups, 8 * (payloads.shape[1] - 2) + 1), dtype=np.int64)
    order, start = np.argsort(which, kind="stable"), 0
    for each, end in enumerate(np.cumsum(np.bincount(which, minlength=groups)).tolist()):
        rows = payloads[order[start:end], 2:]
        found[each, 0] = len(rows)
        found[each, 1:] = _few(rows) if len(rows) < _FEW else column_counts(rows)
        start = end
    return found


def _few(rows: Payloads) -> Counts:
    return np.asarray(np.unpackbits(rows, axis=1, bitorder="little").sum(axis=0, dtype=np.int64))
