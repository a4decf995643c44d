"""The aggregates that SQL may ask for: a table from each name to the `Aggregate` that it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from sqlglot import exp

from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Schema
from sordino.query.model.expression import ColumnRef, Expression, Literal
from sordino.query.model.lineage import owners
from sordino.query.model.literals import exact, literal
from sordino.query.model.operations import call, is_numeric
from sordino.query.model.question import Aggregate, Function
from sordino.query.model.ranges import derive

from .arguments import taking, whole_constant
from .calls import AggregateCall
from .grouped import GroupedReader
from .refusals import refuse
from .scope import Scope
from .summary import argument_of, bounded, condition_of, counts_all, no_distinct, number_of, unbounded, where

_MOST_BINS = 10_000
_MOST_QUANTILES = 100
_COUNTS = ("count_rows", "count", "count_people", "count_distinct")


class OutputReader(GroupedReader):
    """Reads the outermost SELECT, HAVING and ORDER BY, and collects their aggregates; equal ones are asked once."""

    def __init__(self, scope: Scope, keys: list[Expression], schema: Schema, *, key_table: bool = False) -> None:
        super().__init__(scope, [(key, ColumnRef(key.kind, f"k{place}")) for place, key in enumerate(keys)])
        self.schema = schema
        self.key_table = key_table
        self.aggregates: list[Aggregate] = []
        self.lists: set[str] = set()
        """The names of those aggregates that are not one number."""

    def aggregate(self, called: AggregateCall) -> Expression:
        """Return what a call of an aggregate stands for."""
        return AGGREGATES[called.name](self, called)

    def add(
        self, function: Function, *arguments: Expression, parameters: tuple[Fraction, ...] = (), listed: bool = False
    ) -> ColumnRef:
        """Return the name by which the aggregate is known; `listed` if it is not one number."""
        made = Aggregate(function, arguments, parameters)
        if made not in self.aggregates:
            self.aggregates.append(made)
        kind = Kind.INTEGER if function in _COUNTS else arguments[0].kind if function == "top" else Kind.REAL
        reference = ColumnRef(kind, f"a{self.aggregates.index(made)}")
        self.lists |= {reference.name} if listed else set()
        return reference

    def number(self, called: AggregateCall, node: exp.Expr) -> Expression:
        """Return an argument that must be a number, NULL where the call's FILTER does not hold."""
        value = number_of(bounded(called, self.rows, self.rows.read(node), by_row=self.schema.by_row))
        is_numeric(value.kind, called.name)
        return where(called, self.rows, value)


def _count(reader: OutputReader, called: AggregateCall) -> Expression:
    if not reader.schema.by_row:
        unbounded(called)
    elif derive(bounded(called, reader.rows, literal(1), by_row=True), {}).range != Range.of(1, 1):
        unbounded(called)  # each row counts once
    if counts_all(called, reader.rows):
        return _rows(reader, called)
    argument = argument_of(called, reader.rows)
    if not called.distinct:
        return reader.add("count", argument)
    held = owners(reader.scope.relation, reader.schema)
    if isinstance(argument, ColumnRef) and argument.name in held:
        return reader.add("count_people")
    return reader.add("count_distinct", argument)


def _rows(reader: OutputReader, called: AggregateCall) -> Expression:
    if reader.key_table:
        raise refuse(
            "COUNT(*) would count one row for a key that has none",
            "count a column of the private table: COUNT(p.x)",
            "SRD-Q106",
        )
    if called.where is None:
        return reader.add("count_rows")
    return reader.add("count", where(called, reader.rows, literal(1)))


def _sum(reader: OutputReader, called: AggregateCall) -> Expression:
    """Add up; of what is the same number wherever it is not missing (SUM(1), SUM(CASE WHEN c THEN 1 END)), count."""
    no_distinct(called)
    (node,) = taking(called.name, list(called.arguments), 1, 1)
    value = reader.number(called, node)
    known = derive(value, reader.scope.relation.columns)
    if known.range is None or known.range.low != known.range.high or not known.range.low:
        return reader.add("sum", value)
    counted = reader.add("count", value) if known.nullable else _rows(reader, replace(called, where=None))
    amount = known.range.low
    if amount == 1:
        return counted
    times = literal(int(amount) if amount.denominator == 1 else float(amount))
    return call("multiply", counted, times)


def _of_sample(function: Function, count: int) -> Callable[[OutputReader, AggregateCall], Expression]:
    """Estimate for a sample: the population's variance, by n / (n − 1), where n is noisy, too."""

    def read(reader: OutputReader, called: AggregateCall) -> Expression:
        no_distinct(called)
        nodes = taking(called.name, list(called.arguments), count, count)
        values = [reader.number(called, node) for node in nodes]
        if count == 2:
            values = [_beside(reader, *values), _beside(reader, values[1], values[0])]
        rows = reader.add("count", values[0])
        others = call("nullif", call("greatest", call("subtract", rows, literal(1)), literal(0)), literal(0))
        return call("multiply", reader.add(function, *values), call("divide", rows, others))

    return read


def _deviation_of_sample(reader: OutputReader, called: AggregateCall) -> Expression:
    return call("sqrt", _of_sample("variance", 1)(reader, called))


def _equal_quantiles(reader: OutputReader, called: AggregateCall) -> Expression:
    """APPROX_QUANTILES(x, 4): the least, the quartiles, and the greatest."""
    no_distinct(called)
    node, wanted = taking(called.name, list(called.arguments), 2, 2)
    count = whole_constant(called.name, reader.rows, wanted)
    if not 1 <= count < _MOST_QUANTILES:
        raise refuse(
            f"{called.name} divides into 1 to {_MOST_QUANTILES - 1} parts", "write APPROX_QUANTILES(x, 4)", "SRD-Q104"
        )
    fractions = tuple(Fraction(place, count) for place in range(count + 1))
    return reader.add("quantile", reader.number(called, node), parameters=fractions, listed=True)


def _count_if(reader: OutputReader, called: AggregateCall) -> Expression:
    return reader.add("count", condition_of(called, reader.rows))


def _count_people(reader: OutputReader, called: AggregateCall) -> Expression:
    """Count the owners of the rows, also where no column names them."""
    taking(called.name, list(called.arguments), 0, 0)
    if called.where is not None:
        raise refuse("COUNT_PEOPLE() takes no FILTER", "write WHERE, or COUNT(DISTINCT person) FILTER (…)", "SRD-Q104")
    return reader.add("count_people")


def _of_numbers(function: Function, count: int) -> Callable[[OutputReader, AggregateCall], Expression]:
    def read(reader: OutputReader, called: AggregateCall) -> Expression:
        no_distinct(called)
        nodes = taking(called.name, list(called.arguments), count, count)
        return reader.add(function, *(reader.number(called, node) for node in nodes))

    return read


def _median(reader: OutputReader, called: AggregateCall) -> Expression:
    no_distinct(called)
    (node,) = taking(called.name, list(called.arguments), 1, 1)
    return reader.add("quantile", reader.number(called, node), parameters=(Fraction(1, 2),))


def _quantile(reader: OutputReader, called: AggregateCall) -> Expression:
    no_distinct(called)
    node, wanted = taking(called.name, list(called.arguments), 2, 2)
    listed = isinstance(wanted, exp.Array)
    fractions = tuple(_constant(reader, called, one) for one in (wanted.expressions if listed else [wanted]))
    if not 1 <= len(fractions) <= _MOST_QUANTILES or not all(0 <= fraction <= 1 for fraction in fractions):
        raise refuse(f"{called.name} needs fractions from 0 to 1", "write QUANTILE(x, 0.5)", "SRD-Q104")
    return reader.add("quantile", reader.number(called, node), parameters=fractions, listed=listed)


def _constant(reader: OutputReader, called: AggregateCall, node: exp.Expr) -> Fraction:
    value = reader.rows.read(node)
    if not isinstance(value, Literal) or not value.kind.is_number or not isinstance(value.value, int | float):
        form = "x, 0, 10, 50" if called.name == "HISTOGRAM" else "x, 0.5"
        raise refuse(f"{called.name} needs a constant number here", f"write {called.name}({form})", "SRD-Q104")
    return exact(value.value)


def _histogram(reader: OutputReader, called: AggregateCall) -> Expression:
    no_distinct(called)
    node, *rest = taking(called.name, list(called.arguments), 2, _MOST_BINS + 2)
    value = reader.number(called, node)
    if len(rest) > 1:
        edges = tuple(_constant(reader, called, edge) for edge in rest)
    else:
        edges = _equal_bins(reader, value, whole_constant(called.name, reader.rows, rest[0]))
    if any(low >= high for low, high in pairwise(edges)):
        raise refuse("the edges of a HISTOGRAM must ascend", "write HISTOGRAM(x, 0, 10, 20, 50)", "SRD-Q104")
    return reader.add("histogram", value, parameters=edges, listed=True)


def _equal_bins(reader: OutputReader, value: Expression, bins: int) -> tuple[Fraction, ...]:
    known = derive(value, reader.scope.relation.columns).range
    if known is None or known.low == known.high:
        raise refuse(
            "HISTOGRAM(x, bins) divides the range of x, which is not known",
            "declare bounds, or write the edges: HISTOGRAM(x, 0, 10, 20, 50)",
            "SRD-Q106",
        )
    if not 1 <= bins <= _MOST_BINS:
        raise refuse(f"a HISTOGRAM has 1 to {_MOST_BINS:,} bins, not {bins}", "ask for fewer", "SRD-Q104")
    return tuple(known.low + (known.high - known.low) * place / bins for place in range(bins + 1))


def _top(reader: OutputReader, called: AggregateCall) -> Expression:
    node, wanted = taking(called.name, list(called.arguments), 2, 2)
    value = where(called, reader.rows, reader.rows.read(node))
    return _ranked(reader, called, value, whole_constant(called.name, reader.rows, wanted))


def _ranked(reader: OutputReader, called: AggregateCall, value: Expression, count: int) -> Expression:
    no_distinct(called)
    keys = derive(value, reader.scope.relation.columns).keys
    if keys is None:
        raise refuse(
            f"{called.name} chooses among values that are known beforehand",
            "declare the column's keys, or write CASE WHEN x = 'a' THEN 'a' … ELSE 'other' END",
            "SRD-Q106",
        )
    if not 1 <= count <= len(keys):
        raise refuse(
            f"{called.name} cannot give {count} of {len(keys)} values", f"ask for 1 to {len(keys)}", "SRD-Q104"
        )
    return reader.add("top", value, parameters=(Fraction(count),), listed=True)


def _regression(reader: OutputReader, called: AggregateCall) -> Expression:
    no_distinct(called)
    if len(called.arguments) < 2:
        raise refuse("REGRESSION explains one number by others", "write REGRESSION(y, x1, x2)", "SRD-Q104")
    return reader.add("regression", *(reader.number(called, node) for node in called.arguments), listed=True)


def _slope(reader: OutputReader, called: AggregateCall) -> Expression:
    """The covariance by the variance of x, over rows in which neither is missing."""
    y, x = _pair(reader, called)
    return call("divide", reader.add("covariance", y, x), reader.add("variance", x))


def _intercept(reader: OutputReader, called: AggregateCall) -> Expression:
    y, x = _pair(reader, called)
    return call("subtract", reader.add("mean", y), call("multiply", _slope(reader, called), reader.add("mean", x)))


def _pair(reader: OutputReader, called: AggregateCall) -> tuple[Expression, Expression]:
    no_distinct(called)
    first, second = taking(called.name, list(called.arguments), 2, 2)
    y, x = reader.number(called, first), reader.number(called, second)
    return _beside(reader, y, x), _beside(reader, x, y)


def _beside(reader: OutputReader, value: Expression, other: Expression) -> Expression:
    """Return the value, NULL where the other one is missing."""
    if not derive(other, reader.scope.relation.columns).nullable:
        return value
    return call("case", call("is_null", other), literal(None), value)


AGGREGATES: dict[str, Callable[[OutputReader, AggregateCall], Expression]] = {
    "COUNT": _count,
    "COUNT_IF": _count_if,
    "COUNTIF": _count_if,
    "COUNT_PEOPLE": _count_people,
    "SUM": _sum,
    "AVG": _of_numbers("mean", 1),
    "MEAN": _of_numbers("mean", 1),
    "VARIANCE": _of_numbers("variance", 1),
    "VAR_POP": _of_numbers("variance", 1),
    "STDDEV": _of_numbers("deviation", 1),
    "STDDEV_POP": _of_numbers("deviation", 1),
    "MIN": _of_numbers("minimum", 1),
    "MAX": _of_numbers("maximum", 1),
    "VAR_SAMP": _of_sample("variance", 1),
    "STDDEV_SAMP": _deviation_of_sample,
    "COVAR_SAMP": _of_sample("covariance", 2),
    "APPROX_QUANTILES": _equal_quantiles,
    "COVAR_POP": _of_numbers("covariance", 2),
    "CORR": _of_numbers("correlation", 2),
    "MEDIAN": _median,
    "QUANTILE": _quantile,
    "QUANTILE_CONT": _quantile,
    "APPROX_QUANTILE": _quantile,
    "PERCENTILE_CONT": _quantile,
    "HISTOGRAM": _histogram,
    "MODE": lambda reader, called: _ranked(reader, called, argument_of(called, reader.rows), 1),
    "TOP": _top,
    "REGRESSION": _regression,
    "REGR_SLOPE": _slope,
    "REGR_INTERCEPT": _intercept,
}
