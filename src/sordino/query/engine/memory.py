"""Tasks that were translated before: a question that is asked again, if with other numbers, goes to the engine at once.

One that was asked about other rows before (another filter, another table with the same columns) is translated as far as
its rows go (``form.py``).

**Guarantee**: what comes back is what `compute` gives. A memory serves one data set; it keeps the texts of queries and
neither salts nor results; and it takes a task for an earlier one only if both are written alike, to the last digit, and
equal, but for what their `slots` hold. Tasks whose groups come from a public table are translated anew, since that
table is read on the way. What is remembered depends on the questions alone, so the time that is saved says nothing
about the data.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from sordino.data.metadata import Schema
from sordino.query.model.task import Exact, Task

from .exact import Prepared, Tables, compute
from .form import Form, Outline
from .relations import engine_of, lower_relation
from .slots import take_out
from .statement import takes_parameters

K = TypeVar("K")
V = TypeVar("V")

_MOST = 64
"""How many of each kind are remembered."""


class Memory:
    """The last tasks of one data set, as its engine reads them."""

    def __init__(self, schema: Schema, tables: Tables) -> None:
        self._schema = schema
        self._tables = tables
        self._prepared = _Last[Task, Prepared]()
        self._forms = _Last[Outline, Form]()

    def compute(self, task: Task, salt: int) -> Exact:
        """Return the exact answer of a task, with a salt that is drawn afresh by the caller."""
        if task.key_table is not None or not takes_parameters(engine_of(task.relation, self._tables)):
            return compute(task, self._schema, self._tables, salt)
        shape, given = take_out(task)
        return self._prepared.find(shape, self._prepare).run(salt, given)

    def _prepare(self, shape: Task) -> Prepared:
        source = lower_relation(shape.relation, self._tables, self._schema)
        form = self._forms.find(Outline.of(shape, source), lambda outline: outline.form(source.get_backend()))
        return form.over(shape, source)


class _Last(Generic[K, V]):
    """What was made of the last things."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[K, V]] = OrderedDict()
        self._lock = Lock()

    def find(self, asked: K, make: Callable[[K], V]) -> V:
        """Return what was made of this very thing before, or make it."""
        written = repr(asked)
        with self._lock:
            known = self._known.get(written)
        if known is None or known[0] != asked:
            known = asked, make(asked)
        with self._lock:
            self._known[written] = known
            self._known.move_to_end(written)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return known[1]
