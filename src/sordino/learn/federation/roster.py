"""Who takes part, how many must, and what is public about one round of sums.

**Rule** of a quorum: 2·threshold > members + colluding. Then two lists of survivors cannot both be signed by
`threshold` members: they would share more than `colluding` signers, one of them honest, and who is honest signs one
list. Hence a server that does not follow the rules, with up to `colluding` members on its side, can open one sum of a
round, over at least `threshold` members, of whom `honest` = threshold − colluding are honest.
**Source**: Bonawitz, Ivanov, Kreuter, Marcedone, McMahan, Patel, Ramage, Segal, Seth 2017, Theorem 6.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.digest import digest_of
from sordino.arguments import whole
from sordino.errors import ArgumentError

from .keys import KEY_BYTES

_MOST_MEMBERS = 10_000


@dataclass(frozen=True)
class Quorum:
    """How many take part, how many must survive, and how many may be on the server's side.

    >>> Quorum(5, threshold=4, colluding=1).honest
    3
    """

    members: int
    threshold: int
    colluding: int = 1
    """A member that only looks is one: it knows its own share of the noise, and takes it away."""

    def __post_init__(self) -> None:
        whole("members", self.members, least=2, most=_MOST_MEMBERS)
        whole("threshold", self.threshold, least=1, most=self.members)
        whole("colluding", self.colluding, least=0, most=self.members - 1)
        if 2 * self.threshold <= self.members + self.colluding:
            raise ArgumentError(
                f"of {self.members} members, of whom {self.colluding} may collude with the server, at least "
                f"{(self.members + self.colluding) // 2 + 1} must survive (threshold): else it could open two sums of "
                "one round, and take one from the other",
                "SRD-A003",
            )

    @property
    def honest(self) -> int:
        """How many honest members are in every sum that can be opened: whose noise counts. One at least."""
        return self.threshold - self.colluding


@dataclass(frozen=True)
class Roster:
    """The public identities of all members, by number from 0, and how many of them must survive.

    >>> from sordino.learn.federation.keys import Identity
    >>> Roster.of([Identity().public for _ in range(5)], threshold=4).quorum.honest
    3
    """

    identities: tuple[bytes, ...]
    quorum: Quorum

    def __post_init__(self) -> None:
        if any(not isinstance(each, bytes) or len(each) != KEY_BYTES for each in self.identities):
            raise ArgumentError(f"a member is known by the {KEY_BYTES} bytes of Identity().public", "SRD-A001")
        if len(set(self.identities)) != self.quorum.members:
            raise ArgumentError("a roster names every member, each by an identity of its own", "SRD-A003")

    @classmethod
    def of(cls, identities: Sequence[bytes], *, threshold: int, colluding: int = 1) -> Roster:
        """Return the roster of these identities."""
        return cls(tuple(identities), Quorum(len(identities), threshold, colluding))

    @property
    def threshold(self) -> int:
        """How many must survive."""
        return self.quorum.threshold

    def __len__(self) -> int:
        return len(self.identities)


Words = NDArray[Any]
"""Numbers modulo 2^bits."""


@dataclass(frozen=True)
class Terms:
    """What is public about one round: who may take part, which round it is, and what is added up."""

    roster: Roster
    session: bytes
    """Names the round: no two have the same, whatever happens to the server."""
    length: int
    """How many numbers each member hands in."""
    bits: int
    """Sums are taken modulo 2^bits: 32 or 64."""
    plan: str
    """The digest of what all agreed to hand in. Members of two trainings would else meet in one sum, the ones counting
    on noise that the others do not add."""

    def __post_init__(self) -> None:
        whole("length", self.length, least=1, most=2**32)
        if self.bits not in (32, 64) or not isinstance(self.session, bytes) or len(self.session) != KEY_BYTES:
            raise ArgumentError("a round has a session of 32 bytes, and sums of 32 or 64 bits", "SRD-A003")

    @property
    def digest(self) -> bytes:
        """What members sign, so that a signature is good for this round alone."""
        return bytes.fromhex(digest_of(self))

    @property
    def words(self) -> np.dtype[Any]:
        """The type of a number modulo 2^bits."""
        return np.dtype(np.uint32 if self.bits == 32 else np.uint64)

    @property
    def wire(self) -> np.dtype[Any]:
        """The same as it is sent: the lowest byte first, on every machine."""
        return self.words.newbyteorder("<")
