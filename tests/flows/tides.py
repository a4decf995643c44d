"""A kind that nobody has heard of: how many riders there are, counted at every tide. A service loads it by name."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.events import Repeated
from sordino.accounting.grant import Grant
from sordino.mechanisms.laplace import Laplace
from sordino.serve.kinds.kind import Kind, Quoted


@dataclass(frozen=True)
class Tides:
    dataset: str
    parts: int
    epsilon: str
    seconds: float
    kind, days, large, project = "tides", (), False, None
    bound: ClassVar[Bound] = Bound.scalar(1, unit=Unit("rider"))

    @property
    def plain(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "tides": self.parts, "epsilon": self.epsilon, "seconds": self.seconds}

    @property
    def mechanism(self) -> Laplace:
        return Laplace.for_epsilon(self.epsilon, self.bound)

    def event(self) -> Repeated:
        return Repeated(self.mechanism.event(self.bound), self.parts)

    def digest(self) -> str:
        return digest_of(self)


@dataclass(frozen=True)
class Heights:
    riders: Any
    receipt: Any = None
    files: ClassVar[dict[str, bytes]] = {}

    def to_json(self) -> str:
        return json.dumps({"riders": self.riders})

    def with_receipt(self, receipt: Any) -> Heights:
        return replace(self, receipt=receipt)


def read(plain: Any) -> Tides:
    return Tides(plain["dataset"], int(plain["tides"]), str(plain["epsilon"]), float(plain.get("seconds", 0)))


def run(data: Any, plan: Tides, running: Any) -> Heights:
    tides, exact = range(1, plan.parts + 1), data.dataset.table("trips").rider.nunique()
    with data.resume(running.work, plan) if running.work else data.begin(plan) as work:
        for tide in tides:
            running.tell(tide=tide, process=os.getpid())
            if work.recorded(tide) is None:
                grant = Grant(plan.mechanism.event(plan.bound), plan.bound)
                work.part(tide, Heights(int(plan.mechanism.release(int(exact.execute()), grant))))
                time.sleep(plan.seconds)
        return work.finish(Heights([json.loads(work.recorded(tide))["riders"] for tide in tides]))


TIDES = Kind(
    name="tides",
    title="a count at every tide",
    read=read,
    price=lambda _, plan: Quoted.of(plan, tides=plan.parts),
    run=run,
    apart=True,
)
