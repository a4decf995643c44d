"""Output shares added up by each server, and what comes of all servers' sums: draft-irtf-cfrg-vdaf-18, 7.2.4 and 7.2.5.

**Guarantee**: a nonce counts once. The checksum (the exclusive or of SHA-256 over all nonces that count) tells whether
two servers added up the same reports; sums over different ones would be as good as random.
**Assumes**: what was added before a restart is there again (`to_bytes`, `from_bytes`), and `context` names the round,
so that a report cannot be counted in two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .field import Elements
from .prio3 import NONCE, Prio3
from .refusal import Reasons, Refusal, refused
from .rows import as_rows
from .verify import Finished

_CHECKSUM = 32


class AggregateShare:
    """One server's share of the sum over all reports that count. It holds no report, but the nonces of all of them."""

    def __init__(self, prio3: Prio3) -> None:
        self.prio3 = prio3
        self.values: Elements = np.zeros(prio3.circuit.output_length, dtype=object)
        self._seen: set[bytes] = set()
        self._checksum = 0

    def add(self, finished: Finished, nonces: Sequence[bytes]) -> Reasons:
        """Add the output shares that are accepted, each nonce once; return why each of the others does not count."""
        if finished.prio3 != self.prio3 or len(nonces) != len(finished.reasons):
            raise ArgumentError(
                "what is added must be of the same survey, with a nonce for every report of the batch, in order",
                "SRD-A003",
            )
        accepted = finished.accepted
        fresh = np.array([ok and self._take(nonce) for nonce, ok in zip(nonces, accepted, strict=True)], np.bool_)
        added = finished.outputs[fresh].sum(axis=0)
        self.values = (self.values + added) % self.prio3.circuit.field.modulus
        return refused(finished.reasons, fresh, Refusal.REPEATED)

    def _take(self, nonce: bytes) -> bool:
        if nonce in self._seen:
            return False
        self._seen.add(nonce)
        self._checksum ^= int.from_bytes(hashlib.sha256(nonce).digest(), "big")
        return True

    def merge(self, other: AggregateShare) -> None:
        """Add what another process of the same server added up; reports that both counted are refused."""
        if other.prio3 != self.prio3:
            raise ArgumentError("what is merged must be of the same survey", "SRD-A003")
        if not self._seen.isdisjoint(other._seen):
            raise Refusal.REPEATED.error()
        self._seen |= other._seen
        self._checksum ^= other._checksum
        self.values = (self.values + other.values) % self.prio3.circuit.field.modulus

    def to_bytes(self) -> bytes:
        """Return all of it, for this server alone to keep: the share without noise, and the nonces, sorted."""
        return self.encoded + b"".join(sorted(self._seen))

    @classmethod
    def from_bytes(cls, prio3: Prio3, kept: bytes) -> AggregateShare:
        """Return what `to_bytes` kept."""
        size = prio3.aggregate_share_size
        values, in_field = prio3.circuit.field.decode(np.frombuffer(kept[:size].ljust(size, b"\0"), np.uint8))
        nonces = [kept[at : at + NONCE] for at in range(size, len(kept), NONCE)]
        share = cls(prio3)
        fits = len(kept) >= size and (len(kept) - size) % NONCE == 0
        if not (fits and in_field and all(share._take(nonce) for nonce in nonces)):
            raise ArgumentError(
                "these bytes are no aggregate share of this survey, or were damaged; read what to_bytes() wrote",
                "SRD-C312",
            )
        share.values = values
        return share

    @property
    def reports(self) -> int:
        """How many reports count."""
        return len(self._seen)

    @property
    def checksum(self) -> bytes:
        """What two servers compare to know that the same reports count."""
        return self._checksum.to_bytes(_CHECKSUM, "big")

    @property
    def encoded(self) -> bytes:
        """The share without noise: for tests of the protocol, never to be sent to anybody who has another share."""
        return self.prio3.circuit.field.encode(self.values).tobytes()

    def __repr__(self) -> str:
        return f"AggregateShare of {self.reports} reports"


def unshard(prio3: Prio3, shares: Iterable[Any]) -> Elements:
    """Return the sum of all servers' aggregate shares as ints; where noise made one negative it comes out negative.

    **Assumes**: the sum lies between −(p − 1)/2 and (p − 1)/2, which `ServerNoise.most_reports` sees to.
    """
    given = list(shares)
    rows, fits = as_rows(given, prio3.aggregate_share_size)
    elements, in_field = prio3.circuit.field.decode(rows)
    if len(given) != prio3.servers or not (fits & in_field).all():
        raise ArgumentError(
            f"an answer needs the aggregate shares of all {prio3.servers} servers, each of "
            f"{prio3.aggregate_share_size} bytes and in the field; ask each server again",
            "SRD-C307",
        )
    return prio3.circuit.field.centred(elements.sum(axis=0) % prio3.circuit.field.modulus)
