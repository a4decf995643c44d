"""Vectors: (survey, value, random bytes) → report bytes, for clients in other languages to be checked against.

Each holds what a survey says, its digest, a value, the random bytes that a device drew (eight a word, the lowest
first) and the report. They are made from SHA-256 alone, so they are the same wherever they are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sordino.errors import ArgumentError

from .choice import WAYS, frequency
from .coins import Replayed
from .surveys import Survey, survey
from .wire import report_of

EPSILONS = ("1/2", "1", "4")
DOMAINS = (2, 3, 17, 300)
NAMES = ("🙂", "🙁", "é", "ﬁ", "a b", '"', "\\", "<")
RANDOM_BYTES = 16 + 8 * 600
"""More than any report of these surveys draws."""


def surveys() -> Iterator[Survey]:
    """Yield surveys by every way to answer, for small and larger domains, with texts and without."""
    for way in WAYS:
        for domain in DOMAINS:
            for epsilon in EPSILONS:
                values: Any = NAMES[:domain] if domain <= len(NAMES) else domain
                try:
                    asks = frequency(values, epsilon=Fraction(epsilon), way=way.name)
                except ArgumentError:  # coins of this way are too coarse here
                    continue
                yield survey(f"vectors_{domain}", asks, per_day=2, days=7, question="Which? — « é »")


def vectors(of_each: int = 4) -> Iterator[dict[str, Any]]:
    """Yield so many vectors of each survey."""
    for number, asked in enumerate(surveys()):
        domain = int(asked.randomizer.domain)  # type: ignore[attr-defined]  # all of these have one
        for each in range(of_each):
            random = _random(f"{number} {each}")
            code = int.from_bytes(random[-8:], "little") % domain
            values = asked.public()["values"]
            value = code if values is None else values[code]
            report = report_of(asked, value, Replayed(random))
            yield {
                "survey": json.loads(asked.spelled),
                "digest": asked.digest.hex(),
                "value": value,
                "random": random[: _drawn(asked, value, random)].hex(),
                "report": report.to_bytes().hex(),
            }


class _Counted(Replayed):
    """Replayed words that know how many were drawn."""

    drawn = 0

    def words(self, count: int) -> Any:
        """Return the next words, counted."""
        self.drawn += count
        return super().words(count)


def _drawn(asked: Survey, value: Any, random: bytes) -> int:
    """Return how many bytes one report draws."""
    source = _Counted(random)
    report_of(asked, value, source)
    return 8 * source.drawn


def _random(seed: str) -> bytes:
    blocks = (hashlib.sha256(f"{seed} {each}".encode()).digest() for each in range(-(-RANDOM_BYTES // 32)))
    return b"".join(blocks)[:RANDOM_BYTES]
