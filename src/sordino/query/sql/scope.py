"""Which names can be used at one place of a query, and which column of the relation each of them means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from sordino.data.metadata import Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.lineage import owner_column, owners
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Project, Relation, Scan

from .refusals import only, refuse, unknown_name


@dataclass(frozen=True)
class Visible:
    """A name that can be said, the table or alias that it belongs to, and the relation's column that it means."""

    qualifier: str
    name: str
    column: str
    merged: bool = False
    """Joined by USING: it is the same as a column on the left, so a bare name does not mean it."""


@dataclass(frozen=True)
class Scope:
    """A relation and the names of its columns. Names are compared without regard to case, as DuckDB does."""

    relation: Relation
    visible: tuple[Visible, ...]

    @classmethod
    def over(cls, relation: Relation, qualifier: str) -> Scope:
        """Return the scope in which all columns of a relation are seen under one qualifier."""
        return cls(relation, tuple(Visible(qualifier, name, name) for name in relation.columns))

    @property
    def qualifiers(self) -> frozenset[str]:
        """All tables and aliases, in lower case."""
        return frozenset(seen.qualifier.lower() for seen in self.visible)

    def with_relation(self, relation: Relation) -> Scope:
        """Return the same names over a relation that has the same columns at least."""
        return replace(self, relation=relation)

    def matching(self, node: exp.Column) -> list[Visible]:
        """Return all that the name could mean here."""
        only(node, "this", "table")
        if not isinstance(node.this, exp.Identifier):
            return []
        qualifier, name = node.table.lower(), node.name.lower()
        return [
            seen
            for seen in self.visible
            if seen.name.lower() == name and (seen.qualifier.lower() == qualifier if qualifier else not seen.merged)
        ]

    def find(self, node: exp.Column) -> Visible:
        """Return what the name means; raise an error that names close ones if it means nothing, or several things."""
        found = self.matching(node)
        if len(found) == 1:
            return found[0]
        if found:
            ways = " or ".join(sorted({f"{seen.qualifier}.{seen.name}" for seen in found}))
            raise QuestionError(f"the column {node.name[:60]!r} could mean {ways}; say which", "SRD-Q103")
        if isinstance(node.this, exp.Star):
            raise refuse(f"{node.table}.* is not possible here", "list the columns that you want")
        if node.table and node.table.lower() not in self.qualifiers:
            raise unknown_name("table or alias", node.table, {seen.qualifier for seen in self.visible})
        raise _hidden(node.name, self.relation) or unknown_name(
            "column", node.name, [seen.name for seen in self.visible]
        )

    def reference(self, node: exp.Column) -> ColumnRef:
        """Return the expression that the name stands for."""
        column = self.find(node).column
        return ColumnRef(self.relation.columns[column].kind, column)

    def starred(self, qualifier: str = "") -> list[Visible]:
        """Return what ``*`` or ``qualifier.*`` stands for."""
        if not qualifier:
            return [seen for seen in self.visible if not seen.merged]
        if qualifier.lower() not in self.qualifiers:
            raise unknown_name("table or alias", qualifier, {seen.qualifier for seen in self.visible})
        return [seen for seen in self.visible if seen.qualifier.lower() == qualifier.lower()]


def _hidden(name: str, relation: Relation) -> QuestionError | None:
    """Return the error for a column that a table has and that cannot be asked about, with the reason."""
    tables = (below.table for below in relation.walk() if isinstance(below, Scan))
    for column, reason in (pair for table in tables for pair in table.hidden.items()):
        if column.lower() == name.lower():
            return QuestionError(f"the column {column[:60]!r} cannot be asked about: {reason}", "SRD-Q202")
    return None


def keyed_by_person(scope: Scope, schema: Schema, form: str) -> str:
    """Return what to write so that the person is named: ``form`` with the person's column, where there is one here."""
    held = owners(scope.relation, schema)
    below = (owner_column(each.table, schema) for each in scope.relation.walk() if isinstance(each, Scan))
    named = next((seen.name for seen in scope.visible if seen.column in held), None) or next(filter(None, below), None)
    if named is not None:
        return f"write {form.format(named)} with the person's column"
    return f"no column here says whose a row is ({schema.unit.name}); select it below, or join the table that holds it"


def column_names(outputs: Sequence[Expression], prefix: str) -> list[str]:
    """Return names for the columns of a relation: what is handed on keeps its own, and all else gets one of ours.

    Either way no name of the analyst's reaches an engine.
    """
    names: list[str] = []
    for place, output in enumerate(outputs):
        wanted = output.name if isinstance(output, ColumnRef) else f"{prefix}{place}"
        names.append(unique_name(wanted, set(names)))
    return names


def project(source: Relation, outputs: Sequence[Expression], names: Sequence[str]) -> Scope:
    """Return the rows of some expressions, seen under the names given."""
    own = column_names(outputs, "c")
    return Scope(computed(source, own, outputs), tuple(Visible("", *pair) for pair in zip(names, own, strict=True)))


def computed(source: Relation, own: Sequence[str], outputs: Sequence[Expression]) -> Project:
    """Return the rows of some expressions, under names of our own."""
    columns = source.columns
    pairs = zip(own, outputs, strict=True)
    return Project(source, tuple((name, output, derive(output, columns)) for name, output in pairs))


def unique_name(wanted: str, taken: frozenset[str] | set[str]) -> str:
    """Return the name, or the name with the first number that makes it new; case does not distinguish names."""
    lowered = {name.lower() for name in taken}
    name, number = wanted, 1
    while name.lower() in lowered:
        number += 1
        name = f"{wanted}_{number}"
    return name
