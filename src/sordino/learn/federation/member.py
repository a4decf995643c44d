"""A member's side of a masked sum: five phases, each entered once, from opaque messages to opaque messages.

    keys       → signed keys for this round
    shares     ← everybody's keys         → shares of my two secrets, sealed for each holder
    masked     ← the shares sealed for me → my numbers under all masks
    confirmed  ← who survived             → my signature of that list
    opened     ← everybody's signatures   → a share of the self-mask of who survived, of the pair key of who did not

**Guarantee**: whoever runs the server and up to `colluding` members, and breaks every rule, learns of the others'
numbers at most one sum, modulo 2^bits, over at least `threshold` members of whom `honest` are honest; in the model of a
random oracle for HKDF, with Diffie–Hellman in X25519. A member opens after it saw `threshold` signatures of the very
list that it signed, opens one kind of share per other member, and answers nothing after a message that it refused.
Whoever it counts among the members agreed to the same plan, so that an honest one adds the noise which that plan says.
**Assumes**: the roster's identities are those of the members (handed over beforehand, not by the server); a member
takes part once in a session; honest members keep their secrets. A member that lies about its numbers or its shares can
spoil the sum, never what is promised to others.
**Source**: Bonawitz et al. 2017, Figure 4 with the underlined parts (active adversaries), Theorem 6.5.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .keys import KEY_BYTES, Identity, agreed, derived, fresh, is_signed, is_sound, public_half, sealed, unsealed
from .masks import mask
from .packing import number_field, packed, paired, read_number, read_numbers, read_paired, refusal, unpacked
from .roster import Roster, Terms, Words
from .shamir import SHARE_BYTES, shares

KEYS, LIST = b"sordino federation keys", b"sordino federation survivors"
_SEAL, _PAIR, _SELF = b"sordino sealed shares", b"sordino pair mask", b"sordino self mask"
PHASES = ("keys", "shares", "masked", "confirmed", "opened")
OVER = "over"

PAIR_SHARE, SELF_SHARE = b"pair", b"self"

HandIn = Callable[[], NDArray[np.int64]]
"""Returns the numbers that a member hands in to a sum: the one place at which its data is touched."""


@dataclass(frozen=True, repr=False)
class Secrets:
    """What a member keeps between phases: as secret as its numbers, and forgotten when the round is over."""

    phase: str = PHASES[0]
    sealing: bytes = b""
    """The secret key with which shares are sealed."""
    pairing: bytes = b""
    """The secret key from which the masks with others come; shared, and opened if this member does not survive."""
    own: bytes = b""
    """What the self-mask comes from; shared, and opened if it does."""
    known: dict[int, bytes] = field(default_factory=dict)
    """The public keys of others, for sealing and for masks, by number."""
    inbox: dict[int, bytes] = field(default_factory=dict)
    """What others sealed for this member."""
    survivors: tuple[int, ...] = ()
    kept: tuple[bytes, bytes] = (b"", b"")
    """Its shares of its own two secrets."""


class Member:
    """One member in one round. `save` gives what must be kept, secretly, between two messages."""

    def __init__(self, terms: Terms, number: int, identity: Identity, secrets: Secrets | None = None) -> None:
        if not 0 <= number < len(terms.roster) or terms.roster.identities[number] != identity.public:
            raise refusal("the roster does not know this member under this number")
        self._terms = terms
        self._number = number
        self._identity = identity
        self._kept = Secrets() if secrets is None else secrets

    def answer(self, phase: str, message: bytes, hand_in: HandIn) -> bytes:
        """Return the answer to a message of a phase; `hand_in` is called in the phase "masked" alone."""
        if phase == "keys":
            return self.keys()
        if phase == "masked":
            return self.masked(message, hand_in)
        later = {"shares": self.shares, "confirmed": self.confirmed, "opened": self.opened}
        if phase not in later:
            raise refusal("it is of no phase that is known")
        return later[phase](message)

    def keys(self) -> bytes:
        """Return fresh keys for this round, signed."""
        self._enter("keys")
        sealing, pairing = fresh(), fresh()
        both = public_half(sealing) + public_half(pairing)
        signature = self._identity.signed(KEYS, self._terms.digest, number_field(self._number), both)
        self._kept = Secrets("shares", sealing, pairing)
        return packed(number_field(self._number), both, signature)

    def shares(self, everybody: bytes) -> bytes:
        """Return shares of both secrets, sealed for each whose keys came, by number."""
        kept = self._enter("shares")
        known = read_keys(self._terms, unpacked(everybody))
        if known.get(self._number) != public_half(kept.sealing) + public_half(kept.pairing):
            raise refusal("a member's own keys are not among those handed round")
        if len(known) < self._terms.roster.threshold:
            raise refusal("fewer members than the threshold sent keys")
        own = fresh()
        pairs = shares(kept.pairing, known, self._terms.roster.threshold)
        selves = shares(own, known, self._terms.roster.threshold)
        kept = replace(kept, known=known)
        out = {
            other: sealed(
                self._sealing_key(kept, self._number, other),
                pairs[other] + selves[other],
                number_field(self._number) + number_field(other),
            )
            for other in known
            if other != self._number
        }
        mine = (pairs[self._number], selves[self._number])
        self._kept = replace(kept, phase="masked", own=own, kept=mine)
        return paired(out)

    def masked(self, inbox: bytes, hand_in: HandIn) -> bytes:
        """Return what is handed in under the self-mask and the masks with everybody whose shares came.

        Nothing is asked for before the message was found to be in order: to hand in is charged for.
        """
        kept = self._enter("masked")
        terms, sent = self._terms, read_paired(inbox)
        if not set(sent) <= set(kept.known) - {self._number}:
            raise refusal("it holds shares of somebody who sent no keys")
        if len(sent) + 1 < terms.roster.threshold:
            raise refusal("fewer members than the threshold sent shares")
        numbers = hand_in()
        if numbers.shape != (terms.length,) or numbers.dtype != np.int64:
            raise refusal("what a member hands in has another shape")
        total: Words = numbers.astype(terms.words) + mask(self_key(kept.own, terms), terms)
        for other in sent:
            total = plus_pair(total, kept.pairing, kept.known[other], self._number, other, terms)
        self._kept = replace(kept, phase="confirmed", inbox=sent)
        return total.astype(terms.wire, copy=False).tobytes()

    def confirmed(self, survivors: bytes) -> bytes:
        """Return a signature of the list of those whose numbers came."""
        kept = self._enter("confirmed")
        listed = read_numbers(survivors)
        if not {self._number} <= set(listed) <= {*kept.inbox, self._number}:
            raise refusal("the list of survivors names somebody who shared nothing, or leaves this member out")
        if len(listed) < self._terms.roster.threshold:
            raise refusal("fewer members than the threshold survived")
        signature = self._identity.signed(LIST, self._terms.digest, survivors)
        self._kept = replace(kept, phase="opened", survivors=tuple(listed))
        return signature

    def opened(self, signatures: bytes) -> bytes:
        """Return, for each who shared, the one share that the sum needs."""
        kept = self._enter("opened")
        terms, listed = self._terms, b"".join(map(number_field, kept.survivors))
        signed = read_paired(signatures)
        for number, signature in signed.items():
            known = number in kept.survivors
            if not known or not is_signed(terms.roster.identities[number], signature, LIST, terms.digest, listed):
                raise refusal("a member did not sign this list of survivors")
        if len(signed) < terms.roster.threshold:
            raise refusal("fewer members than the threshold signed the list of survivors")
        out = {self._number: SELF_SHARE + kept.kept[1]}
        for other, closed in kept.inbox.items():
            both = unsealed(
                self._sealing_key(kept, other, self._number), closed, number_field(other) + number_field(self._number)
            )
            if both is not None and len(both) == 2 * SHARE_BYTES:  # who sealed something else is not helped
                survived = other in kept.survivors
                out[other] = SELF_SHARE + both[SHARE_BYTES:] if survived else PAIR_SHARE + both[:SHARE_BYTES]
        return paired(out)

    def save(self) -> bytes:
        """Return what must be kept until the next message comes: secret."""
        return json.dumps(asdict(self._kept) | {"terms": self._terms.digest}, default=bytes.hex).encode()

    @classmethod
    def restore(cls, saved: bytes, terms: Terms, number: int, identity: Identity) -> Member:
        """Return the member as it was when it was saved; refuse to go on under other terms."""
        said: dict[str, Any] = json.loads(saved)
        if said["terms"] != terms.digest.hex():
            raise refusal("this member began the session under other terms")
        sealing, pairing, own = (bytes.fromhex(said[name]) for name in ("sealing", "pairing", "own"))
        known, inbox = (
            {int(place): bytes.fromhex(each) for place, each in said[name].items()} for name in ("known", "inbox")
        )
        first, second = map(bytes.fromhex, said["kept"])
        survivors = tuple(said["survivors"])
        secrets = Secrets(said["phase"], sealing, pairing, own, known, inbox, survivors, (first, second))
        return cls(terms, number, identity, secrets)

    def _enter(self, phase: str) -> Secrets:
        """Return what was kept, and forget it: it comes back when the phase ends well."""
        kept, self._kept = self._kept, Secrets(phase=OVER)
        if kept.phase != phase:
            raise refusal(
                f"this member is not waiting for what leads to {phase!r}: each phase is entered once, in order"
            )
        return kept

    def _sealing_key(self, kept: Secrets, sender: int, holder: int) -> bytes:
        other = holder if sender == self._number else sender
        way = number_field(sender) + number_field(holder)
        return agreed(kept.sealing, kept.known[other][:KEY_BYTES], _SEAL, self._terms.digest, way)


def read_keys(terms: Terms, messages: list[bytes]) -> dict[int, bytes]:
    """Return both public keys of each member by number; refuse those that the member itself did not sign."""
    found: dict[int, bytes] = {}
    for message in messages:
        number, both = one_key(terms, message)
        if number in found:
            raise refusal("it has keys of one member twice")
        found[number] = both
    return found


def one_key(terms: Terms, message: bytes) -> tuple[int, bytes]:
    """Return the number and both public keys that a member signed."""
    fields = unpacked(message)
    if len(fields) != 3 or len(fields[1]) != 2 * KEY_BYTES:
        raise refusal("keys have another form")
    number = read_number(fields[0])
    roster: Roster = terms.roster
    if number >= len(roster) or not is_signed(roster.identities[number], fields[2], KEYS, terms.digest, *fields[:2]):
        raise refusal("a member's keys are not signed by it for this round")
    if not is_sound(fields[1][:KEY_BYTES]) or not is_sound(fields[1][KEY_BYTES:]):  # its sender alone drops out
        raise refusal("a member's key is not one to agree on secrets with")
    return number, fields[1]


def self_key(own: bytes, terms: Terms) -> bytes:
    """Return the key of a member's self-mask."""
    return derived(own, _SELF, terms.digest)


def plus_pair(total: Words, pairing: bytes, keys: bytes, mine: int, other: int, terms: Terms) -> Words:
    """Return `total` with the mask of a pair, which the lower number adds and the higher takes away."""
    low, high = sorted((mine, other))
    key = agreed(pairing, keys[KEY_BYTES:], _PAIR, terms.digest, number_field(low), number_field(high))
    found = mask(key, terms)
    return total + found if mine == low else total - found
