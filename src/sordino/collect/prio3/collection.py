"""From a server's sum to the answer: what is charged, the share that is noised once and kept, and the result.

**Guarantee**: a server's share leaves with noise that was drawn once, under a charge that stands, and was recorded
before. Whoever asks again, before or after a restart, gets the same bytes: from several shares with fresh noise their
mean could be taken. Servers that added up different reports are told so instead of getting a random number.
**Assumes**: see `server_noise`. One unit sends no more than `reports_each` reports to this collection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.work import Work
from sordino.arguments import Number, whole
from sordino.errors import ArgumentError, GrantError

from .aggregate import AggregateShare, unshard
from .prio3 import Prio3
from .server_noise import ServerNoise

PARTICIPANT = Unit("participant")
_SHARE = 1


@dataclass(frozen=True)
class CollectionPlan:
    """One collection of `survey` by one server: charged when it opens, whatever arrives.

    Each server charges it to its own ledger; they are one and the same release, not several.
    """

    survey: str
    noise: ServerNoise
    unit: Unit = PARTICIPANT
    reports_each: int = 1

    kind: ClassVar[str] = "survey"
    days: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[int] = 1
    large: ClassVar[bool] = False

    def __post_init__(self) -> None:
        whole("reports_each", self.reports_each, least=1)

    @classmethod
    def for_epsilon(
        cls, survey: str, prio3: Prio3, epsilon: Number, *, unit: Unit = PARTICIPANT, reports_each: int = 1
    ) -> CollectionPlan:
        """Return the plan that costs pure `epsilon`, whatever one unit's reports are."""
        noise = ServerNoise.for_epsilon(prio3, epsilon, _bound(prio3, unit, reports_each))
        return cls(survey, noise, unit, reports_each)

    @classmethod
    def for_rho(
        cls, survey: str, prio3: Prio3, rho: Number, *, unit: Unit = PARTICIPANT, reports_each: int = 1
    ) -> CollectionPlan:
        """Return the plan that costs `rho` of zCDP, whatever one unit's reports are."""
        return cls(survey, ServerNoise.for_rho(prio3, rho, _bound(prio3, unit, reports_each)), unit, reports_each)

    @property
    def prio3(self) -> Prio3:
        """The protocol."""
        return self.noise.prio3

    @property
    def bound(self) -> Bound:
        """What one unit can change of the sum: all its reports may be others."""
        return _bound(self.prio3, self.unit, self.reports_each)

    def event(self) -> Event:
        """Return the noise of one server."""
        return self.noise.event(self.bound)

    def digest(self) -> str:
        """Return the digest of the plan."""
        return digest_of((self.kind, self))


def _bound(prio3: Prio3, unit: Unit, reports_each: int) -> Bound:
    return prio3.circuit.bound(Neighbours.REPLACE_ONE, unit).group(reports_each)


@dataclass(frozen=True)
class NoisedShare:
    """One server's share with its noise: what may leave, for one collection always the same."""

    share: bytes = field(repr=False)
    reports: int
    checksum: bytes
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return what is sent to whoever puts the answer together."""
        said = {"checksum": self.checksum.hex(), "reports": self.reports, "share": self.share.hex()}
        return json.dumps(said, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> NoisedShare:
        """Return the share of a text; refuse what is none."""
        try:
            said = json.loads(text)
            found = cls(bytes.fromhex(said["share"]), said["reports"], bytes.fromhex(said["checksum"]))
        except (ValueError, TypeError, KeyError):
            found = None
        if found is None or type(found.reports) is not int or found.reports < 0:
            raise ArgumentError("this is no text of a noised share; ask the server for it again", "SRD-C307")
        return found

    def with_receipt(self, receipt: Any) -> NoisedShare:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)


def collect(work: Work, aggregate: AggregateShare) -> NoisedShare:
    """Return the server's noised share of a collection that was begun: drawn now, or as it was recorded before."""
    kept = work.recorded(_SHARE)
    if kept is None:
        kept = _recorded_now(work, aggregate)
    return NoisedShare.from_json(kept)


def _recorded_now(work: Work, aggregate: AggregateShare) -> bytes:
    plan = work.plan
    if not isinstance(plan, CollectionPlan) or plan.prio3 != aggregate.prio3:
        raise ArgumentError("this work was begun for another survey; collect with the work of this one", "SRD-A003")
    if aggregate.reports > plan.noise.most_reports:
        raise ArgumentError(
            f"{aggregate.reports} reports are more than the {plan.noise.most_reports} whose sum surely stays in the "
            "field, and the answer could be wrong unseen; collect in several rounds",
            "SRD-C310",
        )
    try:
        values = plan.noise.release(aggregate.values, work.grant)
    except GrantError:
        # Another thread was faster; what it recorded is the answer.
        kept = work.recorded(_SHARE)
        if kept is None:
            raise
        return kept
    share = plan.prio3.circuit.field.encode(values).tobytes()
    return work.part(_SHARE, NoisedShare(share, aggregate.reports, aggregate.checksum))


@dataclass(frozen=True)
class Collected:
    """The answer: `values` with the noise of all servers, unbiased, and so negative at times."""

    plan: CollectionPlan
    values: tuple[int, ...]
    reports: int

    def error(self, confidence: float = 0.95) -> float:
        """Return how far one value is off because of noise, at most, with probability `confidence`."""
        return self.plan.noise.error(confidence)

    def intervals(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Return (low, high) for each value by itself: about noise alone, from the exact law of it."""
        values, width = np.array(self.values, dtype=np.float64), self.error(confidence)
        return np.stack([values - width, values + width], axis=1)


def opened(plan: CollectionPlan, shares: Sequence[NoisedShare]) -> Collected:
    """Return the answer from the noised shares of all servers."""
    if len({(each.reports, each.checksum) for each in shares}) > 1:
        raise ArgumentError(
            "the servers did not add up the same reports, so their shares say nothing together; let them agree on the "
            "reports that count before either collects",
            "SRD-C311",
        )
    values = unshard(plan.prio3, [each.share for each in shares])
    return Collected(plan, tuple(values.tolist()), shares[0].reports)
