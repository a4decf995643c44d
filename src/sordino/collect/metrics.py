"""Counts by metric in which one unit weighs no more than was declared.

**Guarantee**: when all rows of one unit come, go or change, each count moves by at most `most`, whatever the rows are,
in whichever order, and under every neighbouring relation.
**Proof**: each unit adds a number from 0 to `most` to every count, and which that is depends on its own rows alone.
Somebody who comes or goes, is replaced or emptied changes one such number for another. ∎
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import array, numbers, whole
from sordino.errors import ArgumentError


def metric_counts(numbers_of_metrics: Any, units: Any, *, metrics: int, most: int = 1) -> NDArray[np.int64]:
    """Return how many rows each of `metrics` metrics has, of which at most `most` of any one unit count.

    The first is the number of each row's metric, from 0 on; a row of any other number counts nowhere. `units` says
    whose each row is, by numbers or texts: whoever has two of these is two units.

    >>> metric_counts([0, 0, 0, 2], ["ann", "ann", "bob", "ann"], metrics=3).tolist()
    [2, 0, 1]
    """
    count, weight = whole("metrics", metrics, least=1), whole("most", most, least=1)
    rows, owners = numbers("numbers_of_metrics", numbers_of_metrics, "iu"), array("units", units)
    if rows.ndim != 1 or owners.shape != rows.shape or (rows.size and owners.dtype.kind not in "iuUT"):
        raise ArgumentError(
            "numbers_of_metrics and units must be lists of one length, the units whole numbers or texts", "SRD-C601"
        )
    kept = (rows >= 0) & (rows < count)
    places = rows[kept].astype(np.int64)
    who = np.unique(owners[kept], return_inverse=True)[1]
    order = np.lexsort((places, who))
    places, who = places[order], who[order]
    first = np.ones(places.size, dtype=np.bool_)
    first[1:] = (places[1:] != places[:-1]) | (who[1:] != who[:-1])
    begins = np.flatnonzero(first)
    weights = np.minimum(np.diff(np.append(begins, places.size)), weight)
    found = np.zeros(count, dtype=np.int64)
    np.add.at(found, places[begins], weights)
    return found
