"""What peers are tried on: families of subjects with their parameters, and neighbouring inputs to search.

The families were chosen knowing what others have reported (codes of bins, keys redefined after truncation, whole groups
replaced, regressions), beside plain ones. Within a family nothing says which parameters or inputs are bad: values at
the ends of the declared bounds and beyond, rows put first or last, everything replaced, one person in one group or in
many. All inputs keep what the peer is told about the data, or an accusation would be false.
"""

from __future__ import annotations

from itertools import product
from typing import Any

Row = tuple[int, int, float]
"""Person, group, value."""
Pair = tuple[Any, Any]

LARGEST_GROUP = 3
"""What a peer is told about the rows of a group."""
LARGEST_TABLE = 30
MANY_GROUPS = 10


def numbers() -> list[dict[str, Any]]:
    """Return mechanisms on single numbers and choices, each with its inputs; ε = 1, δ = 10⁻⁵ where one is needed."""
    return [
        {"kind": "laplace", "words": "Laplace noise", "pairs": [(1, 0)]},
        {"kind": "gaussian", "words": "Gaussian noise", "pairs": [(1, 0)]},
        {"kind": "geometric", "words": "geometric noise on integers", "pairs": [(1, 0)]},
        {"kind": "response", "words": "randomized response", "pairs": [(1, 0)]},
        {"kind": "choice", "words": "a choice among four", "pairs": [([0, 0, 0, 0], moved) for moved in _moved()]},
    ]


def _moved() -> list[list[int]]:
    return [[1, 0, 0, 0], [1, 1, 0, 0], [1, -1, -1, -1], [-1, 1, 1, 1]]


def rows() -> list[dict[str, Any]]:
    """Return counts and sums of rows, plain and by group, of values as they are and of codes of bins."""
    found = []
    changes = {"plain": (1, 2 * LARGEST_GROUP), "bins": (1,)}
    settings = product(changes, (0.0, -1.0), (False, True))
    for way, low, by, changed in ((*each, changed) for each in settings for changed in changes[each[0]]):
        grouped = "by group" if by else "in all"
        of = "values" if way == "plain" else "codes of bins"
        words = f"sum {grouped} of {of} in [{low:g}, 1], {changed} row{'s' if changed > 1 else ''} changed"
        size = LARGEST_GROUP if by else LARGEST_TABLE
        subject = {"kind": "rows", "way": way, "low": low, "high": 1.0, "by": by, "changed": changed, "size": size}
        found.append(subject | {"words": words, "pairs": row_pairs(low, 1.0, size, changed)})
    return found


def row_pairs(low: float, high: float, size: int, changed: int) -> list[Pair]:
    """Return tables of one to `size` rows in one group that differ in at most `changed` rows.

    None is empty: whoever is told which groups there are may rely on it.
    """
    found: list[Pair] = []
    rest = max(size - changed, 1)
    added = min(changed, size - rest)
    for fill, value in product((low, high), (low, high, 2 * high)):
        base = [(0, 0, fill)] * rest
        new = [(1, 0, value)] * added
        found += [(base, new + base), (base, base + new)]
    half = changed // 2
    if half and half <= size:
        found.append(([(0, 0, low)] * half, [(0, 0, high)] * half))
    return [pair for place, pair in enumerate(found) if pair[0] != pair[1] and pair not in found[:place]]


def people() -> list[dict[str, Any]]:
    """Return counts by group where all rows of a person come or go, after truncation, with keys as they are or not."""
    found = []
    for groups, redefined, measure in product((1, MANY_GROUPS), (False, True), ("pure", "zcdp")):
        key = "a key that is redefined" if redefined else "the key"
        words = f"count by {key}, {groups} group{'s' if groups > 1 else ''} of a person kept, {measure}"
        subject = {"kind": "people", "groups": groups, "redefined": redefined, "measure": measure}
        found.append(subject | {"words": words, "pairs": people_pairs()})
    return found


def people_pairs() -> list[Pair]:
    """Return tables beside themselves without one person, who has rows in one group or in many."""
    shapes = {
        "one row": [(0, 0, 1.0)],
        "one group": [(0, 0, 1.0)] * 5,
        "many groups": [(0, group, 1.0) for group in range(MANY_GROUPS)],
        "everything": [(0, group, 1.0) for group in range(2 * MANY_GROUPS)] * 2,
    }
    others = [[], [(1, group, 1.0) for group in range(MANY_GROUPS)]]
    return [(mine + rest, rest) for mine, rest in product(shapes.values(), others)]


def columns() -> list[dict[str, Any]]:
    """Return sums and means of a column, with bounds given or left out, and regressions under several bounds."""
    found = []
    for what, low, given in product(("sum", "mean"), (0.0, -1.0), (True, False)):
        bounds = f"bounds [{low:g}, 1]" if given else f"no bounds, values in [{low:g}, 1]"
        pairs = replaced(low, 1.0)
        found.append({"kind": what, "low": low, "given": given, "words": f"{what}, {bounds}", "pairs": pairs})
    for low in (0.0, -1.0):
        words = f"linear regression, features in [{low:g}, 1]"
        found.append({"kind": "regression", "low": low, "words": words, "pairs": corners(low, 1.0)})
    return found


def replaced(low: float, high: float) -> list[Pair]:
    """Return columns of three values in which one is replaced."""
    middle = (low + high) / 2
    bases = [[low, low], [high, high], [low, high], [middle, middle]]
    return [([*base, low], [*base, high]) for base in bases]


def corners(low: float, high: float) -> list[Pair]:
    """Return data of one row that is replaced: a feature near the ends or the middle of its bounds, and a target."""
    spread = high - low
    points = [[low + spread * part, 0.0] for part in (0.05, 0.45, 1.0)] + [[high, 1.0]]
    return [([one], [other]) for place, one in enumerate(points) for other in points[:place]]


def queries() -> list[dict[str, Any]]:
    """Return counts, sums and means by group, asked in SQL, one row changed."""
    found = []
    for what, low in (("count", 0.0), ("sum", 0.0), ("sum", -1.0), ("mean", 0.0)):
        subject = {"kind": "query", "what": what, "low": low}
        words = f"{what} by group of values in [{low:g}, 1], 1 row changed"
        found.append(subject | {"words": words, "pairs": row_pairs(low, 1.0, LARGEST_GROUP, 1)})
    return found


def trainings() -> list[dict[str, Any]]:
    """Return trainings with and without a canary, one step on all data each."""
    subjects = [{"kind": "training", "noise": noise} for noise in (1.0,)]
    return [
        subject | {"words": f"DP-SGD, σ = {subject['noise']:g}, one step on all data", "pairs": [(1, 0)]}
        for subject in subjects
    ]
