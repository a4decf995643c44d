"""What leaves a stream: the numbers after each step of a batch, each with its interval. All of it is public."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import Number

from .plan import StreamPlan
from .price import quantile
from .strategy import Real


@dataclass(frozen=True, eq=False)
class StreamRelease:
    """Numbers after the steps `first` to `last`, counted from 1: one a step, or a row of cells; of the top alone.

    With `top`, `cells` names the places of the keys that each row's numbers belong to, the largest first.
    """

    plan: StreamPlan = field(repr=False)
    first: int
    totals: Real
    cells: NDArray[np.int64] | None = None
    receipt: Any = None

    files: ClassVar[Mapping[str, bytes]] = {}

    @classmethod
    def of(cls, plan: StreamPlan, first: int, totals: Real) -> StreamRelease:
        """Return totals, in units and a row of cells each, as they are released."""
        rounded = np.round(totals * float(plan.spec.unit), plan.digits) + 0.0
        if plan.spec.top is not None:
            places = np.argsort(-rounded, axis=1, kind="stable")[:, : plan.spec.top]
            return cls(plan, first, np.take_along_axis(rounded, places, axis=1), places)
        return cls(plan, first, rounded if plan.spec.keys is not None else rounded[:, 0])

    @property
    def last(self) -> int:
        """The last step."""
        return self.first + len(self.totals) - 1

    def error(self, confidence: Number = 0.95) -> Real:
        """Return within how much of the truth each step's number is with this probability: noise and rounding."""
        steps = slice(self.first - 1, self.last)
        return quantile(confidence) * self.plan.deviations()[steps] + self.plan.reaches()[steps]

    def interval(self, confidence: Number = 0.95) -> tuple[Real, Real]:
        """Return the ends of an interval for each number that holds the truth with this probability.

        About noise and rounding alone: events above the declared bounds were not counted. Of numbers that were chosen
        as the largest, each holds by itself, not all that were chosen together.
        """
        reach = self.error(confidence)
        reach = reach if self.totals.ndim == 1 else reach[:, None]
        return self.totals - reach, self.totals + reach

    def top(self, k: int) -> list[tuple[str, float]]:
        """Return the keys with the `k` largest numbers after the last step, and these."""
        keys = self.plan.spec.keys or ("",)
        row = np.atleast_1d(self.totals[-1])
        order = np.argsort(-row, kind="stable")[:k]
        places = order if self.cells is None else self.cells[-1][order]
        return [(keys[place], float(row[at])) for place, at in zip(places, order, strict=True)]

    def to_json(self) -> str:
        """Return steps and numbers, and the keys where they were chosen."""
        said: dict[str, Any] = {"from": self.first, "to": self.last, "totals": self.totals.tolist()}
        if self.cells is not None:
            keys = self.plan.spec.keys or ()
            said["keys"] = [[keys[place] for place in row] for row in self.cells.tolist()]
        return json.dumps(said, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, plan: StreamPlan, body: bytes) -> StreamRelease:
        """Return what was recorded."""
        said = json.loads(body)
        keys = plan.spec.keys or ()
        places = {key: place for place, key in enumerate(keys)}
        rows = said.get("keys")
        cells = None if rows is None else np.array([[places[key] for key in row] for row in rows], dtype=np.int64)
        return cls(plan, int(said["from"]), np.array(said["totals"], dtype=np.float64), cells)

    def with_receipt(self, receipt: Any) -> StreamRelease:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)

    def plot(self, axes: Any = None, confidence: Number = 0.95) -> Any:
        """Return axes (new ones if none are given) with the numbers and their intervals over the steps."""
        from .drawing import draw

        return draw(self, axes, confidence)


@dataclass(frozen=True)
class StreamEnd:
    """What is settled when a stream is closed: how far it went."""

    steps: int
    releases: int
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return both numbers."""
        return json.dumps({"steps": self.steps, "releases": self.releases}, separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> StreamEnd:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)


def joined(releases: Sequence[StreamRelease]) -> StreamRelease:
    """Return releases that follow one another as one."""
    cells = [each.cells for each in releases if each.cells is not None]
    return replace(
        releases[0],
        totals=np.concatenate([each.totals for each in releases]),
        cells=np.concatenate(cells) if cells else None,
        receipt=None,
    )
