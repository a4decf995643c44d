"""A round as a plan: charged whole when it opens, for all that one participant may send, and settled when it closes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sordino.accounting.bound import Bound
from sordino.accounting.digest import digest_of
from sordino.accounting.event import Event
from sordino.accounting.plan import Plan

from .prio3 import CollectionPlan, ServerNoise
from .randomizer import Counts
from .surveys import Survey
from .two_servers.shares import Shares


@dataclass(frozen=True)
class RoundPlan:
    """One round of a survey. Short and empty rounds cost the same: nothing that arrives moves a balance."""

    survey: Survey

    kind: ClassVar[str] = "survey"
    days: ClassVar[tuple[str, ...]] = ()
    large: ClassVar[bool] = False
    parts: ClassVar[int] = 1
    """It stays open for weeks and outlives processes; what is released is settled, and no part is recorded before."""

    @property
    def bound(self) -> Bound:
        """What one participant can change."""
        return self.survey.bound

    def event(self) -> Event:
        """Return all that one participant may send."""
        return self.survey.event()

    def digest(self) -> str:
        """Return the digest of the survey, its group included."""
        return digest_of((self.kind, self.survey.digest, self.survey.group))


def plan_of(survey: Survey) -> Plan:
    """Return the plan of a round: of one server, where two collect."""
    way = survey.randomizer
    if not isinstance(way, Shares):
        return RoundPlan(survey)
    noise = ServerNoise.for_epsilon(way.prio3(survey.digest), way.epsilon)
    return CollectionPlan(survey.name, noise, survey.unit, survey.reports)


@dataclass(frozen=True)
class Counted:
    """What is settled when a round closes: how many reports there were, and the digest of their counts."""

    survey: str
    round: int
    digest: str
    reports: int
    counts: str
    receipt: Any = None

    files: ClassVar[Mapping[str, bytes]] = {}

    @classmethod
    def of(cls, survey: Survey, reports: int, counts: Counts) -> Counted:
        """Return what is settled of counts."""
        return cls(survey.name, survey.round, survey.digest.hex(), reports, counts_digest(counts))

    def to_json(self) -> str:
        """Return all of it but the receipt."""
        said = {"survey": self.survey, "round": self.round, "digest": self.digest}
        return json.dumps(said | {"reports": self.reports, "counts": self.counts}, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Counted:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)


def counts_digest(counts: Counts) -> str:
    """Return the SHA-256 of counts, eight bytes each, the lowest first."""
    return hashlib.sha256(np.ascontiguousarray(counts, dtype="<i8").tobytes()).hexdigest()
