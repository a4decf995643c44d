"""ε and δ in plain words: odds, beliefs, the best attack, a family of five, and what δ means for n people.

All figures are rounded outward: what is said to be at most something is rounded up, at least something down.

**Guarantee**: for (ε, δ)-differential privacy of one person's data,

* the odds of any result change by a factor within e^−ε and e^ε, so a belief p becomes at most p·e^ε/(p·e^ε + 1 − p) and
  at least p·e^−ε/(p·e^−ε + 1 − p), except in a failure of probability at most δ (an (ε, δ)-private release is an
  ε-private one with probability 1 − δ and anything at all otherwise: Kairouz, Oh, Viswanath 2015);
* the best attack tells "was there" from "was not", both equally likely beforehand, with a chance of at most
  (1 + t)/2 where t = (e^ε − 1 + 2δ)/(e^ε + 1), the largest total variation distance of two (ε, δ)-close laws;
* k people together have kε and δ(1 + e^ε + … + e^((k−1)ε)) (the proof of Lemma 2.2 in Vadhan 2017, which states the
  larger kδe^(kε)).

**Assumes** neighbours that differ by a person's data being there or not. Where they differ by its being replaced, read
"other data" for "without", and "which of two records" for "whether they are in the data".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.arguments import Number, rational, rounded_down, rounded_up, whole
from sordino.errors import ArgumentError

from . import group
from .rounding import decimal_rounded_up
from .tradeoff import TradeOff, plot
from .units import significant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILY = 5
LARGEST = 100
_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
_LIMIT = (
    "This is what a person's own data can add. What the release shows about people in general, it also shows about "
    "those who are like them, whether they take part or not. Where the data of k people go together (relatives, a "
    "household, whoever infected whom), each record also speaks of the others: read them as a group, with k·ε, and "
    "with (1 + e^ε + … + e^((k−1)ε))·δ in place of δ."
)


@dataclass(frozen=True)
class Belief:
    """How far a belief can move: `before`, and at `least` and at `most` after."""

    before: float
    least: float
    most: float


@dataclass(frozen=True)
class Reading:
    """What the promise says to `size` people who share one fate: take part, or do not, together."""

    size: int
    epsilon: Fraction
    delta: Fraction
    odds_least: float
    odds_most: float
    beliefs: tuple[Belief, ...]
    attack_accuracy: float
    """The largest chance that an attack guesses right between two equally likely cases; a coin flip has 0.5."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON."""
        return {**asdict(self), "epsilon": float(self.epsilon), "delta": rounded_up(self.delta)}


@dataclass(frozen=True)
class Explanation:
    """ε and δ in plain words: `str()` gives the text, `to_dict()` the numbers, `plot()` the picture."""

    epsilon: Fraction
    delta: Fraction
    people: int | None
    person: Reading
    family: Reading

    @property
    def expected_failures(self) -> float | None:
        """The number of people, on average, for whom δ lets the promise fail altogether; None without `people`."""
        return None if self.people is None else rounded_up(self.people * self.delta)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and the text, ready for JSON."""
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "people": self.people,
            "expected_failures": self.expected_failures,
            "person": self.person.to_dict(),
            "family": self.family.to_dict(),
            "text": str(self),
        }

    def plot(self, others: Mapping[str, TradeOff] | None = None) -> Figure:
        """Return the picture of the trade-off between an attack's two errors, for one person and for a family of five.

        `others` adds curves by label: that of an event (`TradeOff.of`) often lies higher, as it says more than (ε, δ).
        """
        family = f"a family of five, ε = {_plain(self.family.epsilon)}"
        curves = {
            f"one person, {self._promise()}": TradeOff.approximate(self.epsilon, self.delta),
            family: TradeOff.approximate(self.family.epsilon, self.family.delta),
            **(others or {}),
        }
        return plot(curves)

    def _promise(self) -> str:
        return f"ε = {_plain(self.epsilon)}" + (f", δ = {_plain(self.delta)}" if self.delta else "")

    def __str__(self) -> str:
        parts = [self._promise(), _words("one person", self.person), self._family_words(), self._delta_words(), _LIMIT]
        return "\n\n".join(parts)

    def _family_words(self) -> str:
        if self.family.delta >= 1:
            return "For a family of five, together: δ adds up to 1 or more, so nothing is promised to them as a group."
        return _words("a family of five, together", self.family)

    def _delta_words(self) -> str:
        if not self.delta:
            return "δ = 0: there is no chance of failure outside of these bounds."
        chance = _digits(self.delta, ROUND_CEILING)
        words = (
            f"δ: with a chance of up to {chance} (1 in {int(1 / self.delta):,}) all of this fails for a person, and "
            "then anything about them may come out."
        )
        if self.people is None:
            return f"{words} It should be far below 1/n for n people in the data; name their number to see."
        failures = self.people * self.delta
        anyone = _percent(min(failures, Fraction(1)), ROUND_CEILING)
        return (
            f"{words} Among {self.people:,} people that is {_digits(failures, ROUND_CEILING)} of them on average; the "
            f"chance that it is anyone at all is at most {anyone}. {_verdict(failures)}"
        )


def explain(epsilon: Number, delta: Number = 0, people: int | None = None) -> Explanation:
    """Return what (ε, δ)-differential privacy promises, in plain words; `people` is how many are in the data.

    >>> round(explain(1).person.attack_accuracy, 3)
    0.731
    """
    loss = rational("epsilon", epsilon, least=0)
    if loss > LARGEST:
        raise ArgumentError(
            f"epsilon must be at most {LARGEST} to be explained, not {epsilon}: far below that the promise is empty",
            "SRD-A002",
        )
    failure = rational("delta", delta, least=0)
    if failure >= 1:
        raise ArgumentError(f"delta must be below 1, not {delta}: a δ of 1 promises nothing at all", "SRD-A002")
    count = None if people is None else whole("people", people, least=1)
    together, lost = group.approximate(loss, failure, FAMILY)
    return Explanation(
        loss, failure, count, _reading(1, loss, failure), _reading(FAMILY, together, min(Fraction(lost), Fraction(1)))
    )


def _reading(size: int, epsilon: Fraction, delta: Fraction) -> Reading:
    most = _exp_rounded_up(epsilon)
    least = 1 / most
    advantage = min((most - 1 + 2 * delta) / (most + 1), Fraction(1))
    return Reading(
        size=size,
        epsilon=epsilon,
        delta=delta,
        odds_least=rounded_down(least),
        odds_most=rounded_up(most),
        beliefs=tuple(
            Belief(float(p), rounded_down(p * least / (p * least + 1 - p)), rounded_up(p * most / (p * most + 1 - p)))
            for p in _PRIORS
        ),
        attack_accuracy=rounded_up((1 + advantage) / 2),
    )


def _exp_rounded_up(value: Fraction) -> Fraction:
    return decimal_rounded_up(Decimal.exp, value) if value else Fraction(1)


def _words(who: str, reading: Reading) -> str:
    if not reading.epsilon and not reading.delta:
        return f"For {who}: no result depends on their data at all."
    most = _digits(Fraction(reading.odds_most), ROUND_CEILING)
    least = _digits(Fraction(reading.odds_least), ROUND_FLOOR)
    lines = [
        f"For {who} (ε = {_plain(reading.epsilon)}):",
        f"  Any result is at most {most} times, and at least {least} times, as likely with their data as without.",
    ]
    for prior, belief in zip(_PRIORS, reading.beliefs, strict=True):
        low, high = _percent(Fraction(belief.least), ROUND_FLOOR), _percent(Fraction(belief.most), ROUND_CEILING)
        lines.append(f"  A belief about them of {_percent(prior, ROUND_CEILING):>4} can become {low} to {high}.")
    right = _percent(Fraction(reading.attack_accuracy), ROUND_CEILING)
    lines.append(
        f"  The best guess whether they are in the data is right at most {right} of the time (a coin flip: 50 %)."
    )
    if reading.delta:
        lines.append(f"  All this except with a chance of up to {_digits(reading.delta, ROUND_CEILING)}.")
    return "\n".join(lines)


def _verdict(failures: Fraction) -> str:
    if failures >= 1:
        return "That is too much: such a δ allows publishing somebody's record outright."
    if failures > Fraction(1, 100):
        return "That is more than the rule of thumb (δ at most a hundredth of 1/n) allows."
    return "That keeps to the rule of thumb (δ at most a hundredth of 1/n)."


def _digits(value: Fraction, rounding: str) -> str:
    """Return `value` to three significant digits, rounded as told, in plain or in scientific notation."""
    short = significant(value, 3, rounding)
    return f"{short:,f}" if -4 <= short.adjusted() < 6 else f"{short:E}".replace("E+", "e").replace("E", "e")


def _percent(share: Fraction, rounding: str) -> str:
    """Return `share` in percent; close to 100 % the distance to it keeps its digits, rounded to the same side."""
    distance = 100 * (1 - share)
    if not Fraction(1, 10**6) < distance < 1:
        return f"{_digits(100 * share, rounding)} %"
    other = ROUND_FLOOR if rounding == ROUND_CEILING else ROUND_CEILING
    return f"{Context(prec=28).subtract(Decimal(100), significant(distance, 2, other)):f} %"


def _plain(value: Fraction) -> str:
    return f"{float(significant(value, 6, ROUND_CEILING)):.6g}"
