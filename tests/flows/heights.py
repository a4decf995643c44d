"""A sort of data that nobody has heard of, heights of people in a JSON file, and a kind of release about it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.digest import digest_of
from sordino.accounting.events import Repeated
from sordino.accounting.grant import Grant
from sordino.accounting.neighbours import Neighbours
from sordino.data.account import DataAccount
from sordino.data.declarations_file import Head, head
from sordino.errors import ArgumentError
from sordino.mechanisms.laplace import Laplace
from sordino.serve.kinds.kind import Kind, Quoted
from sordino.serve.kinds.sort import Sort


@dataclass(frozen=True)
class Heights:
    """What is declared: between which centimetres heights lie, and in which file; `centimetres` once it is open."""

    name: str
    unit: Unit
    neighbours: Neighbours
    file: str
    tallest: int
    centimetres: tuple[int, ...] | None = None

    @classmethod
    def declared(cls, said: Head, file: Path, tallest: int) -> Heights:
        return cls(said.name, said.unit, said.neighbours, str(file), tallest)

    def opened(self) -> Heights:
        try:
            return replace(self, centimetres=tuple(json.loads(Path(self.file).read_text())))
        except OSError:
            raise ArgumentError(f"the file of {self.name!r} cannot be read", "SRD-A005") from None

    @property
    def bound(self) -> Bound:
        """Under replace-one, one person's height may become any other."""
        return Bound.scalar(self.tallest, unit=self.unit).replacing()


def read(plain: Mapping[str, Any], directory: Path) -> Heights:
    said, rest = head(plain, ("file", "tallest"), ("file", "tallest"))
    return Heights.declared(said, directory / str(rest["file"]), int(rest["tallest"]))


HEIGHTS = Sort(
    name="heights",
    read=read,
    sources=lambda declared: {"heights": declared.file},
    open=lambda declared: declared.opened(),
    outline=lambda opened: replace(opened, centimetres=None),
    public=lambda opened: {"tallest": opened.tallest},
    carried=lambda before, given: [("the tallest height", before.tallest, given.tallest)],
)


@dataclass(frozen=True)
class Sums:
    """How tall all are together, so many times."""

    dataset: str
    parts: int
    epsilon: str
    seconds: float
    kind, days, large, project = "sums", (), False, None
    bound: Bound | None = None

    @property
    def plain(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "parts": self.parts, "epsilon": self.epsilon, "seconds": self.seconds}

    @property
    def mechanism(self) -> Laplace:
        assert self.bound is not None
        return Laplace.for_epsilon(self.epsilon, self.bound)

    def event(self) -> Repeated:
        assert self.bound is not None
        return Repeated(self.mechanism.event(self.bound), self.parts)

    def digest(self) -> str:
        return digest_of(self)


@dataclass(frozen=True)
class Summed:
    sums: Any
    receipt: Any = None
    files: ClassVar[dict[str, bytes]] = {}

    def to_json(self) -> str:
        return json.dumps({"sums": self.sums})

    def with_receipt(self, receipt: Any) -> Summed:
        return replace(self, receipt=receipt)


def asked(plain: Any) -> Sums:
    return Sums(plain["dataset"], int(plain["parts"]), str(plain["epsilon"]), float(plain.get("seconds", 0)))


def price(data: DataAccount[Heights], sums: Sums) -> Quoted:
    assert data.protected.centimetres is None  # no data is in reach where prices are found
    return Quoted.of(replace(sums, bound=data.protected.bound), people=0)


def run(data: DataAccount[Heights], sums: Sums, running: Any) -> Summed:
    plan, parts = replace(sums, bound=data.protected.bound), range(1, sums.parts + 1)
    exact = sum(min(max(0, each), data.protected.tallest) for each in data.protected.centimetres or ())
    with data.resume(running.work, plan) if running.work else data.begin(plan) as work:
        for part in parts:
            running.tell(part=part, process=os.getpid())
            if work.recorded(part) is None:
                grant = Grant(plan.mechanism.event(data.protected.bound), data.protected.bound)
                work.part(part, Summed(int(plan.mechanism.release(exact, grant))))
                time.sleep(plan.seconds)
        return work.finish(Summed([json.loads(work.recorded(part) or b"{}")["sums"] for part in parts]))


SUMS = Kind(
    name="sums",
    title="a sum of heights",
    read=asked,
    price=price,
    run=run,
    about=("heights",),
    sorts=(HEIGHTS,),
    apart=True,
)
RIVAL = replace(SUMS, name="rival", sorts=(replace(HEIGHTS),))
