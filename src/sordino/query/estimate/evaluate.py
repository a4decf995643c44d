"""Expressions around aggregates: outputs, HAVING and ORDER BY, computed on noisy values alone, so they cost nothing.

A bare aggregate keeps its own interval. An expression over m different aggregates gets the band of interval arithmetic
over their intervals, each at 1 − (1 − confidence)/m, so that all of them hold together with the confidence asked for
(union bound: whatever the noises have to do with each other).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sordino.arguments import Number, probability
from sordino.data.kinds import Kind
from sordino.errors import QuestionError
from sordino.query.model.expression import Call, ColumnRef, Expression, Literal

from .bands import NUMBERS, Band, member
from .estimate import Estimate, Interval, Picked, Rows, Several
from .words import DETAILED, PLAIN, Operand, Words, choose, first_of

Input = Estimate | Several | Picked | Sequence[Any]
"""What a name stands for: an aggregate's estimate, or the list of a key's values."""

_NUMERIC = (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL)


def evaluate(expression: Expression, values: Mapping[str, Input]) -> Evaluated:
    """Return what the expression gives for all groups; ``k0`` … are keys and ``a0`` … aggregates in `values`."""
    used = expression.columns
    return Evaluated(expression, {name: value for name, value in values.items() if name in used}, _groups(values))


def _groups(values: Mapping[str, Input]) -> int:
    for value in values.values():
        return len(value.values) if isinstance(value, Estimate | Several | Picked) else len(value)
    return 1


@dataclass(frozen=True, eq=False)
class Evaluated:
    """An expression with what it is about. Values are worked out when first asked for."""

    expression: Expression
    inputs: Mapping[str, Input]
    groups: int

    @property
    def kind(self) -> Kind:
        """What the values are."""
        return self.expression.kind

    @property
    def bare(self) -> Input | None:
        """The input itself, if the expression is nothing but its name."""
        return self.inputs[self.expression.name] if isinstance(self.expression, ColumnRef) else None

    @property
    def noisy(self) -> bool:
        """Whether any aggregate is in it."""
        return any(isinstance(value, Estimate | Several | Picked) for value in self.inputs.values())

    @cached_property
    def whole(self) -> bool:
        """Whether the values are whole numbers for a reason that no data has a part in."""
        return self._is_whole(self.expression)

    def _is_whole(self, node: Expression) -> bool:
        if node.kind is not Kind.INTEGER:
            return False
        if isinstance(node, ColumnRef):
            value = self.inputs[node.name]
            return value.whole if isinstance(value, Estimate) else not isinstance(value, Several | Picked)
        if isinstance(node, Call) and node.operation in ("case", "coalesce", "nullif"):
            return all(self._is_whole(part) for part in node.parts if part.kind is not Kind.BOOLEAN)
        return True

    @cached_property
    def values(self) -> Any:
        """A float array for numbers (groups × parts for lists of numbers) with NaN for NULL, else a list of objects."""
        bare = self.bare
        if isinstance(bare, Estimate | Several | Picked):
            return bare.values
        if bare is not None:
            return list(bare) if self.kind is not Kind.REAL else _numbers(bare)
        result = self._operand(None)
        if isinstance(result, Words):
            return result.values.tolist()
        if self.kind is Kind.BOOLEAN:
            return [None if np.isnan(truth) else bool(truth) for truth in result.value]
        return result.value

    @cached_property
    def sortable(self) -> Operand:
        """The values as a band of numbers, or words."""
        return self._operand(None)

    def interval(self, confidence: Number) -> Interval | None:
        """Return the ends for noisy numbers; None where nothing is noisy or there are no numbers."""
        if not self.noisy or not self.kind.is_number:
            return None
        level = probability("confidence", confidence)
        bare = self.bare
        if bare is not None:
            return bare.interval(level) if isinstance(bare, Estimate | Several) else None
        estimates = sum(isinstance(value, Estimate) for value in self.inputs.values())
        result = self._operand(1 - (1 - level) / max(estimates, 1))
        assert isinstance(result, Band)  # noqa: S101  (it is a number)
        return result.low, result.high

    def take(self, rows: Rows) -> Evaluated:
        """Return the same for these groups only."""
        return Evaluated(self.expression, {name: taken(value, rows) for name, value in self.inputs.items()}, len(rows))

    def _operand(self, confidence: Number | None) -> Operand:
        with np.errstate(all="ignore"):
            return self._walk(self.expression, confidence)

    def _walk(self, node: Expression, confidence: Number | None) -> Operand:
        if isinstance(node, Call):
            return _apply(node, [self._walk(part, confidence) for part in node.arguments])
        if isinstance(node, Literal):
            return _read([node.value] * self.groups, node.kind)
        assert isinstance(node, ColumnRef)  # noqa: S101  (there is no fourth kind of node)
        return _input(self.inputs[node.name], node.kind, confidence)


def taken(value: Input, rows: Rows) -> Input:
    """Return an input for these groups only."""
    return value.take(rows) if isinstance(value, Estimate | Several | Picked) else [value[row] for row in rows]


def refuse_lists(expression: Expression, lists: frozenset[str]) -> None:
    """Refuse an expression that computes with an aggregate that is a list (`lists` are their names)."""
    if not isinstance(expression, ColumnRef) and expression.columns & lists:
        raise QuestionError(
            "quantiles, histograms, top lists and regressions give lists, which cannot be computed with; "
            "ask for one value, such as QUANTILE(x, 0.5), or select the list by itself",
            "SRD-Q320",
        )


def _input(value: Input, kind: Kind, confidence: Number | None) -> Operand:
    if isinstance(value, Estimate):
        if confidence is None:
            return Band.exact(value.values)
        return Band(value.values, *value.interval(confidence))
    if isinstance(value, Picked):
        operand = _read(value.values, kind)
        return Words(operand.values, sure=False) if isinstance(operand, Words) else _unknown(operand)
    if isinstance(value, Several):
        raise TypeError("lists are refused before data is touched")
    return _read(value, kind)


def _unknown(band: Band) -> Band:
    return Band(band.value, band.value - np.inf, band.value + np.inf)


def _read(values: Sequence[Any], kind: Kind) -> Operand:
    return Band.exact(_numbers(values)) if kind in _NUMERIC else Words.of(values)


def _numbers(values: Sequence[Any]) -> Any:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _apply(node: Call, arguments: list[Operand]) -> Operand:
    if node.operation in _MIXED:
        return _MIXED[node.operation](arguments)
    first = arguments[0]
    if node.operation == "in" and isinstance(first, Band):
        return member(first, tuple(node.detail or ()))
    if node.operation == "to_text" and isinstance(first, Band):
        return _number_to_text(first, node.arguments[0].kind)
    if isinstance(first, Band):
        return NUMBERS[node.operation](*arguments)
    if node.operation in DETAILED:
        return DETAILED[node.operation](first, node.detail)
    return PLAIN[node.operation](*arguments)


def _case(arguments: list[Operand]) -> Operand:
    if isinstance(arguments[-1], Band):
        return NUMBERS["case"](*arguments)
    return choose(arguments[:-1:2], arguments[1::2], arguments[-1])  # type: ignore[arg-type]


def _coalesce(arguments: list[Operand]) -> Operand:
    return NUMBERS["coalesce"](*arguments) if isinstance(arguments[0], Band) else first_of(arguments)  # type: ignore[arg-type]


def _null_if(arguments: list[Operand]) -> Operand:
    first, second = arguments
    if isinstance(first, Band):
        return NUMBERS["nullif"](first, second)
    same = PLAIN["equal"](first, second)
    assert isinstance(same, Band)  # noqa: S101  (a comparison)
    return choose([same], [Words.of([None] * len(first.values))], first)


_MIXED: dict[str, Callable[[list[Operand]], Operand]] = {"case": _case, "coalesce": _coalesce, "nullif": _null_if}
"""Operations whose arguments may be numbers or words."""


def _number_to_text(band: Band, kind: Kind) -> Words:
    def text(number: float) -> str | None:
        if np.isnan(number):
            return None
        return str(bool(number)).lower() if kind is Kind.BOOLEAN else str(int(number))

    return Words.of([text(number) for number in band.value], band.sure)
