"""What a client sends: its measurement in shares, with a proof. draft-irtf-cfrg-vdaf-18, Section 7.2.1.

**Guarantee**: what any server gets, and all but one server get together, is independent of the measurement, but for
whoever can tell TurboSHAKE128 from a random function. Reports of a survey have one length, whatever is measured.
**Assumes**: nonce and randomness are drawn at random and used once (`reports` draws them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import numbers
from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE

from .field import Bytes, Elements
from .prio3 import KEY, LEADER, NONCE, Prio3
from .proof import prove
from .rows import as_messages, no_bytes, no_elements
from .xof import SEED

Measurements = Sequence[int] | NDArray[Any]


@dataclass(frozen=True)
class ReportShare:
    """What one server gets of a report."""

    nonce: bytes
    public_share: bytes
    input_share: bytes = field(repr=False)


@dataclass(frozen=True)
class Report:
    """A report: the nonce and the public share are for all servers, each input share for one alone."""

    nonce: bytes
    public_share: bytes
    input_shares: tuple[bytes, ...] = field(repr=False)

    def for_server(self, server: int) -> ReportShare:
        """Return what one server gets."""
        return ReportShare(self.nonce, self.public_share, self.input_shares[server])


def new_key() -> bytes:
    """Return a fresh verification key, for one server to hand to the others before the survey opens."""
    return _random(1, KEY).tobytes()


def report(prio3: Prio3, measurement: int) -> Report:
    """Return a client's report, from fresh randomness."""
    return reports(prio3, [measurement])[0]


def reports(prio3: Prio3, measurements: Measurements) -> list[Report]:
    """Return a report for each measurement, from fresh randomness."""
    given = _checked(prio3, measurements)
    return shard(prio3, given, _random(len(given), NONCE), _random(len(given), prio3.randomness_size))


def shard(prio3: Prio3, measurements: Measurements, nonces: Bytes, randomness: Bytes) -> list[Report]:
    """Return a report for each measurement: a pure function of it, a row of `nonces` and a row of `randomness`."""
    derive, encode = prio3.derive, prio3.circuit.field.encode
    encoded = prio3.circuit.encode(_checked(prio3, measurements))
    seeds = _seeds(prio3, randomness)
    helpers = [derive.measurement_share(server, seed) for server, seed in enumerate(seeds.helpers, 1)]
    shares = [_rest(prio3, encoded, helpers), *helpers]
    public, joint = _joint(prio3, shares, seeds.blinds, nonces)
    proof = prove(prio3.circuit, encoded, derive.prove_randomness(seeds.prover), joint)
    proof = _rest(prio3, proof, [derive.proof_share(server, seed) for server, seed in enumerate(seeds.helpers, 1)])
    inputs = [np.concatenate([encode(shares[LEADER]), encode(proof)], axis=1), *seeds.helpers]
    if prio3.joint:
        inputs = [np.concatenate(both, axis=1) for both in zip(inputs, seeds.blinds, strict=True)]
    by_report = zip(*map(as_messages, inputs), strict=True)
    return [Report(*parts) for parts in zip(as_messages(nonces), as_messages(public), by_report, strict=True)]


@dataclass(frozen=True)
class _Seeds:
    """The client's randomness: a seed for each helper, a blind for each server (if there is joint randomness)."""

    helpers: list[Bytes]
    blinds: list[Bytes]
    prover: Bytes


def _seeds(prio3: Prio3, randomness: Bytes) -> _Seeds:
    """Return the seeds in the draft's order: helper, its blind, …, the leader's blind, the prover's seed."""
    *rest, prover = np.split(randomness, randomness.shape[1] // SEED, axis=1)
    if not prio3.joint:
        return _Seeds(rest, [], prover)
    *rest, leader_blind = rest
    return _Seeds(rest[::2], [leader_blind, *rest[1::2]], prover)


def _joint(prio3: Prio3, shares: list[Elements], blinds: list[Bytes], nonces: Bytes) -> tuple[Bytes, Elements]:
    """Return the public share and the joint randomness: neither, where the circuit takes none."""
    if not prio3.joint:
        return no_bytes(len(nonces)), no_elements(len(nonces))
    derive = prio3.derive
    parts = [derive.joint_part(server, blind, shares[server], nonces) for server, blind in enumerate(blinds)]
    public = np.concatenate(parts, axis=1)
    return public, derive.joint_randomness(derive.joint_seed(public))


def _rest(prio3: Prio3, secret: Elements, helpers: list[Elements]) -> Elements:
    """Return the leader's share: the secret less the shares of all others."""
    for share in helpers:
        secret = secret - share
    rest: Elements = secret % prio3.circuit.field.modulus
    return rest


def _checked(prio3: Prio3, measurements: Measurements) -> NDArray[np.int64]:
    given = numbers("measurements", measurements, "iu")
    if given.ndim != 1 or (given.size and (given.min() < 0 or given.max() >= prio3.circuit.measurements)):
        raise ArgumentError(
            f"every measurement must be a whole number from 0 to {prio3.circuit.measurements - 1}; bring it into that "
            "range (clamp it, or give what is left a bin of its own)",
            "SRD-A002",
        )
    return given.astype(np.int64)


def _random(rows: int, size: int) -> Bytes:
    words = SOURCE.words(-(-rows * size // 8))
    return words.view(np.uint8)[: rows * size].reshape(rows, size)
