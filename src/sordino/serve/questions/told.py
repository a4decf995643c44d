"""Answers and prices as a service tells them, made again from JSON so that they show and convert like local ones.

What was released is all there is: values with one interval each. So an interval can be had at the confidence that was
asked for, and at no other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.accounting.event import Event
from sordino.arguments import Number
from sordino.data.kinds import Kind
from sordino.errors import ArgumentError
from sordino.ledger.receipt import Receipt
from sordino.query.answer.answer import Answer
from sordino.query.estimate.convolution import Floats
from sordino.query.estimate.estimate import Chosen, Interval, Picked, Several
from sordino.query.estimate.evaluate import Evaluated, Input
from sordino.query.model.expression import ColumnRef
from sordino.query.plan.price import ColumnPrice, Price

_READERS: dict[Kind, Callable[[str], Any]] = {Kind.DATE: date.fromisoformat, Kind.TIMESTAMP: datetime.fromisoformat}
_ENDLESS = (-math.inf, math.inf)


class ToldAnswer(Answer):
    """An answer as it was released: the same table, intervals, notes and receipt."""

    def __init__(self, body: Mapping[str, Any], receipt: str | None = None) -> None:
        facts = body["details"]
        super().__init__(
            [each["name"] for each in body["columns"]],
            [_column(each, body["confidence"]) for each in body["columns"]],
            notes=body["notes"],
            details=facts,
            events=(Event.from_json(facts["event"]),) if "event" in facts else (),
            confidence=body["confidence"],
        )
        self._body = dict(body)
        self.receipt = None if receipt is None else Receipt.from_json(receipt)

    def to_json(self) -> str:
        """Return all that was released as the text whose digest the ledger holds."""
        return json.dumps(self._body, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _column(told: Mapping[str, Any], confidence: Number) -> Evaluated:
    """Return a column whose values and ends are known, and not the noise that they came from."""
    kind, values = Kind(told["kind"]), told["values"]
    lists = any(isinstance(value, list) for value in values)
    found: Input
    if "low" in told:
        found = (
            _several(told, kind, confidence)
            if lists
            else _estimate(values, told["low"], told["high"], kind, confidence)
        )
    elif lists:
        found = Picked(values, lists=True)
    else:
        read = _READERS.get(kind)
        found = list(values) if read is None else [None if value is None else read(value) for value in values]
    return Evaluated(ColumnRef(kind, told["name"]), {told["name"]: found}, len(values))


def _several(told: Mapping[str, Any], kind: Kind, confidence: Number) -> Several:
    """Return lists of numbers, which have one length, as one estimate for each place; a histogram's have labels."""
    rows = told["values"]
    labelled = isinstance(rows[0][0], dict)
    labels = tuple(part["label"] for part in rows[0]) if labelled else None
    plain = [[part["value"] for part in row] for row in rows] if labelled else rows
    turned = (zip(*lists, strict=True) for lists in (plain, told["low"], told["high"]))
    parts = (_estimate(values, low, high, kind, confidence) for values, low, high in zip(*turned, strict=True))
    return Several(tuple(parts), labels)


def _estimate(values: Sequence[Any], low: Sequence[Any], high: Sequence[Any], kind: Kind, confidence: Number) -> Chosen:
    numbers = _floats(values)
    missing = np.isnan(numbers)
    told = _floats(low), _floats(high)
    # What is null is endless, unless the value itself is missing.
    ends = tuple(np.where(np.isnan(each) & ~missing, end, each) for each, end in zip(told, _ENDLESS, strict=True))

    def interval(asked: Number) -> Interval:
        if float(asked) != float(confidence):
            raise ArgumentError(
                f"this answer came with intervals at {100 * float(confidence):.6g} % alone; name another confidence "
                "when you ask, by run(confidence=…)",
                "SRD-A002",
            )
        return ends[0], ends[1]

    return Chosen(numbers, interval, kind is Kind.INTEGER)


@dataclass(frozen=True, repr=False)
class ToldPrice(Price):
    """A price, with what would fit instead, and what the owner's policy says."""

    would_fit: dict[str, str] | None
    policy: dict[str, Any]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> ToldPrice:
        """Return the price that a service told."""
        columns = (
            ColumnPrice(
                each["name"],
                {float(size): math.inf if width is None else width for size, width in each["half_widths"].items()},
                each["depends_on_size"],
            )
            for each in told["columns"]
        )
        return cls(
            _exact(told["epsilon"]),
            _exact(told["rho"]),
            _exact(told["delta"]) or Fraction(0),
            Event.from_json(told["event"]),
            told["fits"],
            told["charge"],
            tuple(columns),
            tuple(told["notes"]),
            told["confidence"],
            told["would_fit"],
            told["policy"],
            part=told["part"],
            used=told["used"],
        )

    def __str__(self) -> str:
        lines = [super().__str__()]
        if self.would_fit is not None:
            lines.append("would fit: " + ", ".join(f"{word} = {amount}" for word, amount in self.would_fit.items()))
        if self.policy["message"] is not None:
            lines.append(f"policy: {self.policy['message']}")
        return "\n".join(lines)

    __repr__ = __str__


def _exact(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _floats(values: Sequence[Any]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
