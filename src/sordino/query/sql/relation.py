"""From FROM, subqueries, WITH and UNION ALL to relations. Columns get names of our own: no alias reaches an engine."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sordino.data.kinds import Kind
from sordino.data.metadata import Schema
from sordino.errors import QuestionError
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.operations import call
from sordino.query.model.question import Options
from sordino.query.model.relation import Relation, Scan, UnionAll

from .calls import has_aggregates
from .constant_rows import constant_select, constant_source, is_constant
from .context import Context, measured, renamed
from .join import Joined, comma_joined, is_comma, joined
from .names import items, output_names
from .person import distinct_rows, summarised
from .predicate import conditions_of, narrowed
from .refusals import FUNCTIONS as REFUSED_FUNCTIONS
from .refusals import only, refuse, refused_node, unknown_name
from .scope import Scope, Visible, computed, project
from .sets import in_both
from .text import read_text
from .window import WindowReader

_FILE_ENDINGS = (".csv", ".parquet", ".json", ".db", ".duckdb", ".arrow", ".tsv", ".txt", ".gz")
_CATALOGUES = [
    "information_schema",
    "pg_catalog",
    "sys",
    "system",
    "duckdb",
    "sqlite_master",
    "pg_tables",
    "duckdb_tables",
]
_MOST_BRANCHES = 100
_SELECT = ("expressions", "from_", "joins", "where", "group", "having", "distinct", "with_")


def new_context(schema: Schema) -> Context:
    """Return the context of a whole question."""
    return Context(schema, read_query, read_from)


def read_query(query: exp.Expr, context: Context) -> Scope:
    """Return the rows of a subquery: a SELECT, or several put together by UNION ALL."""
    if isinstance(query, exp.Subquery):
        only(query, "this", "alias")
        if isinstance(query.this, exp.Table):
            return renamed(_in_parentheses(query.this, context), query.args.get("alias"))
        return renamed(read_query(query.this, context), query.args.get("alias"))
    if isinstance(query, exp.Union):
        return _union(query, context.naming(query))
    if isinstance(query, exp.Intersect | exp.Except):
        return in_both(query, context.naming(query))
    if isinstance(query, exp.Select) and is_constant(query):
        return constant_select(query)
    if isinstance(query, exp.Select):
        return _select(query, context.naming(query))
    raise refused_node(query)


def read_from(select: exp.Select, context: Context) -> Joined:
    """Return the rows of FROM, joined from left to right, and what WHERE asks of them besides."""
    clause = select.args.get("from_")
    if clause is None:
        raise refuse("a question needs a table", "write SELECT … FROM …")
    only(clause, "this")
    scope, conditions = read_source(clause.this, context), conditions_of(select)
    waiting: list[Scope] = []
    for join in select.args.get("joins") or ():
        source = read_source(join.this, context)
        if is_comma(join):
            waiting.append(source)
            continue
        scope, conditions = comma_joined(scope, waiting, conditions, context.schema)
        scope, waiting = measured(joined(scope, source, join, context.schema)), []
    scope, conditions = comma_joined(scope, waiting, conditions, context.schema)
    return measured(scope), conditions


def read_source(source: exp.Expr, context: Context) -> Scope:
    """Return the rows of one table, of a name given by WITH, or of a subquery."""
    if isinstance(source, exp.Subquery):
        return context.subquery(source)
    if isinstance(source, exp.Unnest | exp.Values):
        return constant_source(source)
    if not isinstance(source, exp.Table):
        raise refused_node(source)
    only(source, "this", "db", "catalog", "alias")
    if not isinstance(source.this, exp.Identifier):
        raise _refused_function(source.this)
    name = ".".join(part.name for part in source.parts)
    scope = context.named.get(name.lower()) or _view(name, context) or Scope.over(_table(name, context), name)
    alias = source.args.get("alias") or exp.TableAlias(this=exp.to_identifier(source.parts[-1].name, quoted=True))
    return renamed(scope, alias)


def _in_parentheses(table: exp.Table, context: Context) -> Scope:
    """Return the rows of ``(a JOIN b ON …)``."""
    alone = table.copy()
    alone.set("joins", None)
    select = exp.Select(from_=exp.From(this=alone), joins=table.args.get("joins"))
    scope, conditions = read_from(select, context)
    return narrowed(scope, conditions, context)


def _view(name: str, context: Context) -> Scope | None:
    for view in context.schema.views:
        if view.lower() == name.lower():
            return read_view(view, context.schema)
    return None


def read_view(view: str, schema: Schema) -> Scope:
    """Return the rows of a view of the schema; it sees the tables and the views before it, and no name of WITH."""
    tree, options, unit = read_text(schema.views[view])
    if options != Options() or unit is not None:
        raise refuse("WITH DIFFERENTIAL_PRIVACY belongs to a question", "leave it out of the view", "SRD-Q108")
    return new_context(schema.before(view)).subquery(tree)


def _table(name: str, context: Context) -> Relation:
    matching = _called(name, context.schema)
    if len(matching) == 1:
        return Scan(context.schema.tables[matching[0]])
    if matching:
        raise QuestionError(f"the table {name[:60]!r} could be {' or '.join(matching)}; say which", "SRD-Q103")
    lowered = name.lower()
    if lowered.endswith(_FILE_ENDINGS) or "/" in name:
        raise refuse(f"{name[:60]!r} looks like a file", REFUSED_FUNCTIONS["READ_CSV"])
    if lowered.split(".")[0] in _CATALOGUES:
        raise refuse(f"{name[:60]!r} is the engine's own", "the data set's schema lists its tables and columns")
    raise unknown_name("table", name, [*context.schema.tables, *context.schema.views, *context.named])


def _called(name: str, schema: Schema) -> list[str]:
    """Return the tables that a name means: as declared, behind the data set's own name, or by their last parts."""
    lowered = name.lower()
    within = lowered.removeprefix(f"{schema.name.lower()}.")
    exact = [table for table in schema.tables if table.lower() in (lowered, within)]
    return exact or [table for table in schema.tables if table.lower().endswith(f".{lowered}")]


def _refused_function(function: exp.Expr) -> QuestionError:
    called = function.name.upper() if isinstance(function, exp.Anonymous) else None
    name = called or (function.sql_name() if isinstance(function, exp.Func) else "")
    why = REFUSED_FUNCTIONS.get(name, "select from a table of the data set")
    return refuse(f"the table function {name[:60]} is not possible", why)


def _select(select: exp.Select, context: Context) -> Scope:
    only(select, *_SELECT)
    distinct = select.args.get("distinct")
    if distinct is not None:
        only(distinct)
    scope = narrowed(*context.read_from(select, context), context)
    if select.args.get("group") is not None or has_aggregates(select.expressions):
        found = summarised(select, scope, context)
    elif select.args.get("having") is not None:
        raise refuse("HAVING without GROUP BY is not possible in a subquery", "write WHERE")
    else:
        listed, reader = items(select, scope), WindowReader(scope, context.schema)
        outputs = [reader.read(item.node) if item.starred is None else item.starred for item in listed]
        found = project(reader.relation, outputs, output_names(listed))
    return found if distinct is None else distinct_rows(found, context)


def _union(union: exp.Union, context: Context) -> Scope:
    parts, distinct = _branches(union)
    if len(parts) > _MOST_BRANCHES:
        raise refuse(f"a UNION ALL has at most {_MOST_BRANCHES} parts", "ask in several questions", "SRD-Q101")
    branches = [context.subquery(part) for part in parts]
    if len({len(branch.visible) for branch in branches}) > 1:
        raise refuse("the parts of a UNION ALL need as many columns", "list them in the same order", "SRD-Q104")
    kinds = [_common_kind(place, each) for place, each in enumerate(zip(*map(_kinds, branches), strict=True), 1)]
    relations = [_in_order(branch, kinds) for branch in branches]
    if len({relation.is_public for relation in relations}) > 1:
        raise refuse("private and public rows cannot be put together", "ask about the private rows alone", "SRD-Q105")
    relation = UnionAll(tuple(relations))
    pairs = zip((seen.name for seen in branches[0].visible), relation.columns, strict=True)
    scope = Scope(relation, tuple(Visible("", name, column) for name, column in pairs))
    return distinct_rows(scope, context) if distinct else scope


def _branches(union: exp.Union) -> tuple[list[exp.Expr], bool]:
    """Return the parts from left to right, without recursion, and whether equal rows are one: UNION without ALL."""
    parts: list[exp.Expr] = []
    kinds: set[bool] = set()
    stack: list[exp.Expr] = [union]
    while stack:
        part = stack.pop()
        if type(part) is exp.Union:
            only(part, "this", "expression", "with_", "distinct")
            kinds.add(bool(part.args.get("distinct")))
            stack += [part.expression, part.this]
        else:
            parts.append(part)
    if len(kinds) > 1:
        raise refuse("UNION beside UNION ALL is not possible", "put one of them into a subquery")
    return parts, kinds == {True}


def _kinds(scope: Scope) -> list[Kind]:
    columns = scope.relation.columns
    return [columns[seen.column].kind for seen in scope.visible]


def _common_kind(place: int, kinds: Sequence[Kind]) -> Kind:
    """Return the kind of a column of a UNION ALL: integers beside reals are made real."""
    if len(set(kinds)) == 1 or set(kinds) == {Kind.INTEGER, Kind.REAL}:
        return kinds[0] if len(set(kinds)) == 1 else Kind.REAL
    named = " and ".join(dict.fromkeys(kind.value for kind in kinds))
    raise refuse(f"column {place} of a UNION ALL has the kinds {named}", "write CAST(…) in its parts", "SRD-Q104")


def _in_order(scope: Scope, kinds: Sequence[Kind]) -> Relation:
    """Return the rows with their columns in order, of these kinds, under names that all parts of a UNION ALL share."""
    references = [ColumnRef(kind, seen.column) for seen, kind in zip(scope.visible, _kinds(scope), strict=True)]
    outputs: list[Expression] = [
        each if each.kind is kind else call("to_real", each) for each, kind in zip(references, kinds, strict=True)
    ]
    return computed(scope.relation, [f"c{place}" for place in range(len(outputs))], outputs)
