"""Prio3 with one circuit for a number of servers: parameters, and the sizes of all messages.

draft-irtf-cfrg-vdaf-18, Sections 7.2 and 7.2.7.

**Guarantee**: from all that servers see, but for one honest server's own messages, nothing follows about a measurement
beyond the aggregate (and what the honest server's noise leaves of that, see `server_noise`). A report that was not made
for a valid measurement is refused, but for a probability of 2⁻⁵⁰ or less.
**Assumes**: one server is honest, and TurboSHAKE128 is as a random function. Clients draw nonce and seeds at random (as
`report` does). All servers hold the same verification key: fixed before the first report, secret from all clients. They
got the same public share. Each input share came to its server sealed, bound to nonce and public share, and a nonce is
taken once.
**Source**: Davis, Patton, Rosulek, Schoppmann 2023 (security of Prio3); Corrigan-Gibbs, Boneh 2017 (Prio).

Parameters of a circuit are no part of what is derived: two servers that disagree on the number of bins or the largest
measurement, or a client with others, may get on well with each other. So name them in `context`, as a digest of the
survey does, together with the round: a report counts nowhere but in its own context.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sordino.arguments import whole
from sordino.errors import ArgumentError

from .circuit import Circuit
from .derive import Derivations
from .proof import proof_length, verifier_length
from .xof import SEED

NONCE = 16
"""Bytes of a nonce."""
KEY = SEED
"""Bytes of a verification key."""
LEADER = 0
"""The server that is sent shares themselves rather than a seed of them, and that begins."""
HELPER = 1
"""The other one, of two."""

_MOST_SERVERS = 255
_LONGEST_CONTEXT = 2**16 - 9  # it is a part of tags, of which two bytes tell the length


@dataclass(frozen=True)
class Prio3:
    """Prio3 for `circuit`, `servers` of which must all take part, and an application's `context`.

    >>> from sordino.collect.prio3 import Histogram, Prio3
    >>> Prio3(Histogram.of(20), context=b"favourite colour, 2026-06").report_sizes
    (768, 144)
    """

    circuit: Circuit
    servers: int = 2
    context: bytes = b""

    def __post_init__(self) -> None:
        whole("servers", self.servers, least=2, most=_MOST_SERVERS)
        if not isinstance(self.context, bytes) or len(self.context) > _LONGEST_CONTEXT:
            raise ArgumentError(
                f"context must be at most {_LONGEST_CONTEXT} bytes that name the survey for clients and servers alike",
                "SRD-A001",
            )

    @cached_property
    def derive(self) -> Derivations:
        """What is derived from seeds."""
        return Derivations(self.circuit, self.context)

    @property
    def joint(self) -> bool:
        """Whether the circuit takes joint randomness."""
        return self.circuit.joint_length > 0

    @property
    def randomness_size(self) -> int:
        """Bytes of randomness that a client's report takes: a seed for each helper, one to prove, and blinds."""
        return SEED * self.servers * (2 if self.joint else 1)

    @property
    def public_share_size(self) -> int:
        """Bytes of a public share: the parts of the joint randomness."""
        return SEED * self.servers if self.joint else 0

    def input_share_size(self, server: int) -> int:
        """Bytes of an input share: elements for the leader, a seed for the others, and a blind."""
        blind = SEED if self.joint else 0
        if server != LEADER:
            return SEED + blind
        return self.circuit.field.size * (self.circuit.measurement_length + proof_length(self.circuit)) + blind

    @property
    def report_sizes(self) -> tuple[int, ...]:
        """Bytes that each server is sent for a report, without seal and framing."""
        common = NONCE + self.public_share_size
        return tuple(common + self.input_share_size(server) for server in range(self.servers))

    @property
    def verifier_share_size(self) -> int:
        """Bytes of a verifier share."""
        return self.circuit.field.size * verifier_length(self.circuit) + (SEED if self.joint else 0)

    @property
    def verifier_message_size(self) -> int:
        """Bytes of a verifier message: the seed of the joint randomness."""
        return SEED if self.joint else 0

    @property
    def aggregate_share_size(self) -> int:
        """Bytes of an aggregate share, as of an output share."""
        return self.circuit.field.size * self.circuit.output_length

    def checked_server(self, server: Any) -> int:
        """Return the number of a server: 0 is the leader."""
        return whole("server", server, least=0, most=self.servers - 1)


def checked_key(key: Any) -> bytes:
    """Return a verification key if it is one; never show it."""
    if not isinstance(key, bytes) or len(key) != KEY:
        raise ArgumentError(
            f"key must be the {KEY} bytes that all servers agreed on; make one by new_key()", "SRD-A001"
        )
    return key
