"""The ad-reach attack: what an advertiser's audience counter says about one person, however coarsely it rounds.

A platform tells advertisers how many people an audience has. It rounds, and shows nothing below a threshold. The
attacker fills an audience with accounts of her own until the rounded number is about to step up: then one person more
makes it step, or does not. One question for each person tells whether they have the trait that the audience asks for.

With noise there is no step to stand on: the best that she can do is to ask whether the count is nearer to that with the
person or without. How often that is right is measured, and compared to what ε allows.

**Source**: Korolova 2010, *Privacy violations using microtargeted ads*; Venkatadri, Andreou, Liu, Mislove, Gummadi,
Loiseau, Goga 2018, *Privacy risks with Facebook's PII-based targeting* (rounding defeated by filling up to the step).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sordino.arguments import Number, rational, whole
from sordino.errors import ArgumentError

from .asking import Asker, Interview, select
from .drawing import Figure, draw_contrasts, paper
from .rates import Contrast, Rate


@dataclass(frozen=True)
class Told:
    """How often people were said to have the trait: of those who have it, and of those who have not."""

    verdicts: Contrast
    asked: int
    refused: str | None

    def __str__(self) -> str:
        end = f"; refused then [{self.refused}]" if self.refused else ""
        with_trait, without = self.verdicts.inside, self.verdicts.outside
        return f"said of those with the trait {with_trait}, of those without {without}, by {self.asked} answers{end}"


@dataclass(frozen=True)
class Reach:
    """A trait of each target, by the sizes of audiences."""

    raw: Told
    private: Told | None

    def __str__(self) -> str:
        return "\n".join([f"raw      {self.raw}", *([f"private  {self.private}"] if self.private else [])])

    def figure(self) -> Figure:
        """Return a figure: how often the trait is found where it is, and where it is not."""
        title = "What an audience's size tells of one person"
        figure, (axes,) = paper(title, "people said to have the trait", width=6.6)
        private = None if self.private is None else self.private.verdicts
        draw_contrasts(axes, self.raw.verdicts, private, ("have it", "have not"))
        return figure


@dataclass(frozen=True)
class _Audience:
    table: str
    person: str
    trait: str

    def size(self, interview: Interview, people: Sequence[Any]) -> float | None:
        """Ask how many of some people have the trait."""
        listed = ", ".join(_constant(each) for each in people)
        return interview.number(select("COUNT(*)", self.table, f"{self.person} IN ({listed})", self.trait))


def reach(
    ask: Asker,
    *,
    table: str,
    person: str,
    trait: str,
    own: Sequence[Any],
    targets: Mapping[Any, bool],
    private: Asker | None = None,
    epsilon: Number | None = None,
    delta: Number = 0,
    repeats: int = 1,
) -> Reach:
    """Tell of each target whether they have a trait, by the sizes of audiences alone.

    Args:
        ask: the platform's counter: a function from SQL to the size that it shows, rounded and cut off as it likes.
        table: the table's name.
        person: its column of people.
        trait: the SQL condition that the attacker wants to know of her targets.
        own: accounts of the attacker that have the trait, enough to reach above the threshold.
        targets: the people to be told about, with the truth, for the judge alone.
        private: a noisy counter, such as ``through(account, epsilon=0.1)``.
        epsilon: what each of its answers claims per person.
        delta: likewise.
        repeats: how often the noisy counter is asked about each target.
    """
    audience = _Audience(table, person, trait)
    if not targets:
        raise ArgumentError("name one target at least", "SRD-A002")
    whole("repeats", repeats, least=1)
    raw = _by_steps(Interview(ask), audience, list(own), targets)
    if private is None:
        return Reach(raw, None)
    if epsilon is None:
        raise ArgumentError("say what each private answer claims per person: epsilon=…", "SRD-A003")
    # A count of those who have the trait treats one who has it not like one who is not there: ε, not 2ε.
    loss = repeats * rational("epsilon", epsilon, least=0)
    chance = min(repeats * rational("delta", delta, least=0), Fraction(1))
    return Reach(raw, _by_nearness(Interview(private), audience, targets, repeats, (loss, chance)))


def _by_steps(interview: Interview, audience: _Audience, own: list[Any], targets: Mapping[Any, bool]) -> Told:
    """Stand on a step of the rounding, then add each target."""
    edge = _last_before_a_step(interview, audience, own)
    if edge is None:
        return Told(Contrast(Rate(0, 0), Rate(0, 0)), interview.asked, interview.refused)
    many, shown = edge
    verdicts: dict[Any, bool] = {}
    for target in targets:
        size = audience.size(interview, [*own[:many], target])
        if size is None:
            break
        verdicts[target] = size != shown
    return _judge(verdicts, targets, interview)


def _last_before_a_step(interview: Interview, audience: _Audience, own: list[Any]) -> tuple[int, float] | None:
    """Return how many own accounts are one less than what is shown differently, and what is shown for them."""
    low, high = 1, len(own)
    shown = audience.size(interview, own[:low]) if own else None
    last = audience.size(interview, own) if own else None
    if shown is None or last is None or last == shown:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if audience.size(interview, own[:middle]) == shown:
            low = middle
        else:
            high = middle
    return low, shown


def _by_nearness(
    interview: Interview,
    audience: _Audience,
    targets: Mapping[Any, bool],
    repeats: int,
    claim: tuple[Number, Number],
) -> Told:
    """Say that a target has the trait if the mean answer is nearer to one than to none."""
    verdicts: dict[Any, bool] = {}
    for target in targets:
        sizes = [size for _ in range(repeats) if (size := audience.size(interview, [target])) is not None]
        if len(sizes) < repeats:
            break
        verdicts[target] = sum(sizes) / repeats > 0.5
    return _judge(verdicts, targets, interview, claim)


def _judge(
    verdicts: Mapping[Any, bool],
    targets: Mapping[Any, bool],
    interview: Interview,
    claim: tuple[Number, Number] | None = None,
) -> Told:
    said = {truth: [verdict for who, verdict in verdicts.items() if targets[who] == truth] for truth in (True, False)}
    having, others = (Rate(sum(said[truth]), len(said[truth])) for truth in (True, False))
    contrast = Contrast(having, others) if claim is None else Contrast.claiming(having, others, *claim)
    return Told(contrast, interview.asked, interview.refused)


def _constant(value: Any) -> str:
    """Return a number or a text as SQL writes it."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(whole("a person", value))
