"""Each person's rows, bounded by that person's rows alone; the methods of ``bounding.py`` in the engine.

**Guarantee**: which rows are kept and what they weigh is a function of the owner's own rows and of the salt. Where rows
are ordered, it is by a keyed hash of all that the query uses of them and then by that content itself: a tie is between
rows that are equal in everything, so no order of storage matters.

*sample*: of an owner's n rows, at the places i = 0 to n − 1 of that order, those are kept with (k·i + u) mod n < k,
where u is a keyed hash of the owner (systematic sampling). If n ≤ k these are all. Else, of every n starts u in a row
each place has exactly k that keep it, for as u runs through the residues mod n, so does k·i + u: with u below 2^60 each
row is kept with the probability k/n but for n/2^60 of it. Exactly k are kept: k·i + u has a remainder below k where it
is the first to reach a multiple of n, so ⌊(k·i + u)/n⌋ is then one more than for i − 1, else the same, and from i = −1
to n − 1 it rises by k in all. Rows that differ are in a random order, so all sets of k of them are as likely. Equal
rows lie side by side, so they are kept in their share of n, rounded up or down; by their hashes alone all of them would
be kept or none. (An owner has fewer than 2^62/k rows, or k·i would not fit.) Weights are whole numbers rounded down:

*weigh*, *groups*: ω = min(W, ⌊k·W/n⌋), so n rows weigh n·ω ≤ k·W. The quotient is taken in floats: k·W ≤ 2^47, and if
k·W/n < q for a whole q then q − k·W/n ≥ 1/n, which is more than the rounding of a quotient near q for every n < 2^53.
*norm*: with S = Σ c_g², ω = W if S ≤ C², else ω = ⌊C·W·(1 − 2^-40)/√S⌋. Then ω²·S ≤ (C·W)²: in the first case at once.
In the second, rounding the constant, S, its root and the quotient changes the result by factors of at most 1 + 2^-53
each (half of that for S, under the root), together below 1 + 2^-50, so ω·√S ≤ C·W·(1 − 2^-40)·(1 + 2^-50) < C·W. S is
added up as whole numbers, so it does not depend on an order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ibis
from ibis.expr import datatypes as dt

from sordino.query.model.bounding import WEIGHT_UNIT, Bounding

from .hashing import keyed_hash, keyed_number
from .measures import whole
from .packing import PACKED, Field, can_pack, narrowest, pack, unpack
from .scan import OWNER
from .values import real

WEIGHT = "weight__"
ROWS = "rows__"
_RANK = "rank__"
_SQUARE = "square__"
_HAIR = 1 - 2.0**-40
_NARROW_WEIGHT = narrowest(0, WEIGHT_UNIT)


@dataclass(frozen=True)
class Setting:
    """What all methods need to know."""

    engine: str
    salt: Any
    """As the engine gets it: a constant, or a parameter of the query."""
    bounding: Bounding
    groups: tuple[str, ...]
    """The columns that tell the groups of rows apart."""
    fields: tuple[Field, ...] | None = None
    """The ranges of all columns beside the owner, if each is a whole number from a known range."""


def bounded(rows: ibis.Table, setting: Setting) -> ibis.Table:
    """Return the rows that are kept, each with its `WEIGHT` unless all weigh 1 (methods row and sample)."""
    return _METHODS[setting.bounding.method](rows, setting)


def bundled(rows: ibis.Table, setting: Setting, sums: Mapping[str, Any]) -> ibis.Table:
    """Return one line for each owner and group that is kept: its `ROWS`, their sums, and the `WEIGHT` of each of them.

    For the methods groups and norm, whose weights are the same for all of an owner's rows in a group.
    """
    bundles = rows.group_by(OWNER, *setting.groups).aggregate(**{ROWS: rows.count()}, **sums)
    return _BUNDLES[setting.bounding.method](bundles, setting)


BUNDLED = ("groups", "norm")
"""The methods that weigh bundles."""


def _sample(rows: ibis.Table, setting: Setting) -> ibis.Table:
    """Return at most `rows` rows of each owner."""
    fields = setting.fields
    if fields is None or not can_pack(setting.engine, fields):
        return _systematic(rows, setting, _order(rows, setting, [name for name in rows.columns if name != OWNER]))
    packed = pack(rows, fields, setting.salt)
    return unpack(_systematic(packed, setting, [packed[PACKED]]), fields)


def _systematic(rows: ibis.Table, setting: Setting, order: list[Any]) -> ibis.Table:
    """Return of each owner's n rows those at the places i with (k·i + u) mod n < k."""
    window = ibis.window(group_by=rows[OWNER], order_by=order, preceding=None, following=None)
    placed = rows.mutate(**{_RANK: ibis.row_number().over(window), ROWS: rows.count().over(window)})
    start = keyed_number(setting.engine, setting.salt, placed[OWNER])
    limit = whole(setting.bounding.linf)
    return placed.filter((placed[_RANK] * limit + start) % placed[ROWS] < limit).select(*rows.columns)


def _order(rows: ibis.Table, setting: Setting, content: list[str]) -> list[Any]:
    """Return what rows are ordered by: a keyed hash, and then what it is of."""
    columns = [rows[name] for name in content]
    return [keyed_hash(setting.engine, setting.salt, [rows[OWNER], *columns]), *columns]


def _weigh(rows: ibis.Table, setting: Setting) -> ibis.Table:
    """Return all rows with their weights. On the way they are as narrow as can be: the engine holds all of them."""
    fields = setting.fields or ()
    shared = rows.mutate(**{field.name: rows[field.name].cast(field.narrowest) for field in fields}).alias("kept__")
    counts = shared.group_by(OWNER).aggregate(**{ROWS: shared.count()})
    weights = counts.select(OWNER, **{WEIGHT: _share(counts[ROWS], setting.bounding.linf).cast(_NARROW_WEIGHT)})
    joined = shared.inner_join(weights, OWNER)
    wide = {name: joined[name].cast("int64") for name in (*(field.name for field in fields), WEIGHT)}
    return joined.select(**{name: wide.get(name, joined[name]) for name in (*shared.columns, WEIGHT)})


def _share(count: Any, limit: int) -> Any:
    """Return min(W, ⌊limit·W/count⌋)."""
    return ibis.least(whole(WEIGHT_UNIT), (real(limit * WEIGHT_UNIT) / count.cast("float64")).floor())


def _weigh_groups(bundles: ibis.Table, setting: Setting) -> ibis.Table:
    """Return at most `groups` bundles of each owner, first by the hash of owner and key."""
    order = _order(bundles, setting, list(setting.groups))
    ranked = bundles.mutate(**{_RANK: ibis.row_number().over(group_by=OWNER, order_by=order)})
    most = setting.bounding.l0
    assert most is not None  # noqa: S101  (the method has it)
    kept = ranked.filter(ranked[_RANK] < whole(most)).drop(_RANK)
    return kept.mutate(**{WEIGHT: _share(kept[ROWS], setting.bounding.linf)})


def _weigh_norm(bundles: ibis.Table, setting: Setting) -> ibis.Table:
    shared = bundles.alias("bundles__")
    count = shared[ROWS].cast(dt.Decimal(19, 0))
    squares = shared.group_by(OWNER).aggregate(**{_SQUARE: (count * count).sum()})
    limit = setting.bounding.linf
    scaled = real(limit * WEIGHT_UNIT * _HAIR) / squares[_SQUARE].cast("float64").sqrt()
    weight = (squares[_SQUARE] <= whole(limit**2)).ifelse(whole(WEIGHT_UNIT), scaled.floor())
    weights = squares.select(OWNER, **{WEIGHT: weight})
    return shared.inner_join(weights, OWNER).select(*shared.columns, WEIGHT)


def _weigh_by_bundle(rows: ibis.Table, setting: Setting) -> ibis.Table:
    """Return rows with the weights of their bundles. NULL is a key like others here."""
    shared = rows.alias("kept__")
    bundles = bundled(shared, setting, {})
    same = [shared[OWNER] == bundles[OWNER], *(shared[name].identical_to(bundles[name]) for name in setting.groups)]
    return shared.inner_join(bundles, same).select(*(shared[name] for name in shared.columns), bundles[WEIGHT])


_METHODS: dict[str, Callable[[ibis.Table, Setting], ibis.Table]] = {
    "row": lambda rows, _setting: rows,
    "sample": _sample,
    "weigh": _weigh,
    "groups": _weigh_by_bundle,
    "norm": _weigh_by_bundle,
}
_BUNDLES: dict[str, Callable[[ibis.Table, Setting], ibis.Table]] = {"groups": _weigh_groups, "norm": _weigh_norm}
