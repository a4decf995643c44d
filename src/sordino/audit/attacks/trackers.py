"""Trackers: a database that answers about no group too small or too large answers about one person all the same.

The rule is: no answer about fewer than k people, nor about more than n − k. The attacker knows that one person alone is
*A and B*. She pads the question until it is large enough, and takes the padding off again:

* the **individual tracker** T = *A and not B* gives q(A and B) = q(A) − q(T), and q(A and B and D) = q(T or A and D) −
  q(T): whether the person has D, and, with sums instead of counts, what they earn;
* a **general tracker** is any T that is true of 2k people and not true of 2k others: for every group C that is too
  small, q(C) = q(C or T) + q(C or not T) − q(T) − q(not T). One T opens the whole database.

**Source**: Schlörer 1975 (individual); Denning, Denning, Schwartz 1979, *The tracker: a threat to statistical database
security*, theorems 1 and 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sordino.arguments import whole

from .asking import Asker, Interview, select
from .drawing import INK, PRIVATE, RAW, Figure, paper


@dataclass(frozen=True)
class Trace:
    """What padding and subtracting said; NaN where it was refused."""

    size: float
    """How many people the description fits: 1 if it is the person alone."""
    trait: float
    """How many of them have the trait: 1 or 0."""
    total: float
    """The sum of their values: the person's own."""
    asked: int
    refused: str | None

    @property
    def has_trait(self) -> bool | None:
        """What the attacker would say: whether the trait's count is nearer to one than to none; None if refused."""
        return None if math.isnan(self.trait) else self.trait > 0.5

    def __str__(self) -> str:
        end = f"; refused then [{self.refused}]" if self.refused else ""
        said = {"people": self.size, "with the trait": self.trait, "value": self.total}
        known = [f"{name} {value:,.2f}" for name, value in said.items() if not math.isnan(value)]
        return f"{', '.join(known) or 'nothing'} by {self.asked} answers{end}"


@dataclass(frozen=True)
class Track:
    """One person's trait and value, from a database that answers about groups only."""

    raw: Trace
    private: Trace | None

    def __str__(self) -> str:
        return "\n".join([f"raw      {self.raw}", *([f"private  {self.private}"] if self.private else [])])

    def figure(self) -> Figure:
        """Return a figure: the person's trait and value as computed, raw and private."""
        figure, plots = paper(
            "A person in a database that answers about groups only",
            "people whom the description fits", "of them, with the trait", "their value", width=10,
        )  # fmt: skip
        traces = [("raw", RAW, self.raw), *([("private", PRIVATE, self.private)] if self.private else [])]
        for axes, name in zip(plots, ("size", "trait", "total"), strict=True):
            for place, (_, colour, trace) in enumerate(traces):
                value = getattr(trace, name)
                known = not math.isnan(value)
                axes.bar(place, value if known else 0.0, color=colour, width=0.55, zorder=2)
                text = (f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}") if known else "refused"
                offset = (0, 4) if not known or value >= 0 else (0, -12)
                at = (place, value if known else 0.0)
                axes.annotate(text, at, offset, textcoords="offset points", ha="center", color=INK, fontsize=9)
            axes.set_xticks(range(len(traces)), [label for label, *_ in traces], color=INK)
            axes.set_xlim(-0.6, len(traces) - 0.4)
            axes.margins(y=0.18)
            axes.grid(visible=False, axis="x")
            axes.axhline(0, color=INK, linewidth=0.8, zorder=3)
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        return figure


def track(
    ask: Asker,
    *,
    table: str,
    known: tuple[str, str],
    trait: str | None = None,
    value: str | None = None,
    tracker: str | None = None,
    private: Asker | None = None,
    rounds: int = 1,
) -> Track:
    """Find out a person's trait and value from a database that refuses groups that are too small or too large.

    Args:
        ask: a function from SQL to a number, which refuses as it likes by an error of its own.
        table: the table's name.
        known: two SQL conditions, A and B, that are both true of the person alone. Without a tracker, A alone and *A
            and not B* must be true of enough people to be answered about.
        trait: the SQL condition that the attacker wants to know of the person.
        value: the column whose value she wants to know.
        tracker: a SQL condition that is true of many, and not true of many: a general tracker, good for everybody.
        private: the same as `ask` for the protected data, such as ``through(account, epsilon=0.1)``.
        rounds: how often everything is asked; answers are averaged.
    """
    whole("rounds", rounds, least=1)
    plan = _Tracker(table, known, tracker)
    return Track(
        raw=_traced(plan, Interview(ask), trait, value, rounds),
        private=None if private is None else _traced(plan, Interview(private), trait, value, rounds),
    )


@dataclass(frozen=True)
class _Tracker:
    table: str
    known: tuple[str, str]
    tracker: str | None

    def terms(self, trait: str | None) -> list[tuple[int, str]]:
        """Return the groups to ask about with their signs: their sum is the group of the person (with the trait)."""
        first, second = (f"({condition})" for condition in self.known)
        if self.tracker is None:
            rest = f"{first} AND NOT {second}"
            padded = first if trait is None else f"({rest}) OR ({first} AND ({trait}))"
            return [(1, padded), (-1, rest)]
        target = f"{first} AND {second}" + ("" if trait is None else f" AND ({trait})")
        padding, complement = f"({self.tracker})", f"NOT ({self.tracker})"
        return [(1, f"({target}) OR {padding}"), (1, f"({target}) OR {complement}"), (-1, padding), (-1, complement)]

    def estimate(self, interview: Interview, what: str, trait: str | None, rounds: int) -> float:
        """Return the aggregate of the person's group; NaN where an answer is refused."""
        found = 0.0
        for sign, condition in self.terms(trait) * rounds:
            answer = interview.number(select(what, self.table, condition))
            if answer is None:
                return math.nan
            found += sign * answer / rounds
        return found


def _traced(plan: _Tracker, interview: Interview, trait: str | None, value: str | None, rounds: int) -> Trace:
    size = plan.estimate(interview, "COUNT(*)", None, rounds)
    with_trait = math.nan if trait is None else plan.estimate(interview, "COUNT(*)", trait, rounds)
    total = math.nan if value is None else plan.estimate(interview, f"SUM({value})", None, rounds)
    return Trace(size, with_trait, total, interview.asked, interview.refused)
