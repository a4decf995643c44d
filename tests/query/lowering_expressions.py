"""Random expressions over given columns, of every kind and any nesting, built by the allow-list's own rules."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import strategies as st

from sordino.data.kinds import Kind
from sordino.query.model.expression import ColumnRef
from sordino.query.model.literals import literal
from sordino.query.model.operations import DATE_PARTS, DATE_TRUNCATIONS, call

Strategy = st.SearchStrategy[Any]

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

_CONSTANTS: dict[Kind, Strategy] = {
    Kind.BOOLEAN: st.booleans(),
    Kind.INTEGER: st.one_of(st.integers(-9, 9), st.integers(-(2**63) + 1, 2**63 - 1)),
    Kind.REAL: st.one_of(st.sampled_from([0.0, -0.5, 1.5, 1e150, -1e-140, 3e-300]), st.floats(-1e6, 1e6)),
    Kind.TEXT: st.sampled_from(["", "a", "A%", "it's", "\\", "\n", "é", "12", "2024-02-29", "ü\"'--"]),
    Kind.DATE: st.dates(),
    Kind.TIMESTAMP: st.datetimes(),
}


def expressions(columns: Mapping[str, Kind], kind: Kind, depth: int = 3) -> Strategy:
    """Return a strategy for expressions of a kind; exp, ln and power are left out, since they may differ in a bit."""
    return _expressions(tuple(columns.items()), kind, depth)


@cache
def _expressions(columns: tuple[tuple[str, Kind], ...], kind: Kind, depth: int) -> Strategy:
    leaves = [ColumnRef(each, name) for name, each in columns if each is kind]
    constants = _CONSTANTS[kind].map(literal)
    simple = st.one_of(st.sampled_from(leaves), constants) if leaves else constants
    if depth == 0:
        return simple

    def below(wanted: Kind) -> Strategy:
        return _expressions(columns, wanted, depth - 1)

    return st.one_of(simple, *_COMPOUND[kind](below), *_chosen(kind, below))


def _chosen(kind: Kind, below: Any) -> list[Strategy]:
    values = below(kind)
    return [
        st.builds(lambda *parts: call("case", *parts), below(Kind.BOOLEAN), values, values),
        st.builds(lambda *parts: call("coalesce", *parts), values, values),
        st.builds(lambda *parts: call("nullif", *parts), values, values),
    ]


def _applied(names: Any, *arguments: Strategy, detail: Strategy | None = None) -> Strategy:
    details = st.none() if detail is None else detail
    return st.builds(
        lambda name, given, parts: call(name, *parts, detail=given),
        st.sampled_from(names),
        details,
        st.tuples(*arguments),
    )


def _booleans(below: Any) -> list[Strategy]:
    boolean, text = below(Kind.BOOLEAN), below(Kind.TEXT)
    number = st.one_of(below(Kind.INTEGER), below(Kind.REAL))
    compared = [_applied(COMPARISONS, below(kind), below(kind)) for kind in Kind]
    return [
        *compared,
        _applied(COMPARISONS, number, number),
        _applied(("and", "or"), boolean, boolean),
        _applied(("not",), boolean),
        *(_applied(("is_null",), below(kind)) for kind in Kind),
        _applied(("like", "ilike", "starts_with"), text, detail=st.sampled_from(["", "a%", "%_", "it's", "%2%", "A"])),
        _applied(("in",), text, detail=st.just(("a", "12", "it's"))),
        _applied(("in",), below(Kind.INTEGER), detail=st.just((0, 1, -7))),
    ]


def _integers(below: Any) -> list[Strategy]:
    return [
        _applied(("sign", "floor", "ceil", "round", "to_integer"), below(Kind.REAL)),
        _applied(("to_integer", "length"), below(Kind.TEXT)),
        _applied(("to_integer",), below(Kind.BOOLEAN)),
        _applied(("days_between",), below(Kind.DATE), below(Kind.DATE)),
        _applied(("seconds_between",), below(Kind.TIMESTAMP), below(Kind.TIMESTAMP)),
        _applied(("position",), below(Kind.TEXT), detail=st.sampled_from(["", "a", "2", "'s", "\\"])),
        _applied(("date_part",), below(Kind.TIMESTAMP), detail=st.sampled_from(DATE_PARTS)),
    ]


def _reals(below: Any) -> list[Strategy]:
    number = st.one_of(below(Kind.INTEGER), below(Kind.REAL))
    return [
        _applied(("add", "subtract", "multiply", "divide", "modulo", "least", "greatest"), number, number),
        _applied(("negate", "abs", "sqrt"), number),
        _applied(("to_real",), st.one_of(below(Kind.TEXT), below(Kind.BOOLEAN), number)),
    ]


def _texts(below: Any) -> list[Strategy]:
    text = below(Kind.TEXT)
    return [
        _applied(("lower", "upper", "trim"), text),
        _applied(("concat",), text, text),
        _applied(("substring",), text, detail=st.tuples(st.integers(1, 5), st.one_of(st.none(), st.integers(0, 4)))),
        _applied(("right",), text, detail=st.tuples(st.integers(0, 5))),
        _applied(("replace",), text, detail=st.sampled_from([("a", "bb"), ("1", ""), ("'", "\\")])),
        _applied(("split_part",), text, detail=st.tuples(st.sampled_from(["a", "-", "'"]), st.integers(1, 3))),
        _applied(("to_text",), st.one_of(below(Kind.INTEGER), below(Kind.BOOLEAN), below(Kind.DATE))),
    ]


def _dates(below: Any) -> list[Strategy]:
    return [
        _applied(("to_date",), st.one_of(below(Kind.TEXT), below(Kind.TIMESTAMP))),
        _applied(("date_trunc",), below(Kind.DATE), detail=st.sampled_from(DATE_TRUNCATIONS[:-2])),
        _applied(("add_months",), below(Kind.DATE), detail=st.tuples(st.integers(-120_000, 120_000))),
        _applied(("add_days",), below(Kind.DATE), detail=st.tuples(st.integers(-100_000, 100_000))),
    ]


def _moments(below: Any) -> list[Strategy]:
    moment = below(Kind.TIMESTAMP)
    return [
        _applied(("date_trunc",), moment, detail=st.sampled_from(DATE_TRUNCATIONS)),
        _applied(("to_timestamp",), below(Kind.DATE)),
        _applied(("add_months",), moment, detail=st.tuples(st.integers(-120_000, 120_000))),
        _applied(("add_seconds",), moment, detail=st.tuples(st.integers(-(10**10), 10**10))),
    ]


_COMPOUND = {
    Kind.BOOLEAN: _booleans,
    Kind.INTEGER: _integers,
    Kind.REAL: _reals,
    Kind.TEXT: _texts,
    Kind.DATE: _dates,
    Kind.TIMESTAMP: _moments,
}
