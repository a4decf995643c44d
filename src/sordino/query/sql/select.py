"""The outermost SELECT, to a `Question`: keys, aggregates, and what is computed from their noisy values."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sordino.errors import QuestionError
from sordino.query.estimate.evaluate import refuse_lists
from sordino.query.model.complexity import refuse_large_question
from sordino.query.model.expression import Expression
from sordino.query.model.question import Key, KeyTable, Options, Output, Question
from sordino.query.model.ranges import derive

from .aggregates import OutputReader
from .calls import has_aggregates
from .context import Context
from .grouped import position
from .joined_keys import joined_keys
from .key_table import keyed_sources
from .keys import named_keys, read_keys
from .names import item, output_names
from .outer import is_worth_trying, outer_question, over_released
from .per_group import PerGroupReader, bounded_per_group
from .predicate import narrowed
from .refusals import only, refuse, refused_node

_SELECT = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "with_", "distinct")
_DIGITS = 9
_MOST_OUTPUTS = 300


def read_question(tree: exp.Expr, context: Context, options: Options) -> Question:
    """Return the question that the outermost query asks, of the data or of the answer of the query inside."""
    select = _outermost(tree)
    try:
        return _question(select, context, options)
    except QuestionError as refusal:
        over = over_released(select) if is_worth_trying(refusal) else None
        if over is None:
            raise
        try:
            inner = read_question(over.inner, context, options)
        except QuestionError as inside:
            raise (refusal if inside.code == "SRD-Q106" else inside) from None
    asked = outer_question(over, inner)
    cut = _cut(select)
    return asked if cut == (None, 0) else replace(asked, limit=cut[0], offset=cut[1])


def _cut(select: exp.Select) -> tuple[int | None, int]:
    """Return LIMIT and OFFSET."""
    return _count(select.args.get("limit"), "LIMIT"), _count(select.args.get("offset"), "OFFSET") or 0


def _question(select: exp.Select, context: Context, options: Options) -> Question:
    context = context.naming(select)
    only(select, *_SELECT)
    _refuse_needless_distinct(select)
    if len(select.expressions) > _MOST_OUTPUTS:
        raise refuse(f"a question has at most {_MOST_OUTPUTS} columns", "ask in several questions")
    sources = keyed_sources(select, context)
    scope = narrowed(*context.read_from(select, context), context) if sources is None else sources.scope
    if scope.relation.is_public:
        raise refuse("all tables in this question are public", "it needs no privacy: query them directly", "SRD-Q106")
    keys, sets = read_keys(select, scope, context.schema)
    per_group = bounded_per_group(select) and not context.schema.by_row
    if per_group and (sources is not None or sets is not None):
        raise refuse("bounds per group go with plain keys", "clip each row: CLIP(x, low, high)", "SRD-Q108")
    reader = (
        PerGroupReader(scope, keys, context.schema, select)
        if per_group
        else OutputReader(scope, keys, context.schema, key_table=sources is not None and not options.public_groups)
    )
    outputs = _outputs(select, reader)
    having = _having(select, reader, outputs)
    order = _order(select, reader, outputs)
    named = named_keys(keys, select, scope)
    key_table = None
    if sources is not None:
        key_table, named = sources.table_for(keys), sources.known(named)
        sources.refuse_public(reader.aggregates)
    elif reader.aggregates and sets is None and not per_group:
        key_table = joined_keys(keys, scope.relation)
    if not reader.aggregates:
        # which of the values that WHERE lists there are is not public, but a question
        named = tuple(replace(key, column=derive(key.expression, scope.relation.columns)) for key in named)
        _refuse_known_groups(named, key_table, sets is not None)
    relation = scope.relation
    if isinstance(reader, PerGroupReader):
        relation, named, options = reader.people, reader.keys(named), reader.options(options)
    limit, offset = _cut(select)
    question = Question(
        schema=context.schema,
        relation=relation,
        aggregates=tuple(reader.aggregates),
        outputs=outputs,
        keys=named,
        key_table=key_table,
        grouping_sets=sets,
        having=having,
        order=order,
        limit=limit,
        offset=offset,
        options=options,
    )
    _refuse_private_groups(question)
    refuse_large_question(question)
    return question


def _refuse_private_groups(question: Question) -> None:
    """OPTIONS(group_selection_strategy = PUBLIC_GROUPS) is kept, or refused."""
    if not question.options.public_groups or question.key_table is not None:
        return
    unknown = [key.name for key in question.keys if key.column.keys is None]
    if unknown:
        raise refuse(
            f"group_selection_strategy is PUBLIC_GROUPS, and nothing says which values {unknown[0]!r} has",
            "join the public table of them: FROM private RIGHT JOIN (SELECT DISTINCT k FROM public) …; or declare keys",
            "SRD-Q106",
        )


def _refuse_needless_distinct(select: exp.Select) -> None:
    """DISTINCT is another word for GROUP BY, and says nothing beside it."""
    distinct = select.args.get("distinct")
    if distinct is None:
        return
    only(distinct)
    if select.args.get("group") is not None or has_aggregates(select.expressions):
        raise refuse("groups differ from each other without DISTINCT", "leave it out")


def _refuse_known_groups(keys: tuple[Key, ...], key_table: KeyTable | None, totals: bool) -> None:
    """Without an aggregate, the question is which groups there are."""
    if totals:
        raise refuse("totals are of something", "write COUNT(*), or GROUP BY without ROLLUP, CUBE …", "SRD-Q106")
    if not keys:
        raise refuse(
            "no aggregate is asked for, and single rows are never shown", "write COUNT(*), SUM(x), AVG(x) …", "SRD-Q106"
        )
    if key_table is not None or all(key.column.keys is not None for key in keys):
        raise refuse(
            "which groups there are is public already, and all of them are always shown",
            "look at the data set's declaration, or ask for an aggregate such as COUNT(*)",
            "SRD-Q106",
        )


def _outermost(tree: exp.Expr) -> exp.Select:
    while isinstance(tree, exp.Subquery | exp.Paren):
        only(tree, "this")
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise refused_node(tree)
    return tree


def _outputs(select: exp.Select, reader: OutputReader) -> tuple[Output, ...]:
    listed = [item(node) for node in select.expressions]
    expressions = [reader.read(one.node) for one in listed]
    for expression in expressions:
        refuse_lists(expression, frozenset(reader.lists))
    return tuple(Output(name, expression) for name, expression in zip(output_names(listed), expressions, strict=True))


def _having(select: exp.Select, reader: OutputReader, outputs: tuple[Output, ...]) -> Expression | None:
    clause = select.args.get("having")
    if clause is None:
        return None
    reader.named = {output.name.lower(): output.expression for output in outputs}
    condition = reader.condition(clause.this)
    _refuse_lists_at_all(condition, reader)
    return condition


def _order(
    select: exp.Select, reader: OutputReader, outputs: tuple[Output, ...]
) -> tuple[tuple[Expression, bool], ...]:
    clause = select.args.get("order")
    if clause is None:
        return ()
    only(clause, "expressions")
    reader.named = {output.name.lower(): output.expression for output in outputs}
    order: list[tuple[Expression, bool]] = []
    for one in clause.expressions:
        only(one, "this", "desc", "nulls_first")
        expression = _ordered_by(one.this, reader, outputs)
        _refuse_lists_at_all(expression, reader)
        order.append((expression, bool(one.args.get("desc"))))
    return tuple(order)


def _refuse_lists_at_all(expression: Expression, reader: OutputReader) -> None:
    if expression.columns & reader.lists:
        raise refuse("a list is neither large nor small", "use one number, such as QUANTILE(x, 0.5)", "SRD-Q104")


def _ordered_by(node: exp.Expr, reader: OutputReader, outputs: tuple[Output, ...]) -> Expression:
    """A position or an alias of the SELECT comes first, as in SQL."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return outputs[position(str(node.this), len(outputs))].expression
    if isinstance(node, exp.Column) and not node.table and node.name.lower() in reader.named:
        return reader.named[node.name.lower()]
    return reader.read(node)


def _count(clause: exp.Expr | None, word: str) -> int | None:
    if clause is None:
        return None
    if not isinstance(clause, exp.Limit | exp.Offset):
        raise refuse("FETCH is not possible", "write LIMIT 10")
    only(clause, "expression")
    node = clause.expression
    text = str(node.this) if isinstance(node, exp.Literal) and not node.is_string else ""
    if not (text.isdecimal() and text.isascii() and len(text) <= _DIGITS):
        raise refuse(f"{word} needs a constant whole number", f"write {word} 10", "SRD-Q104")
    return int(text)
