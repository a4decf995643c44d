"""Private Ibis tables may be views, but each of their rows must come from one row: else whose would it be?"""

from __future__ import annotations

from typing import Any

import ibis.expr.operations as ops

from sordino.errors import QuestionError

_ROW_BY_ROW = (
    ops.DatabaseTable,
    ops.InMemoryTable,
    ops.Project,
    ops.Filter,
    ops.DropColumns,
    ops.FillNull,
    ops.DropNull,
)
_NEVER_IN_A_ROW = (ops.Reduction, ops.Analytic, ops.WindowFunction, ops.Subquery, ops.Impure, ops.Unnest)


def refuse_mixing_rows(name: str, table: Any) -> None:
    """Refuse an Ibis expression whose rows depend on several rows, on their order, or on chance.

    **Guarantee**: what passes is a filter and a projection of one table, row by row, the same whenever it is read.
    **Assumes**: of a view inside of the database, which cannot be looked into, its owner says the same.
    """
    for node in table.op().find((ops.Relation, *_NEVER_IN_A_ROW)):
        if isinstance(node, _NEVER_IN_A_ROW) or not isinstance(node, _ROW_BY_ROW):
            raise QuestionError(
                f"the Ibis table {name!r} contains {type(node).__name__}, so its rows need not be one person's own; "
                "give filters and selections of one table only, and put the rest into the question",
                "SRD-Q203",
            )
