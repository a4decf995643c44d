"""What an estimate of truncation says: how much is lost, by whom beyond the cap, and how far off noise puts it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sordino.arguments import Number
from sordino.noise import DiscreteLaplace
from sordino.query.estimate.tails import half_width
from sordino.query.model.question import Question
from sordino.query.model.wording import describe
from sordino.query.plan.lost import Lost
from sordino.query.plan.truncation import STEPS


@dataclass(frozen=True)
class Estimated:
    """One estimate, as it was released: what is lost up to the cap, and what stands for those beyond, in steps."""

    lost: Lost
    steps: int
    beyond: int
    law: DiscreteLaplace

    @cached_property
    def _worth(self) -> float:
        return float(self.lost.cap / STEPS)

    @property
    def amount(self) -> float:
        """How much is lost, where everybody's loss counts with the cap at most."""
        return (self.steps + self.beyond) * self._worth

    @property
    def units(self) -> float:
        """How many lose more than the cap."""
        return self.beyond / STEPS

    def off(self, confidence: Number) -> tuple[float, float]:
        """Return by how much noise may put the amount off, and the number of those beyond."""
        return (
            half_width([(self.law, self._worth), (self.law, self._worth)], confidence),
            half_width([(self.law, 1 / STEPS)], confidence),
        )

    def facts(self, question: Question, confidence: Number) -> dict[str, Any]:
        """Return the numbers, as JSON holds them."""
        amount, units = self.off(confidence)
        of = None if self.lost.of is None else describe(self.lost.of, question.relation)
        return {
            "what": self.lost.what,
            "of": of,
            "amount": self.amount,
            "within": amount,
            "cap": float(self.lost.cap),
            "beyond": self.units,
            "beyond_within": units,
            "confidence": float(confidence),
        }

    def text(self, question: Question, confidence: Number) -> str:
        """Return the same in words."""
        return _TEXTS[self.lost.what](self.facts(question, confidence), question.schema.unit.name)


_UNSEEN = "which noise alone explains"


def _rows(facts: dict[str, Any], unit: str) -> str:
    return f"limits cut off about {_of(facts)} rows, {_so(facts, 'counts')}{_capped(facts, unit)}"


def _places(facts: dict[str, Any], unit: str) -> str:
    return (
        f"limits keep {unit}s from counting in about {_of(facts)} groups, {_so(facts, f'counts of {unit}s in all')}"
        f"{_capped(facts, unit)}"
    )


def _sum(facts: dict[str, Any], unit: str) -> str:
    way = "low" if facts["amount"] >= 0 else "high"
    known = "" if _stands_out(facts) else f", {_UNSEEN}"
    return (
        f"bounds and limits make the sum of {facts['of']}, over all groups, too {way} by about {_of(facts)}{known}"
        f"{_capped(facts, unit)}"
    )


def _stands_out(facts: dict[str, Any]) -> bool:
    return bool(abs(facts["amount"]) > facts["within"])


def _so(facts: dict[str, Any], what: str) -> str:
    return f"so {what} are too low by that" if _stands_out(facts) else _UNSEEN


def _people(facts: dict[str, Any], unit: str) -> str:
    return f"about {_of(facts)} {unit}s have values of {facts['of']} outside of its bounds (noise only)"


_TEXTS: dict[str, Callable[[dict[str, Any], str], str]] = {
    "rows": _rows,
    "places": _places,
    "sum": _sum,
    "people": _people,
}


def _capped(facts: dict[str, Any], unit: str) -> str:
    beyond = f"{max(0, round(facts['beyond'])):,} ± {math.ceil(facts['beyond_within']):,}"
    return f" (noise only; each {unit} counts here with {_short(facts['cap'])} at most, and {beyond} lose more)"


def _of(facts: dict[str, Any]) -> str:
    amount, within = facts["amount"], facts["within"]
    if facts["what"] == "sum":
        amount = abs(amount)
    else:
        return f"{max(0, round(amount)):,} ± {math.ceil(within):,}"
    decimals = max(0, 1 - math.floor(math.log10(within)))
    return f"{amount:,.{decimals}f} ± {within:,.{decimals}f}"


def _short(number: float) -> str:
    return f"{number:,.6g}" if number < 1e6 else f"{number:,.0f}"
