"""Fields, streams and polynomials against plain arithmetic in ints."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from Crypto.Hash import TurboSHAKE128

from sordino.collect.prio3 import Histogram, Sum, xof
from sordino.collect.prio3.field import FIELD64, FIELD128, Elements, Field
from sordino.collect.prio3.polynomial import coefficients, completed, doubled, is_root_of_unity, values, weights
from sordino.collect.prio3.proof import decide, proof_length, prove, query, query_length
from sordino.errors import ArgumentError

FIELDS = [FIELD64, FIELD128]


def elements(field: Field, *shape: int) -> Elements:
    """Return numbers all over the field, the same in every run."""
    count = int(np.prod(shape))
    found = np.array([pow(3, 7 + 911 * i, field.modulus) for i in range(count)], dtype=object)
    found[:3] = [0, 1, field.modulus - 1][:count]
    return found.reshape(shape)


def at(field: Field, polynomial: Elements, point: int) -> int:
    return int(sum(int(c) * pow(point, i, field.modulus) for i, c in enumerate(polynomial)) % field.modulus)


@pytest.mark.parametrize("field", FIELDS)
def test_fields_are_what_the_draft_says(field: Field) -> None:
    assert pow(3, field.modulus - 1, field.modulus) == pow(5, field.modulus - 1, field.modulus) == 1
    assert pow(field.generator, field.order, field.modulus) == 1
    assert pow(field.generator, field.order // 2, field.modulus) == field.modulus - 1
    assert field.modulus >> (8 * field.size - 1) == 1


@pytest.mark.parametrize("field", FIELDS)
def test_encoding_is_little_endian_and_exact(field: Field) -> None:
    given = elements(field, 2, 9)
    encoded = field.encode(given)
    assert encoded[0].tobytes() == b"".join(int(each).to_bytes(field.size, "little") for each in given[0])
    found, fits = field.decode(encoded)
    assert fits.all()
    assert (found == given).all()


@pytest.mark.parametrize("field", FIELDS)
def test_numbers_beyond_the_field_are_seen(field: Field) -> None:
    edges = [field.modulus - 1, field.modulus, 2 ** (8 * field.size) - 1]
    rows = np.array([list(edge.to_bytes(field.size, "little")) for edge in edges], dtype=np.uint8)
    found, fits = field.decode(rows)
    assert fits.tolist() == [True, False, False]
    assert found[:, 0].tolist() == [field.modulus - 1, 0, 0]


@pytest.mark.parametrize("field", FIELDS)
def test_the_centred_lift(field: Field) -> None:
    given = [0, 1, field.modulus - 1, field.modulus // 2, field.modulus // 2 + 1]
    lifted = field.centred(np.array(given, dtype=object)).tolist()
    assert lifted == [0, 1, -1, field.modulus // 2, -(field.modulus // 2)]


@pytest.mark.parametrize("count", [1, 2, 8, 32])
@pytest.mark.parametrize("field", FIELDS)
def test_transforms_against_horner(field: Field, count: int) -> None:
    polynomials = elements(field, 2, count)
    root = pow(field.generator, field.order // count, field.modulus)
    found = values(field, polynomials)
    for polynomial, row in zip(polynomials, found, strict=True):
        assert row.tolist() == [at(field, polynomial, pow(root, i, field.modulus)) for i in range(count)]
    assert (coefficients(field, found) == polynomials).all()


@pytest.mark.parametrize("field", FIELDS)
def test_values_elsewhere_against_horner(field: Field) -> None:
    polynomials = elements(field, 3, 8)
    found, points = values(field, polynomials), elements(field, 3)
    points[:] = [field.powers_of_root(8)[3], 1, 5]
    factors = weights(field, points, 8)
    for row in range(3):
        expected = at(field, polynomials[row], int(points[row]))
        assert int((factors[row] * found[row]).sum() % field.modulus) == expected
    assert is_root_of_unity(field, points, 8).tolist() == [True, True, False]
    fine = doubled(field, found)
    root = int(field.powers_of_root(16)[1])
    assert fine[1].tolist() == [at(field, polynomials[1], pow(root, i, field.modulus)) for i in range(16)]


@pytest.mark.parametrize("field", FIELDS)
def test_the_last_value_follows_from_the_degree(field: Field) -> None:
    polynomials = elements(field, 2, 8)
    polynomials[:, -1] = 0
    found = values(field, polynomials)
    assert (completed(field, found[:, :-1]) == found).all()


def test_numbers_beyond_the_modulus_are_skipped_in_the_stream() -> None:
    """With a modulus that half of all numbers exceed, every row is read again, as almost never with the real ones."""
    prime = 2**63 + 29
    field = Field(prime, 8, 1, 1)
    seeds = np.arange(3 * 32, dtype=np.uint8).reshape(3, 32)
    found = xof.expanded_elements(field, b"tag", seeds, xof.column(b"binder"), 5)
    for seed, row in zip(seeds, found, strict=True):
        stream = TurboSHAKE128.new(domain=1, data=b"\x03\x00tag\x20" + seed.tobytes() + b"binder")
        numbers = (int.from_bytes(stream.read(8), "little") for _ in range(100))
        assert row.tolist() == [number for number in numbers if number < prime][:5]


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("Crypto"):
            raise ImportError(name)
        return load(name, *rest)

    xof._turboshake.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ArgumentError, match="pycryptodome") as error:
        xof.expanded(b"", xof.column(bytes(32)), xof.column(b""), 1)
    assert error.value.code == "SRD-C300"


@pytest.mark.parametrize("length", [1, 2, 3, 20, 100, 1000, 2**20])
def test_the_shortest_proof_is_chosen(length: int) -> None:
    chosen = Histogram.of(length)
    tried = range(1, length + 1) if length <= 1000 else range(1, 5000)
    assert proof_length(chosen) == min(proof_length(Histogram(length, chunk)) for chunk in tried)


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 8, 100])
def test_sums_encode_every_number_and_no_other(most: int) -> None:
    circuit = Sum(most)
    encoded = circuit.encode(np.arange(most + 1))
    assert circuit.truncate(encoded)[:, 0].tolist() == list(range(most + 1))
    everything = np.array(np.meshgrid(*[[0, 1]] * circuit.calls)).reshape(circuit.calls, -1).T.astype(object)
    assert set(circuit.truncate(everything)[:, 0]) == set(range(most + 1))


def test_a_point_that_is_a_root_of_unity_is_not_used() -> None:
    circuit = Sum(100)
    encoded = circuit.encode(np.array([42, 42]))
    nothing = np.zeros((2, 0), dtype=object)
    proof = prove(circuit, encoded, elements(circuit.field, 2, 1), nothing)
    rand = elements(circuit.field, 2, query_length(circuit))
    rand[0, -1] = circuit.field.powers_of_root(8)[5]
    verifier, usable = query(circuit, encoded, proof, rand, nothing, 1)
    assert usable.tolist() == [False, True]
    assert decide(circuit, verifier).all()
