"""A survey: what is asked, of whom, how often and under which trust. All of it is public, and its digest names it.

**Guarantee**: two surveys that differ in anything a device or a server acts upon have different digests, and the digest
is SHA-256 of one spelling (`Survey.spelled`) that every language can hash: JSON with sorted keys, no spaces, whole
numbers and texts alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.event import Event
from sordino.accounting.events import Repeated
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import Number, one_of, probability, whole
from sordino.data.ownership import checked_name
from sordino.errors import ArgumentError

from .parties import Party
from .parties import parties as known_parties
from .price import Price
from .question import Question, Remembering, question_of
from .randomizer import Randomizer
from .two_servers.shares import Divided, divided

LOCAL, SHUFFLED, TWO_SERVERS = "local", "shuffled", "two-servers"
TRUSTS = (LOCAL, SHUFFLED, TWO_SERVERS)
PARTICIPANT = "participant"
MOST_REPORTS = 100_000
"""Of one participant, in all."""
_LONGEST_QUESTION = 2000


@dataclass(frozen=True)
class Survey:
    """What `survey` makes: something protected (a name, a unit, replace-one) that budgets are opened for."""

    name: str
    asks: Question
    per_day: int
    days: int
    trust: str
    unit: Unit
    group: str | None
    question: str
    round: int
    batch: int | None
    delta: Fraction | None
    parties: tuple[Party, ...] = ()
    """Analyser and shuffler, or leader and helper; none under local trust."""

    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE_ONE

    @property
    def randomizer(self) -> Randomizer:
        """The way to answer."""
        return self.asks.randomizer

    @property
    def reports(self) -> int:
        """How many reports one participant may send in all."""
        return self.per_day * self.days

    @property
    def bound(self) -> Bound:
        """What one participant can change: every report of theirs, which the event prices whole."""
        if isinstance(self.asks, Divided):
            return self.asks.randomizer.bound(self.reports, self.unit)
        return Bound.scalar(neighbours=self.neighbours, unit=self.unit)

    def event(self) -> Event:
        """Return all that one participant may send, as it is charged when a round opens.

        Under local trust each report is private by itself, whoever sees it, so they compose. Shuffled by a party that
        is not the analyser, one report of each participant is in one batch of at least `batch` honest ones; shuffled by
        the analyser's own hands (no `parties`) it earns nothing. With two servers, the noise of one.
        """
        if isinstance(self.asks, Divided):
            return self.asks.randomizer.noised(self.reports, self.unit)
        if self.batch is not None and self.delta is not None and self.parties:
            return self.randomizer.shuffled(self.batch, self.delta)
        if isinstance(self.asks, Remembering):
            return self.asks.event()
        once = self.randomizer.event()
        return once if self.reports == 1 else Repeated(once, self.reports)

    def public(self) -> dict[str, Any]:
        """Return all that there is to know, as JSON can hold it."""
        return {
            "version": 1,
            "name": self.name,
            "question": self.question,
            "unit": self.unit.name,
            "round": self.round,
            "per_day": self.per_day,
            "days": self.days,
            "trust": self.trust,
            "epsilon": str(self.randomizer.epsilon),
            "batch": self.batch,
            "delta": None if self.delta is None else str(self.delta),
            **({"parties": [each.to_plain() for each in self.parties]} if self.parties else {}),
            **_plain(self.asks.public()),
        }

    @cached_property
    def spelled(self) -> bytes:
        """The one spelling of `public`, of which the digest is taken."""
        return json.dumps(self.public(), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    @cached_property
    def digest(self) -> bytes:
        """The 32 bytes that each report carries."""
        return hashlib.sha256(self.spelled).digest()

    def price(self, people: int | None = 10_000) -> Price:
        """Return what a participant spends, what an answer is worth if so many people give one, and what may go wrong.

        With None it says nothing of what an answer is worth. Charges nothing.
        """
        return Price.of(self, people)

    def __repr__(self) -> str:
        return f"Survey({self.name!r}, {self.trust}, {self.per_day} a day, {self.days} days, round {self.round})"


def survey(
    name: str,
    asks: Any,
    *,
    per_day: int = 1,
    days: int = 1,
    trust: str = LOCAL,
    unit: str = PARTICIPANT,
    group: str | None = None,
    question: str = "",
    round: int = 1,  # noqa: A002  (as people call it)
    batch: int | None = None,
    delta: Number | None = None,
    parties: Iterable[Any] = (),
) -> Survey:
    """Return a survey: what is asked by `asks` (as ``frequency(values, epsilon=1)``), at most `per_day` times a day.

    `unit` is what participants are called, and `group` the group of data sets about the same people, whose budget is
    charged as well. To ask again once a round was closed, give the next `round`: it is another survey to devices and to
    the ledger. With ``trust="shuffled"`` say the smallest `batch` of honest reports, `delta`, and the `parties`,
    analyser and shuffler, each as ``{"url": …, "key": …}``: without them you shuffle yourself, which earns nothing. By
    ``trust="two-servers"`` the parties are the two servers, the one that takes reports first.
    """
    if not isinstance(question, str) or len(question) > _LONGEST_QUESTION:
        raise ArgumentError(f"question must be a text of at most {_LONGEST_QUESTION:,} characters", "SRD-A001")
    named = known_parties(parties)
    asked = question_of(asks)
    found = Survey(
        checked_name("the survey's name", name),
        divided(asked) if trust == TWO_SERVERS else asked,
        whole("per_day", per_day, least=1, most=MOST_REPORTS),
        whole("days", days, least=1, most=MOST_REPORTS),
        one_of("trust", trust, TRUSTS),
        Unit(checked_name("unit", unit)),
        None if group is None else checked_name("group", group),
        question,
        whole("round", round, least=1, most=10**9),
        None if batch is None else whole("batch", batch, least=2, most=10**12),
        None if delta is None else probability("delta", delta),
        named,
    )
    _check(found)
    found.event()  # refused here, if it cannot be priced
    return found


def _check(found: Survey) -> None:
    if found.reports > MOST_REPORTS:
        raise ArgumentError(
            f"per_day times days is {found.reports:,} reports of one participant, and a survey takes at most "
            f"{MOST_REPORTS:,}; ask for fewer, or open a round for each part of the time",
            "SRD-C714",
        )
    _check_parties(found)
    shuffled = found.trust == SHUFFLED
    if shuffled != (found.batch is not None) or shuffled != (found.delta is not None):
        raise ArgumentError(
            "a shuffled survey says batch (the smallest number of honest reports) and delta, and no other does",
            "SRD-C714",
        )
    if shuffled and isinstance(found.asks, Remembering):
        raise ArgumentError(
            "answers that a device remembers are not priced as shuffled, since days hang together; use trust='local'",
            "SRD-C714",
        )
    if shuffled and found.reports != 1:
        raise ArgumentError(
            "a shuffled survey takes one report of each participant, as two in one batch would cost more than two "
            "batches; give per_day=1 and days=1, and open a round for each day",
            "SRD-C714",
        )


def _check_parties(found: Survey) -> None:
    if found.trust == LOCAL and found.parties:
        raise ArgumentError(
            "under local trust nobody stands between a device and you; leave parties out, or say which trust you mean",
            "SRD-C714",
        )
    if any(not each.url for each in found.parties[found.trust == SHUFFLED :]):
        raise ArgumentError("a party that others send to has an address: url, as https://b.example.org", "SRD-C714")
    if found.trust == TWO_SERVERS and not found.parties:
        raise ArgumentError(
            "a survey of two servers names both: parties, each with its url and key (`sordino survey key` prints one), "
            "the one that takes reports first",
            "SRD-C714",
        )


def _plain(given: Mapping[str, Any]) -> Any:
    """Return what JSON spells in one way in every language; floats have several spellings, so they are refused."""
    text = json.dumps(given, ensure_ascii=False, allow_nan=False)
    return json.loads(text, parse_float=_no_float)


def _no_float(_: str) -> Any:
    raise ArgumentError(
        "what a survey asks must say numbers that are not whole as texts, as '0.5' or '1/2'", "SRD-C714"
    )
