"""Fully linear proofs that a measurement is valid, on many reports at once: draft-irtf-cfrg-vdaf-18, Section 7.3.

The client lays the inputs of every call of the gadget out as polynomials (`prove`); each server evaluates its shares
of them at one secret random point (`query`); the sum of what the servers find says whether the gadget was computed
rightly there, and so (but for a probability of about 2p/|field|) everywhere (`decide`).

**Source**: Boneh, Boyle, Corrigan-Gibbs, Gilboa, Ishai 2019, Theorem 4.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .circuit import Circuit
from .field import Elements
from .gadgets import product_length, wire_length
from .polynomial import completed, doubled, is_root_of_unity, weights


def prove_length(circuit: Circuit) -> int:
    """Return how many random elements a proof takes: the seed of each wire."""
    return circuit.gadget.arity


def query_length(circuit: Circuit) -> int:
    """Return how many random elements a query takes: one for each check, if there are several, and the point."""
    return 1 + (circuit.checks if circuit.checks > 1 else 0)


def proof_length(circuit: Circuit) -> int:
    """Return how many elements a proof has: the seeds of the wires, and the gadget's polynomial."""
    return circuit.gadget.arity + product_length(circuit.calls)


def verifier_length(circuit: Circuit) -> int:
    """Return how many elements a server finds: the circuit's output, each wire at the point, the gadget there."""
    return circuit.gadget.arity + 2


def prove(circuit: Circuit, encoded: Elements, seeds: Elements, joint: Elements) -> Elements:
    """Return a proof for each row of encoded measurements (Section 7.3.3)."""
    wires = _wire_values(circuit, circuit.wires(encoded, joint, 1), seeds)
    fine = doubled(circuit.field, np.swapaxes(wires, 1, 2))
    product = circuit.gadget.evaluate(np.swapaxes(fine, 1, 2)) % circuit.field.modulus
    return np.concatenate([seeds, product[:, : product_length(circuit.calls)]], axis=1)


def query(
    circuit: Circuit, encoded: Elements, proof: Elements, rand: Elements, joint: Elements, shares: int
) -> tuple[Elements, NDArray[np.bool_]]:
    """Return a verifier share for each row of shares, and whether its point may be used (Section 7.3.4).

    A point that is a root of unity would show a gadget's input or output; the report is then refused, with a
    probability of p/|field|.
    """
    field, calls = circuit.field, circuit.calls
    seeds, product = proof[:, : circuit.gadget.arity], completed(field, proof[:, circuit.gadget.arity :])
    wires = _wire_values(circuit, circuit.wires(encoded, joint, shares), seeds)
    length = wire_length(calls)
    # The wires' points are every second one of the product's.
    checked = circuit.checked(encoded, product[:, 2 : 2 * calls + 1 : 2], shares)
    output = (checked * rand[:, :-1]).sum(axis=1) % field.modulus if circuit.checks > 1 else checked[:, 0]
    point = rand[:, -1]
    at_point = (weights(field, point, length)[:, : calls + 1, None] * wires[:, : calls + 1]).sum(axis=1)
    product_at_point = (weights(field, point, 2 * length) * product).sum(axis=1)
    verifier = np.concatenate([output[:, None], at_point, product_at_point[:, None]], axis=1) % field.modulus
    return verifier, ~is_root_of_unity(field, point, length)


def decide(circuit: Circuit, verifier: Elements) -> NDArray[np.bool_]:
    """Return whether each row, the sum of all servers' verifier shares, is that of a valid proof (Section 7.3.5)."""
    product = circuit.gadget.evaluate(verifier[:, 1:-1])
    valid: Elements = (verifier[:, 0] == 0) & ((product - verifier[:, -1]) % circuit.field.modulus == 0)
    return valid.astype(bool)


def _wire_values(circuit: Circuit, inputs: Elements, seeds: Elements) -> Elements:
    """Return the wires' values by report, point and wire: the seed, the inputs of each call, then zeros."""
    found = np.zeros((len(inputs), wire_length(circuit.calls), circuit.gadget.arity), dtype=object)
    found[:, 0] = seeds
    found[:, 1 : circuit.calls + 1] = inputs
    return found
