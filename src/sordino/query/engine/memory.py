"""Tasks that were translated before: a question that is asked again, if with other numbers, goes to the engine at once.

**Guarantee**: what comes back is what `compute` gives. A memory serves one data set; it keeps the texts of queries and
neither salts nor results; and it takes a task for an earlier one only if both are written alike, to the last digit, and
equal, but for what their `slots` hold. Tasks whose groups come from a public table are translated anew, since that
table is read on the way. What is remembered depends on the questions alone, so the time that is saved says nothing
about the data.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from sordino.query.model.metadata import Schema
from sordino.query.model.task import Exact, Task

from .exact import Prepared, Tables, compute, prepare
from .relations import engine_of
from .slots import take_out
from .statement import takes_parameters

_MOST = 64
"""How many tasks are remembered."""


class Memory:
    """The last tasks of one data set, as its engine reads them."""

    def __init__(self, schema: Schema, tables: Tables) -> None:
        self._schema = schema
        self._tables = tables
        self._known: OrderedDict[str, Prepared] = OrderedDict()
        self._lock = Lock()

    def compute(self, task: Task, salt: int) -> Exact:
        """Return the exact answer of a task, with a salt that is drawn afresh by the caller."""
        if task.key_table is not None or not takes_parameters(engine_of(task.relation, self._tables)):
            return compute(task, self._schema, self._tables, salt)
        shape, given = take_out(task)
        written = repr(shape)
        with self._lock:
            known = self._known.get(written)
        if known is None or known.task != shape:
            known = prepare(shape, self._schema, self._tables, salt)
        self._keep(written, known)
        return known.run(salt, given)

    def _keep(self, written: str, prepared: Prepared) -> None:
        with self._lock:
            self._known[written] = prepared
            self._known.move_to_end(written)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
