"""What a survey costs a participant, and what its answers will be worth: in numbers, and in plain words.

**Guarantee**: nothing of it depends on reports; ε and δ are what a round is charged when it opens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.accounting.approximate import own_delta
from sordino.accounting.budget import Budget
from sordino.accounting.event import Event
from sordino.accounting.filter import Filter
from sordino.accounting.units import PER_EPSILON
from sordino.arguments import rounded_up, whole

from .wire import HEADER

if TYPE_CHECKING:
    from .surveys import Survey

_LARGEST = Fraction(4 * 10**6)
"""More than any survey costs: reports and ε of each are bounded."""


@dataclass(frozen=True)
class Price:
    """ε of one report, of a day and of all; the bytes of a report; what so many people's answers tell."""

    epsilon_report: Fraction
    epsilon_day: Fraction
    epsilon: Fraction
    delta: Fraction
    reports: int
    per_day: int
    trust: str
    unit: str
    parties: tuple[str, ...]
    """Who stands between a device and the answer, by name."""
    size: int
    people: int | None
    standard_error: float | None
    """To expect of an estimate, the largest where several are; None where no number of people was given."""
    poison: float
    """How far one client that lies can move an estimate of so many people, or of itself alone, whatever it sends."""
    poison_of_liars: float | None
    """How far a hundredth of so many people can."""

    @classmethod
    def of(cls, survey: Survey, people: int | None) -> Price:
        """Return the price of a survey."""
        once, spent = survey.randomizer.epsilon, budget_of(survey.event())
        count = None if people is None else whole("people", people, least=1, most=10**12)
        return cls(
            once,
            once * survey.per_day,
            spent.epsilon or Fraction(0),
            spent.delta,
            survey.reports,
            survey.per_day,
            survey.trust,
            survey.unit.name,
            tuple(each.name for each in survey.parties),
            HEADER + survey.randomizer.size,
            count,
            None if count is None else _largest(survey.asks.error(count)),
            _largest(survey.asks.poison(count or 1, 1)) or 0.0,
            None if count is None else _largest(survey.asks.poison(count, _liars(count))),
        )

    @property
    def odds(self) -> float:
        """By how much one report can change what anybody believes about the answer: e^ε, rounded up."""
        return math.nextafter(math.exp(rounded_up(self.epsilon_report)), math.inf)

    def words(self) -> str:
        """Return it in plain words, as a participant may read them."""
        day = "one report" if self.per_day == 1 else f"{self.per_day} reports"
        said = [
            f"Each {self.unit} sends at most {day} a day, {self.reports} in all, of {self.size} bytes each.",
            *_OF_TRUST[self.trust](self),
        ]
        if self.people is not None:
            said.append(self._worth(self.people))
        return " ".join(said)

    def _worth(self, people: int) -> str:
        error = "" if self.standard_error is None else f"estimates are about {_shown(self.standard_error)} off, and "
        return (
            f"With {people:,} reports, {error}{_liars(people):,} of them that lie together can move one by "
            f"{_shown(self.poison_of_liars or 0.0)}."
        )

    def __str__(self) -> str:
        return self.words()


def _unclear(price: Price) -> str:
    return (
        "The answer is made unclear on the device: one report changes what anybody may believe about it at most "
        f"{_odds(price.odds)}-fold (ε = {_number(price.epsilon_report)})."
    )


def _local(price: Price) -> list[str]:
    whole_price = (
        f"A day costs at most ε = {_number(price.epsilon_day)}, all of it ε = {_number(price.epsilon)}, even if "
        "everything that is sent is published."
    )
    return [_unclear(price), whole_price]


def _shuffled(price: Price) -> list[str]:
    if not price.parties:
        own = f"Nobody but the analyser mixes the reports, which earns nothing: it costs ε = {_number(price.epsilon)}."
        return [_unclear(price), own]
    mixed = (
        f"{price.parties[1]} mixes the reports before anybody reads them, so it costs ε = {_number(price.epsilon)} "
        f"with δ = {float(price.delta):g}; ε = {_number(price.epsilon_report)} should it not be honest."
    )
    return [_unclear(price), mixed]


def _two_servers(price: Price) -> list[str]:
    one, other = price.parties
    return [
        f"The answer leaves the device in two parts, one for {one} and one for {other}, each of which says nothing by "
        "itself. They add up all answers and publish the sum with noise alone: one report changes what anybody may "
        f"believe about the answer at most {_odds(price.odds)}-fold (ε = {_number(price.epsilon_report)}), all of them "
        f"cost ε = {_number(price.epsilon)}.",
        "Should the two work together, they could read every answer.",
    ]


_OF_TRUST = {"local": _local, "shuffled": _shuffled, "two-servers": _two_servers}


def budget_of(event: Event) -> Budget:
    """Return the budget that holds an event once and nothing beside it: pure ε, or ε and δ that simply add up."""
    delta = own_delta(event)
    share = {"own_delta_share": Fraction(1)} if delta else {}
    whole_price = Filter.open(Budget(epsilon=_LARGEST, delta=delta, **share)).charge(event)
    return Budget(epsilon=Fraction(whole_price[-1], PER_EPSILON), delta=delta, **share)


def _largest(found: Any) -> float | None:
    """Return the largest, where a question estimates several things."""
    largest: float | None = max(found.values()) if isinstance(found, Mapping) else found
    return largest


def _liars(people: int) -> int:
    return -(-people // 100)


def _shown(given: float) -> str:
    return f"{math.ceil(given):,}" if given >= 10 else f"{given:.2g}"


def _number(given: Fraction | float) -> str:
    return f"{float(given):.4g}"


def _odds(given: float) -> str:
    return f"{math.ceil(given * 10) / 10:g}" if given < 1000 else f"{given:.1e}"
