"""The server's side of a masked sum: from each phase's messages to what is handed round, until the sum is open.

Messages come by member's number, as the transport knows it. One that is forged, cut, of another round or of a wrong
shape counts as not sent: its sender has dropped out. With fewer than the threshold in any phase the round comes to
nothing, and what was charged for it stays charged.

**Guarantee**: if every message that counts was made by an honest member, what comes out is the sum of the numbers of
all who survived, modulo 2^bits, read as a number in [−2^(bits−1), 2^(bits−1)).
**Source**: Bonawitz et al. 2017, Figure 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from sordino.errors import RunError

from .keys import KEY_BYTES, is_signed, public_half
from .masks import mask
from .member import LIST, PAIR_SHARE, PHASES, SELF_SHARE, one_key, plus_pair, self_key
from .packing import numbers_field, packed, paired, read_paired
from .roster import Terms, Words
from .shamir import SHARE_BYTES, rebuilt

P = ParamSpec("P")
T = TypeVar("T")
Replies = Mapping[int, bytes]

FAILED = "SRD-R022"
_SEALED_BYTES = 2 * SHARE_BYTES + 16


def nothing(why: str) -> RunError:
    """Return the error of a round that came to nothing."""
    return RunError(
        f"this federated round came to nothing: {why}; what was charged stays charged. Run another round, or lower the "
        "threshold for the next training",
        FAILED,
    )


class Collector:
    """One masked sum. Each phase is entered once, with what the members sent in answer to the one before."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._phase = PHASES[0]
        self._keys: dict[int, bytes] = {}
        self._sharers: frozenset[int] = frozenset()
        self._masked: dict[int, bytes] = {}
        self.left: frozenset[int] = frozenset()
        """Whose messages counted in the phase before: who is asked in the next one."""

    def keys(self, replies: Replies) -> bytes:
        """Take everybody's signed keys; return them all, for everybody who sent some."""
        self._enter("keys")
        counted: list[bytes] = []
        for number, message in sorted(replies.items()):
            found = _or_nothing(one_key, self._terms, message)
            if found is not None and found[0] == number:
                self._keys[number] = found[1]
                counted.append(message)
        self._enough(self._keys, "sent keys")
        return packed(*counted)

    def shares(self, replies: Replies) -> dict[int, bytes]:
        """Take sealed shares; return what was sealed for each who sent some."""
        self._enter("shares")
        sent: dict[int, dict[int, bytes]] = {}
        for number, message in replies.items():
            found = _or_nothing(read_paired, message)
            whole = found is not None and set(found) == set(self._keys) - {number}
            if number in self._keys and whole and all(len(each) == _SEALED_BYTES for each in (found or {}).values()):
                sent[number] = found or {}
        self._enough(sent, "sent shares")
        self._sharers = frozenset(sent)
        return {to: paired({by: each[to] for by, each in sent.items() if by != to}) for to in sorted(sent)}

    def masked(self, replies: Replies) -> bytes:
        """Take masked numbers; return the list of whose came."""
        self._enter("masked")
        size = self._terms.length * self._terms.bits // 8
        self._masked = {
            number: message
            for number, message in replies.items()
            if number in self._sharers and isinstance(message, bytes) and len(message) == size
        }
        self._enough(self._masked, "sent their numbers")
        return numbers_field(self._masked)

    def confirmed(self, replies: Replies) -> bytes:
        """Take signatures of the list; return them all."""
        self._enter("confirmed")
        terms, listed = self._terms, numbers_field(self._masked)
        counted = {
            number: message
            for number, message in replies.items()
            if number in self._masked
            and isinstance(message, bytes)
            and is_signed(terms.roster.identities[number], message, LIST, terms.digest, listed)
        }
        self._enough(counted, "signed the list of survivors")
        return paired(counted)

    def opened(self, replies: Replies) -> NDArray[np.int64]:
        """Take opened shares; return the sum."""
        self._enter("opened")
        terms = self._terms
        given = {number: self._opened_by(message) for number, message in replies.items() if number in self._masked}
        total = np.zeros(terms.length, dtype=terms.words)
        for message in self._masked.values():
            total += np.frombuffer(message, dtype=terms.wire)
        for number in sorted(self._sharers):
            survived = number in self._masked
            wanted = SELF_SHARE if survived else PAIR_SHARE
            secret = rebuilt(
                {by: each[number][1] for by, each in given.items() if number in each and each[number][0] == wanted},
                terms.roster.threshold,
            )
            if secret is None:
                raise nothing("too few shares of one member's secret were opened, or they do not fit together")
            total = total - mask(self_key(secret, terms), terms) if survived else self._without(total, number, secret)
        signed = np.int32 if terms.bits == 32 else np.int64
        return total.view(signed).astype(np.int64)

    def _without(self, total: Words, gone: int, pairing: bytes) -> Words:
        """Return `total` with the masks put back that a member who did not survive had with those who did."""
        if public_half(pairing) != self._keys[gone][KEY_BYTES:]:
            raise nothing("opened shares do not give the key that a member announced")
        for other in self._masked:  # what the pair's other half added is what this one would have taken away
            total = plus_pair(total, pairing, self._keys[other], gone, other, self._terms)
        return total

    def _opened_by(self, message: bytes) -> dict[int, tuple[bytes, bytes]]:
        """Return the kind and the share of each member's secret that one member opened; nothing if it is malformed."""
        found = _or_nothing(read_paired, message) or {}
        kind = len(SELF_SHARE)
        if any(len(each) != kind + SHARE_BYTES for each in found.values()):
            return {}
        return {number: (each[:kind], each[kind:]) for number, each in found.items()}

    def _enter(self, phase: str) -> None:
        if self._phase != phase:
            raise nothing("its phases were not run in order, each once")
        self._phase = PHASES[PHASES.index(phase) + 1] if phase != PHASES[-1] else "over"

    def _enough(self, counted: Mapping[int, object], what: str) -> None:
        if len(counted) < self._terms.roster.threshold:
            self._phase = "over"
            raise nothing(f"fewer members than the threshold {what}")
        self.left = frozenset(counted)


Ask = Callable[[str, Mapping[int, bytes]], Replies]
"""Sends each member its message of a phase and returns the answers that came in time; silence is no answer."""


def masked_sum(terms: Terms, members: Iterable[int], ask: Ask) -> NDArray[np.int64]:
    """Return the sum of what members hand in, over any transport; raise if the round comes to nothing."""
    server = Collector(terms)
    everybody = server.keys(ask("keys", dict.fromkeys(sorted(members), b"")))
    boxes = server.shares(ask("shares", dict.fromkeys(sorted(server.left), everybody)))
    survivors = server.masked(ask("masked", boxes))
    signatures = server.confirmed(ask("confirmed", dict.fromkeys(sorted(server.left), survivors)))
    return server.opened(ask("opened", dict.fromkeys(sorted(server.left), signatures)))


def _or_nothing(read: Callable[P, T], *given: P.args, **words: P.kwargs) -> T | None:
    """Return what was read, None if it is refused: then its sender has dropped out."""
    try:
        return read(*given, **words)
    except RunError:
        return None
