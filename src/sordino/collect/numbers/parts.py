"""Several ways to answer in one payload: a byte that says which, then its payload, filled up with zeros.

So all reports of a survey have one length, whichever way they took. Counts of all ways stand one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.errors import ArgumentError

MOST_PARTS = 256


@dataclass(frozen=True)
class Parts:
    """The ways, in the order of their numbers on the wire."""

    ways: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.ways) <= MOST_PARTS or not all(hasattr(way, "report") for way in self.ways):
            raise ArgumentError(f"give one to {MOST_PARTS} ways to answer, as TwoValues(epsilon=1)", "SRD-C206")

    @property
    def size(self) -> int:
        """As many bytes as the longest, and one."""
        return 1 + max(int(way.size) for way in self.ways)

    def wrapped(self, which: int, payload: bytes) -> bytes:
        """Return the payload of one way as one of all."""
        return (bytes([which]) + payload).ljust(self.size, b"\0")

    def reports(self, which: Codes, codes: Sequence[Codes]) -> Payloads:
        """Return payloads for many people: the way of each, and for each way the codes of all."""
        found = np.zeros((len(which), self.size), dtype=np.uint8)
        found[:, 0] = which
        for number, way in enumerate(self.ways):
            mine = which == number
            found[mine, 1 : 1 + way.size] = way.reports(codes[number][mine])
        return found

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell which name a way, hold a payload of it, and nothing but zeros beyond."""
        good = np.zeros(len(payloads), dtype=np.bool_)
        for number, way in enumerate(self.ways):
            mine = payloads[:, 0] == number
            empty = ~payloads[mine, 1 + way.size :].any(axis=1)
            good[mine] = way.well_formed(payloads[mine, 1 : 1 + way.size]) & empty
        return good

    def count(self, payloads: Payloads) -> Counts:
        """Return the counts of each way, one after the other."""
        mine = [payloads[payloads[:, 0] == number, 1 : 1 + way.size] for number, way in enumerate(self.ways)]
        return np.concatenate([way.count(part) for way, part in zip(self.ways, mine, strict=True)])

    def apart(self, counts: Counts) -> list[Counts]:
        """Return the counts of each way by themselves."""
        lengths = [len(way.count(np.zeros((0, way.size), dtype=np.uint8))) for way in self.ways]
        if np.asarray(counts).shape != (sum(lengths),):
            raise ArgumentError(f"counts must be {sum(lengths)} whole numbers, as count() returns them", "SRD-C203")
        return np.split(np.asarray(counts), np.cumsum(lengths)[:-1])
