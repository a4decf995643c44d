"""All that Prio3 derives from seeds, each under a tag of its own: draft-irtf-cfrg-vdaf-18, Sections 6.2.3 and 7.2.6.

A tag names the version of the draft, the kind of algorithm, the variant, the use and the application's context, so that
no two uses ever share a stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from .circuit import Circuit
from .field import Bytes, Elements
from .proof import proof_length, prove_length, query_length
from .xof import SEED, column, expanded, expanded_elements, side_by_side

_VERSION = 18
_VDAF = 0
_PROOFS = b"\x01"
"""All our variants have one proof."""

_MEASUREMENT_SHARE = 1
_PROOF_SHARE = 2
_JOINT_RANDOMNESS = 3
_PROVE_RANDOMNESS = 4
_QUERY_RANDOMNESS = 5
_JOINT_SEED = 6
_JOINT_PART = 7


@dataclass(frozen=True)
class Derivations:
    """What is derived for one circuit in one context; arrays have one row for each report."""

    circuit: Circuit
    context: bytes

    def _tag(self, use: int) -> bytes:
        head = bytes([_VERSION, _VDAF])
        return head + self.circuit.algorithm.to_bytes(4, "big") + use.to_bytes(2, "big") + self.context

    def _elements(self, use: int, seeds: Bytes, binders: Bytes, count: int) -> Elements:
        return expanded_elements(self.circuit.field, self._tag(use), seeds, binders, count)

    def measurement_share(self, server: int, seeds: Bytes) -> Elements:
        """Return the share of the encoded measurement of a server that got a seed."""
        return self._elements(_MEASUREMENT_SHARE, seeds, column(bytes([server])), self.circuit.measurement_length)

    def proof_share(self, server: int, seeds: Bytes) -> Elements:
        """Return the share of the proof of a server that got a seed."""
        binder = column(_PROOFS + bytes([server]))
        return self._elements(_PROOF_SHARE, seeds, binder, proof_length(self.circuit))

    def prove_randomness(self, seeds: Bytes) -> Elements:
        """Return what the client's proof takes."""
        return self._elements(_PROVE_RANDOMNESS, seeds, column(_PROOFS), prove_length(self.circuit))

    def query_randomness(self, key: bytes, nonces: Bytes) -> Elements:
        """Return what the servers' query takes: secret from clients, for they do not know the key."""
        binders = side_by_side(column(_PROOFS), nonces)
        return self._elements(_QUERY_RANDOMNESS, column(key), binders, query_length(self.circuit))

    def joint_part(self, server: int, blinds: Bytes, shares: Elements, nonces: Bytes) -> Bytes:
        """Return a server's part of the joint randomness, which commits the client to that server's share."""
        binders = side_by_side(column(bytes([server])), nonces, self.circuit.field.encode(shares))
        return expanded(self._tag(_JOINT_PART), blinds, binders, SEED)

    def joint_seed(self, parts: Bytes) -> Bytes:
        """Return the seed of the joint randomness from the parts of all servers, one behind the other."""
        return expanded(self._tag(_JOINT_SEED), column(bytes(SEED)), parts, SEED)

    def joint_randomness(self, seeds: Bytes) -> Elements:
        """Return what the circuit takes, which neither client nor servers could choose."""
        return self._elements(_JOINT_RANDOMNESS, seeds, column(_PROOFS), self.circuit.joint_length)
