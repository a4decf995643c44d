"""k-anonymity as it is made in practice: people are put into classes of k or more who look alike after coarsening.

`coarsened` cuts the people in two, again and again, each time in the column that still varies most, while both halves
keep k people (and, where it is asked for, l different secrets). Each class shows its range in every column instead of
its people's values. This is the best-known algorithm for it; it is here to be attacked, not to be used.

**Source**: LeFevre, DeWitt, Ramakrishnan 2006, *Mondrian multidimensional k-anonymity* (strict partitioning, median
cuts); Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, *l-diversity*, definition 4.1 (distinct l-diversity).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.arguments import whole
from sordino.errors import ArgumentError

from .tables import arrow, column, shared_codes

Codes = NDArray[np.int64]


def coarsened(table: Any, on: Sequence[str], k: int, *, sensitive: str | None = None, diversity: int = 1) -> pa.Table:
    """Return the table with each of the columns `on` coarsened to a range, so that k people or more share every class.

    **Guarantee**: k-anonymous in the columns `on`, and distinct l-diverse in `sensitive` with l = `diversity`. Neither
    says anything about what can be learnt of a person; that is what `homogeneity` measures.
    """
    rows = arrow("the table", table)
    least = whole("k", k, least=1, most=max(rows.num_rows, 1))
    kinds = whole("diversity", diversity, least=1)
    if kinds > 1 and sensitive is None:
        raise ArgumentError("diversity is that of a column: say which, sensitive=…", "SRD-A003")
    ranks = np.column_stack([_ranks(column("the table", rows, name)) for name in on])
    secrets = np.zeros(rows.num_rows, dtype=np.int64)
    if sensitive is not None:
        (secrets,), _ = shared_codes(["the table"], [rows], [sensitive])
    if rows.num_rows and np.unique(secrets).size < kinds:
        raise ArgumentError(f"there are fewer than {kinds} different values of {sensitive!r}", "SRD-A002")
    classes = _classes(ranks, secrets, least, kinds)
    for place, name in enumerate(on):
        shown = _ranges(rows.column(name), ranks[:, place], classes)
        rows = rows.set_column(rows.column_names.index(name), name, shown)
    return rows


def _ranks(values: pa.ChunkedArray) -> Codes:
    """Return the place of each value among the different values, in their order; what is missing comes last."""
    return np.asarray(pc.rank(values, tiebreaker="dense"), dtype=np.int64) - 1


def _classes(ranks: Codes, secrets: Codes, k: int, diversity: int) -> Codes:
    """Return the number of each row's class."""
    classes = np.zeros(len(ranks), dtype=np.int64)
    spans = np.maximum(np.ptp(ranks, axis=0), 1) if len(ranks) else np.ones(ranks.shape[1])
    open_parts, done = [np.arange(len(ranks))], 0
    while open_parts:
        part = open_parts.pop()
        cut = _cut(ranks[part], secrets[part], spans, k, diversity)
        if cut is None:
            classes[part] = done
            done += 1
        else:
            open_parts += [part[cut], part[~cut]]
    return classes


def _cut(ranks: Codes, secrets: Codes, spans: NDArray[Any], k: int, diversity: int) -> NDArray[np.bool_] | None:
    """Return one half of a part, by the column that varies most among those that can be cut; None if none can."""
    if len(ranks) < 2 * k:
        return None
    for place in np.argsort(-np.ptp(ranks, axis=0) / spans, kind="stable"):
        values = ranks[:, place]
        median = np.partition(values, len(values) // 2)[len(values) // 2]
        for left in (values < median, values <= median):
            if _fits(left, secrets, k, diversity):
                return np.asarray(left)
    return None


def _fits(left: NDArray[np.bool_], secrets: Codes, k: int, diversity: int) -> bool:
    size = int(np.count_nonzero(left))
    if min(size, left.size - size) < k:
        return False
    return diversity == 1 or all(np.unique(secrets[half]).size >= diversity for half in (left, ~left))


def _ranges(values: pa.ChunkedArray, ranks: Codes, classes: Codes) -> pa.Array:
    """Return the range of each row's class as a text, such as ``02138 – 02140``."""
    # The value of every rank, as a text; then each class is shown by those of its least and greatest rank.
    count = int(ranks.max(initial=-1)) + 1
    example = np.zeros(count, dtype=np.int64)
    example[ranks] = np.arange(ranks.size)
    texts = pc.fill_null(values.take(pa.array(example)).cast(pa.string()), "?").combine_chunks()
    number = int(classes.max(initial=-1)) + 1
    low, high = np.full(number, count, dtype=np.int64), np.full(number, -1, dtype=np.int64)
    np.minimum.at(low, classes, ranks)
    np.maximum.at(high, classes, ranks)
    joined = pc.binary_join_element_wise(texts.take(pa.array(low)), texts.take(pa.array(high)), " – ")
    shown = pc.if_else(pa.array(low == high), texts.take(pa.array(low)), joined)
    return shown.take(pa.array(classes))
