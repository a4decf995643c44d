"""Bounds that nobody declared, found privately: how many rows a person has, and between which ends values lie.

For each of them a histogram over public, logarithmic edges gets noise: how many people have so many rows, how many have
their largest (or their smallest) value there. The nearest edge is chosen beyond which at most a stated share is lost,
as far as noise lets see, and how many lie beyond what was chosen is told besides (``finding.py``).

**Guarantee**: the noise's events, on a histogram in which one person weighs one (row-level privacy: as much as one row
can become). What is chosen, and what is told of it, is post-processing.
**Source**: for a histogram rather than one private choice of an edge: bounds from noisy logarithmic histograms are in
Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson 2020, section 5.1.1.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Composed
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits
from sordino.errors import ArgumentError
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.mechanisms.partition import TruncatedGeometric
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef, Expression
from sordino.query.model.operations import call
from sordino.query.model.question import Question
from sordino.query.model.ranges import derive
from sordino.query.model.relation import Filter, PerPerson, Relation

from . import limits as contribution
from .finding import Finding, Noisy, upper
from .spend import Spend, cut, root_rounded_down

SHARE = 0.1
"""The part of a question's price that finds one limit, or both ends of one range."""

_COUNTS = sorted({1, *(2**power for power in range(1, 21)), *(3 * 2**power for power in range(20))})
_SIZES = [Fraction(2) ** power for power in range(-20, 61)]
_VALUES = (*(-size for size in reversed(_SIZES)), Fraction(0), *_SIZES)
_NEEDS_RANGE = frozenset(
    [
        "sum",
        "mean",
        "variance",
        "deviation",
        "covariance",
        "correlation",
        "regression",
        "quantile",
        "minimum",
        "maximum",
    ]
)


@dataclass(frozen=True)
class Search:
    """One edge to be found: on which histogram, from which side, and by which mechanism."""

    relation: Relation
    expression: Expression
    edges: tuple[Fraction, ...]
    upper: bool
    mechanism: Laplace | Gaussian
    most: Fraction | None
    """The largest edge that may be chosen, if not all may."""
    subject: Expression | None
    """The expression whose range it is an end of; None for rows per person."""


@dataclass(frozen=True)
class Discovery:
    """Everything that is found before the question itself is answered."""

    searches: tuple[Search, ...]
    bounding: Bounding
    bound: Bound

    def event(self) -> Event:
        """Return all searches as one event."""
        return Composed(tuple(search.mechanism.event(self.bound) for search in self.searches))


@dataclass(frozen=True)
class Found:
    """What was found: a limit on rows, and ranges, and what is known of each. Released, so no secret any more."""

    limits: Limits | None
    ranges: Mapping[Expression, Range]
    findings: Mapping[Expression | None, tuple[Finding, ...]] = field(default_factory=dict)
    """How each end was found; under None the limit on rows."""


def ranged_expressions(question: Question) -> list[Expression]:
    """Return the expressions whose values are clipped: those that are added up, or ranked."""
    wanted = (
        each for aggregate in question.aggregates if aggregate.function in _NEEDS_RANGE for each in aggregate.arguments
    )
    columns = question.relation.columns
    return [each for each in dict.fromkeys(wanted) if derive(each, columns).kind.is_number]


def unknown_ranges(question: Question) -> list[Expression]:
    """Return those of them that have no bounds."""
    columns = question.relation.columns
    return [each for each in ranged_expressions(question) if derive(each, columns).range is None]


def limits_unknown(question: Question) -> bool:
    """Return whether nothing that is declared bounds what one person contributes."""
    functions = {aggregate.function for aggregate in question.aggregates}
    demands = contribution.Demands(
        rows=bool(functions - {"count_people"}),
        people="count_people" in functions or not contribution.keys_are_public(question),
        distincts="count_distinct" in functions,
    )
    return not contribution.candidates(question, demands, contribution.declared(question))


def plan_discovery(
    question: Question, amount: Fraction, ranges: Sequence[Expression], limits_for: Spend | None, *, by_rho: bool
) -> Discovery:
    """Return the searches that together cost `amount` (ε, or ρ): for `ranges`, and, if it says what the question
    itself will spend, for the limit on rows."""
    by_row = question.schema.by_row
    copies = max(question.relation.copies.values(), default=1)
    bounding = Bounding("row", rows=copies) if by_row else Bounding("groups", groups=1, rows_per_group=1)
    weight = Fraction((bounding.l1 or 1) * bounding.unit)
    bound = Bound(copies if by_row else 1, weight, weight**2, weight, unit=question.schema.unit)
    parts = cut(amount, [1.0] * (2 * len(ranges)) + [2.0] * (limits_for is not None))

    def noise(part: Fraction) -> Laplace | Gaussian:
        return Gaussian.for_rho(part, bound) if by_rho else Laplace.for_epsilon(part, bound)

    searches = []
    for place, expression in enumerate(ranges):
        for end in (0, 1):
            mechanism = noise(parts[2 * place + end])
            searches.append(_range_search(question, expression, upper=bool(end), mechanism=mechanism))
    if limits_for is not None:
        searches.append(_rows_search(question, noise(parts[-1]), _most_rows(question, limits_for)))
    return Discovery(tuple(searches), bounding, bound)


def _most_rows(question: Question, spend: Spend) -> Fraction | None:
    """Return the largest edge to choose; with private keys only those under which keys can still be selected."""
    if contribution.keys_are_public(question):
        return None
    return max(Fraction(edge) for edge in _COUNTS if edge <= 2 or _can_select(spend, edge))


def _can_select(spend: Spend, groups: int) -> bool:
    epsilon = spend.amount / 4 if spend.rho is None else root_rounded_down(spend.amount / 2)
    try:
        TruncatedGeometric(epsilon, spend.keys_delta, groups)
    except ArgumentError:
        return False
    return True


def usable(expression: Expression, found: Range) -> Range:
    """Return a range that is not a single point, and of whole numbers for an integer."""
    if expression.kind is Kind.INTEGER:
        low, high = math.floor(found.low), math.ceil(found.high)
        return Range(Fraction(low), Fraction(max(high, low + 1)))
    if found.low < found.high:
        return found
    place = bisect_left(_VALUES, found.high)
    return Range(_VALUES[max(place - 1, 0)], _VALUES[min(place + 1, len(_VALUES) - 1)])


def _range_search(question: Question, expression: Expression, *, upper: bool, mechanism: Laplace | Gaussian) -> Search:
    relation, value = question.relation, expression
    if not question.schema.by_row:
        function = "max" if upper else "min"
        result = Column(Kind.REAL)
        relation = PerPerson(relation, (), (("value", function, expression, result),))
        value = ColumnRef(Kind.REAL, "value")
    return Search(relation, value, _VALUES, upper, mechanism, None, expression)


def _rows_search(question: Question, mechanism: Laplace | Gaussian, most: Fraction | None) -> Search:
    kept = with_declared_keys(question)
    counted = PerPerson(kept, (), (("rows", "count", None, Column(Kind.INTEGER, nullable=False)),))
    edges = tuple(Fraction(edge) for edge in _COUNTS)
    return Search(counted, ColumnRef(Kind.INTEGER, "rows"), edges, True, mechanism, most, None)


def rows_found(search: Search, people: Noisy) -> Finding:
    """Return the limit on rows that a search finds: the most rows that people below an edge have."""
    rows = replace(people, edges=tuple(edge - 1 for edge in people.edges[:-1]) + people.edges[-1:])
    return upper(rows, None if search.most is None else max(search.most - 1, Fraction(1)))


def with_declared_keys(question: Question) -> Relation:
    """Return the relation without rows whose keys are not among those declared."""
    kept = question.relation
    for key in question.keys:
        declared = key.column.keys
        if declared is None:
            continue
        condition = call("in", key.expression, detail=tuple(each for each in declared if each is not None))
        if None in declared:
            condition = call("or", condition, call("is_null", key.expression))
        kept = Filter(kept, condition)
    return kept
