"""How servers find out which reports are valid, many at once: draft-irtf-cfrg-vdaf-18, Section 7.2.2.

    verify_start     each server, by itself      report shares  →  verifier shares
    verifier_messages  anyone                    verifier shares of all servers  →  verifier messages
    verify_next      each server, by itself      verifier messages  →  output shares

**Guarantee**: nothing is raised for what is in a report or a message: each report has a `Refusal` of its own, and what
is refused counts nothing. Bytes of all the others are those of the draft. All is a pure function of its arguments, so a
server that was stopped starts again and comes to the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sordino.errors import ArgumentError

from .field import Bytes, Elements
from .prio3 import LEADER, NONCE, Prio3, checked_key
from .proof import decide, query
from .refusal import Reasons, Refusal, accepted, none_refused, refused
from .rows import as_messages, as_rows, no_bytes, no_elements
from .sharding import ReportShare
from .xof import SEED

_AT_ONCE = 500
"""Reports that are worked on together: more take more memory and are not faster."""


@dataclass(frozen=True)
class Started:
    """What a server keeps of a batch until it hears of the others: secret, but for `verifier_shares`."""

    prio3: Prio3
    reasons: Reasons
    verifier_shares: list[bytes | None]
    """To be sent; None for those that are refused."""
    outputs: Elements = field(repr=False)
    joint_seeds: Bytes = field(repr=False)

    @property
    def accepted(self) -> NDArray[np.bool_]:
        """Who is not refused so far."""
        return accepted(self.reasons)


@dataclass(frozen=True)
class Combined:
    """What all servers' verifier shares say together."""

    reasons: Reasons
    messages: list[bytes | None]
    """To be sent to all: None for those that are refused (without joint randomness the message of others is empty)."""


@dataclass(frozen=True)
class Finished:
    """A server's shares of what is added up, one row for each report: zero for those that are refused."""

    prio3: Prio3
    reasons: Reasons
    outputs: Elements = field(repr=False)

    @property
    def accepted(self) -> NDArray[np.bool_]:
        """Who counts."""
        return accepted(self.reasons)

    def only(self, counted: NDArray[np.bool_]) -> Finished:
        """Return the same without those that the other server, as it says, does not count."""
        reasons = refused(self.reasons, counted, Refusal.NO_MESSAGE)
        return Finished(self.prio3, reasons, np.where(accepted(reasons)[:, None], self.outputs, 0))


def verify_start(prio3: Prio3, server: int, key: bytes, reports: Sequence[ReportShare]) -> Started:
    """Return a server's verifier shares of many reports, and what it needs to go on."""
    prio3.checked_server(server)
    checked_key(key)
    parts = [_start(prio3, server, key, reports[at : at + _AT_ONCE]) for at in range(0, len(reports), _AT_ONCE)]
    parts = parts or [_start(prio3, server, key, [])]
    return Started(
        prio3,
        np.concatenate([part.reasons for part in parts]),
        [share for part in parts for share in part.verifier_shares],
        np.concatenate([part.outputs for part in parts]),
        np.concatenate([part.joint_seeds for part in parts]),
    )


def _start(prio3: Prio3, server: int, key: bytes, reports: Sequence[ReportShare]) -> Started:
    given = _unpacked(prio3, server, reports)
    part, seeds, joint = _joint(prio3, server, given)
    random = prio3.derive.query_randomness(key, given.nonces)
    verifiers, usable = query(prio3.circuit, given.measurement, given.proof, random, joint, prio3.servers)
    reasons = refused(given.reasons, usable, Refusal.UNUSABLE_POINT)
    shares = as_messages(np.concatenate([prio3.circuit.field.encode(verifiers), part], axis=1))
    return Started(prio3, reasons, _unless(reasons, shares), prio3.circuit.truncate(given.measurement), seeds)


@dataclass(frozen=True)
class _Given:
    """Report shares of a batch, unpacked."""

    reasons: Reasons
    nonces: Bytes
    public: Bytes
    measurement: Elements
    proof: Elements
    blinds: Bytes


def _unpacked(prio3: Prio3, server: int, reports: Sequence[ReportShare]) -> _Given:
    nonces, nonce_fits = as_rows([report.nonce for report in reports], NONCE)
    public, public_fits = as_rows([report.public_share for report in reports], prio3.public_share_size)
    inputs, input_fits = as_rows([report.input_share for report in reports], prio3.input_share_size(server))
    size = inputs.shape[1] - (SEED if prio3.joint else 0)
    if server == LEADER:
        elements, in_field = prio3.circuit.field.decode(inputs[:, :size])
        measurement, proof = np.split(elements, [prio3.circuit.measurement_length], axis=1)
    else:
        seeds, in_field = inputs[:, :size], input_fits
        measurement, proof = prio3.derive.measurement_share(server, seeds), prio3.derive.proof_share(server, seeds)
    fits = nonce_fits & public_fits & input_fits & in_field
    reasons = refused(none_refused(len(reports)), fits, Refusal.MALFORMED)
    return _Given(reasons, nonces, public, measurement, proof, inputs[:, size:])


def _joint(prio3: Prio3, server: int, given: _Given) -> tuple[Bytes, Bytes, Elements]:
    """Return this server's part of the joint randomness, the seed that follows from it, and the randomness.

    The part that the client claims for this server is replaced by what it should be, so that a client cannot choose
    the randomness; that it claimed the others rightly is seen when all have exchanged their parts.
    """
    count = len(given.nonces)
    if not prio3.joint:
        return no_bytes(count), no_bytes(count), no_elements(count)
    part = prio3.derive.joint_part(server, given.blinds, given.measurement, given.nonces)
    parts = given.public.copy()
    parts[:, server * SEED : (server + 1) * SEED] = part
    seeds = prio3.derive.joint_seed(parts)
    return part, seeds, prio3.derive.joint_randomness(seeds)


def verifier_messages(prio3: Prio3, shares: Sequence[Sequence[bytes | None]]) -> Combined:
    """Return what is sent to all servers, from the verifier shares of each server (in their order) for each report."""
    if len(shares) != prio3.servers or len({len(each) for each in shares}) != 1:
        raise ArgumentError(
            f"verifier shares must come from all {prio3.servers} servers, as many from each: one for every report of "
            "the batch, empty where it was refused",
            "SRD-A003",
        )
    reasons = none_refused(len(shares[0]))
    total: Elements | int = 0
    parts = []
    for each in shares:
        rows, fits = as_rows(each, prio3.verifier_share_size)
        size = prio3.verifier_share_size - prio3.verifier_message_size
        elements, in_field = prio3.circuit.field.decode(rows[:, :size])
        reasons = refused(reasons, fits & in_field, Refusal.NO_MESSAGE)
        total = total + elements
        parts.append(rows[:, size:])
    verifier = np.asarray(total % prio3.circuit.field.modulus, dtype=object)
    reasons = refused(reasons, decide(prio3.circuit, verifier), Refusal.FALSE_PROOF)
    joined = np.concatenate(parts, axis=1)
    seeds = prio3.derive.joint_seed(joined) if prio3.joint else joined
    return Combined(reasons, _unless(reasons, as_messages(seeds)))


def _unless(reasons: Reasons, messages: list[bytes]) -> list[bytes | None]:
    return [None if reason else message for message, reason in zip(messages, reasons, strict=True)]


def verify_next(started: Started, messages: Sequence[bytes | None], decided: Reasons | None = None) -> Finished:
    """Return a server's output shares, given a verifier message for each report, or None where there is none.

    `decided` are the reasons of `verifier_messages`, for whoever has them: they say why a message is missing.
    """
    if len(messages) != len(started.reasons):
        raise ArgumentError("there must be a verifier message for every report of the batch, in order", "SRD-A003")
    seeds, fits = as_rows(messages, started.prio3.verifier_message_size)
    reasons = started.reasons if decided is None else np.where(started.reasons, started.reasons, decided)
    reasons = refused(reasons, fits, Refusal.NO_MESSAGE)
    reasons = refused(reasons, (seeds == started.joint_seeds).all(axis=1), Refusal.JOINT_RANDOMNESS)
    outputs = np.where(accepted(reasons)[:, None], started.outputs, 0)
    return Finished(started.prio3, reasons, outputs)
