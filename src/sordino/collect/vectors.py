"""Vectors: (survey, value, random bytes) → report bytes, for clients in other languages to be checked against.

They lie beside the JavaScript client, in ``client/vectors.json``: `reports`, and `shares` for two servers (a circuit,
its context, a value, nonce and random bytes → public share and input shares). ``shipped()`` is what that file holds.

Each holds what a survey says, its digest, a value, the random bytes that a device drew (eight a word, the lowest
first) and the report. They are made from SHA-256 alone, so they are the same wherever they are made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .choice import WAYS, frequency
from .coins import Replayed
from .prio3 import Count, Histogram, Prio3, Sum, shard
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


def share_vectors(of_each: int = 2) -> Iterator[dict[str, Any]]:
    """Yield vectors of what a device sends to two servers, before it is sealed."""
    circuits: tuple[tuple[dict[str, Any], Any], ...] = (
        ({"name": "count"}, Count()),
        *(({"name": "sum", "most": most}, Sum(most)) for most in (1, 100, 2**40)),
        *(({"name": "histogram", "bins": bins}, Histogram.of(bins)) for bins in (1, 2, 5, 20, 100)),
    )
    for number, (said, circuit) in enumerate(circuits):
        for each in range(of_each):
            random = _random(f"shares {number} {each}")
            prio3 = Prio3(circuit, 2, random[:32])
            value = int.from_bytes(random[32:40], "little") % circuit.measurements
            nonce, drawn = random[40:56], random[56 : 56 + prio3.randomness_size]
            rows = (np.frombuffer(given, np.uint8).reshape(1, -1) for given in (nonce, drawn))
            (made,) = shard(prio3, np.array([value]), *rows)
            chunk = {"chunk": circuit.chunk_length} if isinstance(circuit, Histogram) else {}
            yield {
                "circuit": said | chunk,
                "context": prio3.context.hex(),
                "value": value,
                "nonce": nonce.hex(),
                "random": drawn.hex(),
                "public": made.public_share.hex(),
                "shares": [share.hex() for share in made.input_shares],
            }


def shipped() -> str:
    """Return the text of the file of vectors that is shipped, one vector a line."""
    both = {"reports": vectors(1), "shares": share_vectors()}
    parts = [f'"{name}": [\n' + ",\n".join(map(_line, found)) + "\n]" for name, found in both.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(vector: dict[str, Any]) -> str:
    return json.dumps(vector, separators=(",", ":"), ensure_ascii=False)


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
