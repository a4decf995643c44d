"""How a device answers two servers: the answer in two shares, each sealed for one of them, in one report.

A payload is the public share, then the leader's and the helper's input share, each sealed by HPKE about the survey, the
report's id (which is Prio3's nonce) and the public share: so no share can be put into another report.

**Guarantee**: whoever has a report, and one of the servers with it, learns nothing of the answer; see ``prio3``. Each
server adds the whole noise, so what both publish costs ε for each report of a participant, if one of them is honest.
**Assumes**: the two servers do not work together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.bound import Bound, Unit
from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.collect.choice import Frequency
from sordino.collect.estimate import Estimate
from sordino.collect.parties import Party
from sordino.collect.poison import Poison
from sordino.collect.prio3 import Histogram, Prio3, ServerNoise, shard
from sordino.collect.randomizer import Codes, Counts, Payloads
from sordino.collect.sealing import OVERHEAD, PartyKey, seal
from sordino.errors import ArgumentError
from sordino.noise.keystream import BitSource

MOST_VALUES = 1024
_ABOUT = b"sordino share 1 "
_SERVERS = 2


@dataclass(frozen=True)
class Shares:
    """Which of so many values is held, told to two servers in shares; each report loses `epsilon`."""

    domain: int
    epsilon: Fraction

    protocol: ClassVar[str] = "prio3-histogram"

    @cached_property
    def circuit(self) -> Histogram:
        """What is checked of an answer: one value and no more."""
        return Histogram.of(self.domain)

    def prio3(self, digest: bytes) -> Prio3:
        """Return the protocol of a survey: its digest is the context, so that a report counts nowhere else."""
        return Prio3(self.circuit, _SERVERS, digest)

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        plain = self.prio3(b"")
        return (plain.public_share_size, *(plain.input_share_size(server) + OVERHEAD for server in range(_SERVERS)))

    @property
    def size(self) -> int:
        """Bytes of a payload."""
        return sum(self._sizes)

    @property
    def noise(self) -> ServerNoise:
        """What each server adds."""
        return _noise(self)

    def bound(self, reports: int, unit: Unit) -> Bound:
        """Return what a participant with so many reports can change."""
        return self.circuit.bound(Neighbours.REPLACE_ONE, unit).group(reports)

    def noised(self, reports: int, unit: Unit) -> Event:
        """Return the noise of one server, where a participant sends so many reports."""
        return self.noise.event(self.bound(reports, unit))

    def event(self) -> Event:
        """Return what one report costs."""
        return self.noise.event(self.circuit.bound(Neighbours.REPLACE_ONE))

    def shuffled(self, reports: int, delta: Fraction) -> Event:  # noqa: ARG002  (the noise is the servers', not a crowd's)
        """Return the same: no crowd is counted on."""
        return self.event()

    def public(self) -> Mapping[str, Any]:
        """Return all that another language needs."""
        chunk = self.circuit.chunk_length
        return {"protocol": self.protocol, "domain": self.domain, "chunk": chunk, "epsilon": str(self.epsilon)}

    def payload(
        self, digest: bytes, identity: bytes, parties: tuple[Party, ...], code: int, source: BitSource
    ) -> bytes:
        """Return the payload of a report with this id; shares by the next words of `source`, seals by fresh keys."""
        prio3 = self.prio3(digest)
        random = source.words(prio3.randomness_size // 8).astype("<u8").view(np.uint8).reshape(1, -1)
        nonce = np.frombuffer(identity, np.uint8).reshape(1, -1)
        (made,) = shard(prio3, np.array([code]), nonce, random)
        sealed = [
            seal(each.public, about(server, digest, identity, made.public_share), share)
            for server, (each, share) in enumerate(zip(parties, made.input_shares, strict=True))
        ]
        return b"".join([made.public_share, *sealed])

    def parted(self, payload: bytes) -> tuple[bytes, bytes, bytes]:
        """Return the public share and the two sealed input shares of a payload."""
        public, leader, _ = self._sizes
        return payload[:public], payload[public : public + leader], payload[public + leader :]

    def report(self, value: int, source: BitSource) -> NoReturn:  # noqa: ARG002
        """Refuse: a share is sealed about the report's id (`payload`)."""
        raise _whole_reports()

    def reports(self, values: Codes) -> NoReturn:  # noqa: ARG002
        """Refuse: as `report`."""
        raise _whole_reports()

    def well_formed(self, payloads: Payloads) -> NDArray[np.bool_]:
        """Tell nothing yet: the servers find out together, when they check proofs."""
        return np.ones(len(payloads), np.bool_)

    def count(self, payloads: Payloads) -> Counts:  # noqa: ARG002  (neither server can)
        """Return nothing: there is nothing that one server could count."""
        return np.zeros(0, np.int64)

    def estimate(self, counts: Counts, reports: int) -> Estimate:  # noqa: ARG002
        """Refuse: an answer needs both servers."""
        raise ArgumentError("what two servers collected is known when both have handed out their sums", "SRD-C713")

    def poison(self) -> Poison:
        """Return 1: a report that is counted is one value, by its proof."""
        return Poison(Fraction(1), Fraction(1))


@dataclass(frozen=True)
class Divided:
    """What `divided` makes of a question about frequencies: the same values, asked by two servers."""

    once: Frequency
    randomizer: Shares

    @property
    def values(self) -> Any:
        """What may be said."""
        return self.once.values

    def code(self, value: Any) -> int:
        """Return the code of a value."""
        return self.once.code(value)

    def public(self) -> Mapping[str, Any]:
        """Return the values and how one is told."""
        return {"values": self.once.public()["values"], "randomizer": dict(self.randomizer.public())}

    def estimate(self, counts: Counts, reports: int) -> Estimate:
        """Refuse: as `Shares.estimate`."""
        return self.randomizer.estimate(counts, reports)

    def error(self, people: int) -> float:  # noqa: ARG002  (the noise is the same for however many)
        """Return the standard deviation of each count: the noise of both servers."""
        return self.randomizer.noise.standard_deviation

    def poison(self, people: int, colluding: int) -> float:  # noqa: ARG002
        """Return how far liars move a count: by one each."""
        return self.randomizer.poison().shift(colluding)


def divided(asks: Any) -> Divided:
    """Return a question about frequencies as two servers ask it."""
    if not isinstance(asks, Frequency) or asks.randomizer.domain > MOST_VALUES:
        raise ArgumentError(
            f"two servers are asked by frequency(values, epsilon=…) of at most {MOST_VALUES:,} values; sums and yes or "
            "no are in collect.prio3",
            "SRD-C714",
        )
    return Divided(asks, Shares(asks.randomizer.domain, asks.randomizer.epsilon))


def about(server: int, digest: bytes, identity: bytes, public: bytes) -> bytes:
    """Return what a share is sealed about."""
    return _ABOUT + bytes([server]) + digest + identity + public


def share_of(key: PartyKey, server: int, digest: bytes, identity: bytes, public: bytes, sealed: bytes) -> bytes:
    """Return a server's input share; empty, which Prio3 refuses, for what was not sealed for it."""
    return key.opened(about(server, digest, identity, public), sealed) or b""


@lru_cache(maxsize=64)
def _noise(shares: Shares) -> ServerNoise:
    return ServerNoise.for_epsilon(shares.prio3(b""), shares.epsilon)


def _whole_reports() -> ArgumentError:
    return ArgumentError("answers to two servers are made as whole reports: by Device(…).report", "SRD-C713")
