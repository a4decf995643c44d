"""Reading outputs of any kind as numbers: columns to put thresholds on, and keys to count.

Numbers, arrays, lists of unequal length, dictionaries, decimals, texts, None: a first sample decides how outputs are
read, and from then on what is read of an output depends on that output alone. So an event on what was read is an event
on outputs, and whatever is left out here costs power, never soundness.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sordino.accounting.curve import Floats
from sordino.errors import ArgumentError

from . import labels
from .columns import Columns
from .flattening import flattened
from .numbering import as_array, filled, named, row_shapes

MOST_COLUMNS = 1024
"""Numbers of one output that are read; of longer ones the first."""
_MOST_NAMED = 512
_BEGINNING = 4
_FEW = 0.5
"""Labels are counted where a first sample has fewer different ones than this share of its draws."""
_REMEMBERED = 5_000
_OUTCOME, _SHAPE, _BEGINS = "output is ", "output has the form ", "output begins with "

View = Callable[[Any], Any]


@dataclass(frozen=True)
class Table:
    """Outputs as numbers: `columns` is one row for each output, NaN where it has no such number.

    `keys` are one for each output and kind of label: equal numbers for equal labels.
    """

    columns: Floats
    keys: tuple[Floats, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def last(self, draws: int) -> Table:
        """Return the last outputs, so many of them."""
        return Table(self.columns[-draws:], tuple(keys[-draws:] for keys in self.keys))

    @staticmethod
    def together(tables: Sequence[Table]) -> Table:
        """Return all outputs of `tables` in one."""
        columns = np.concatenate([table.columns for table in tables])
        return Table(
            columns, tuple(np.concatenate(keys) for keys in zip(*(table.keys for table in tables), strict=True))
        )


@dataclass
class Reader:
    """How the outputs of one mechanism are read; `of` builds it from a first sample of them.

    A `view` is the user's own eye: a function of one output, whose result is read instead.
    """

    columns: Columns
    counted: tuple[str, ...] = ()
    view: View | None = None
    blind: bool = False
    """Whether nothing in a first sample could be counted: no number that differed, and no label that came again."""
    _texts: dict[float, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, sample: Any, view: View | None = None) -> Reader:
        """Return the way to read outputs such as these."""
        outputs = _viewed(sample, view)
        if len(outputs) == 0:
            raise ArgumentError("a release must return as many outputs as were asked for, not none", "SRD-V002")
        paths = named(outputs) if isinstance(outputs, np.ndarray) else _paths(outputs)
        reader = cls(Columns(paths), (), view)
        base, shapes, begins = reader._read(outputs)
        reader.columns = Columns.of(paths, base)
        base, shapes, begins = reader._read(outputs)
        few = max(2.0, _FEW * len(outputs))
        alone = len(paths) == 1 and len(set(shapes.tolist())) == 1
        found = {
            _OUTCOME: None if alone else labels.mixed(base, shapes),
            _SHAPE: shapes,
            _BEGINS: begins if len(paths) > _BEGINNING else None,
        }
        useful = [kind for kind, words in found.items() if words is not None and len(np.unique(words)) <= few]
        reader.counted = tuple(useful if _OUTCOME not in useful else [_OUTCOME])
        if not useful and not alone:
            reader.counted = (_OUTCOME,)
            reader.blind = all(len(np.unique(column)) < 2 for column in base.T)
        return reader

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are."""
        return self.columns.names

    def read(self, outputs: Any, draws: int | None = None) -> Table:
        """Return `outputs` as numbers; refuse another number of them than `draws`."""
        found = _viewed(outputs, self.view)
        if draws is not None and len(found) != draws:
            raise ArgumentError(
                f"a release must return as many outputs as were asked for: {draws}, not {len(found)}", "SRD-V002"
            )
        base, shapes, begins = self._read(found)
        words = {_SHAPE: shapes, _BEGINS: begins}
        keys = []
        for kind in self.counted:
            keys.append(labels.keys(labels.mixed(base, shapes) if kind == _OUTCOME else words[kind]))
            self._remember(kind, keys[-1], found)
        return Table(self.columns.derived(base), tuple(keys))

    def word(self, which: int, key: float) -> str:
        """Return the label behind a key, in words."""
        return self._texts.get(key, f"{self.counted[which]}what hashes to {int(key):x}")

    def _read(self, outputs: Any) -> tuple[Floats, labels.Words, labels.Words]:
        """Return numbers by column, and the hashed shapes and beginnings of outputs."""
        if isinstance(outputs, np.ndarray):
            base = self.columns.placed(outputs)
            shapes = row_shapes(outputs)
            begins = row_shapes(outputs[:, :_BEGINNING]) if outputs.ndim > 1 else shapes
        else:
            flats = [flattened(output) for output in outputs]
            base = filled([flat.numbers for flat in flats], self.columns.paths, self.columns.centres)
            shapes = labels.text_words([flat.shape for flat in flats])
            begins = labels.text_words(
                [f"[{','.join(flat.shapes[:_BEGINNING])}]" if flat.listed else flat.shapes[0] for flat in flats]
            )
        return base, shapes, labels.mixed(base[:, self.columns.first(_BEGINNING)], begins)

    def _remember(self, kind: str, keys: Floats, outputs: Any) -> None:
        """Keep the words of some labels, for whoever reads the witness."""
        if len(self._texts) >= _REMEMBERED:
            return
        distinct, places = np.unique(keys, return_index=True)
        for key, place in zip(distinct.tolist(), places.tolist(), strict=True):
            if key not in self._texts and len(self._texts) < _REMEMBERED:
                self._texts[key] = kind + _text(kind, outputs[place])

    def to_json(self) -> dict[str, Any]:
        """Return how outputs are read, as plain data; a view is code, so only its name is told."""
        name = None if self.view is None else getattr(self.view, "__qualname__", type(self.view).__name__)
        return {"columns": self.columns.to_json(), "counted": list(self.counted), "view": name}

    @classmethod
    def from_json(cls, plain: Any, view: View | None = None) -> Reader:
        """Return the way to read outputs that was written; with the view that it had, if it had one."""
        if (plain["view"] is None) != (view is None):
            asked = plain["view"]
            raise ArgumentError(
                f"this event is about outputs as {asked} shows them; give that function as view="
                if asked
                else "this event is about outputs as they are; leave out view=",
                "SRD-V004",
            )
        return cls(Columns.from_json(plain["columns"]), tuple(plain["counted"]), view)


def rows(outputs: Any, view: View | None = None) -> Any:
    """Return outputs one by one: as they came where a view will look at them, else the rows of a table, too."""
    return as_array(outputs) if view is None else outputs


def _viewed(outputs: Any, view: View | None) -> Any:
    """Return outputs, as the user sees them, as an array of numbers or as a list of anything."""
    return as_array(outputs if view is None else [view(output) for output in outputs])


def _paths(outputs: Sequence[Any]) -> tuple[str, ...]:
    """Return the paths of the numbers in a first sample, those that most outputs have first if they are too many."""
    seen: Counter[str] = Counter()
    listed = True
    for output in outputs:
        flat = flattened(output)
        listed = listed and flat.listed
        seen.update(flat.numbers.keys())
    most = MOST_COLUMNS if listed else _MOST_NAMED
    kept = set(sorted(seen, key=lambda path: -seen[path])[:most])
    return tuple(path for path in seen if path in kept)


def _text(kind: str, output: Any) -> str:
    if kind == _SHAPE:
        found = flattened(output).shape
    elif kind == _BEGINS:
        listed = output.tolist() if isinstance(output, np.ndarray) else output
        found = str(list(listed[:_BEGINNING]) if isinstance(listed, list | tuple) else listed)
    else:
        found = str(output.tolist() if isinstance(output, np.ndarray | np.generic) else output)
    return found if len(found) <= 60 else f"{found[:59]}…"
