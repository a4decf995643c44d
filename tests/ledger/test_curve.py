"""Weak public keys: every point of small order is refused, in every spelling, and every honest key is taken."""

from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sordino.errors import LedgerError
from sordino.ledger.canonical import to_base64
from sordino.ledger.curve import _added, _decoded, is_strong
from sordino.ledger.keys import SigningKey, VerifyingKey

P = 2**255 - 19
IDENTITY = (1).to_bytes(32, "little")

ORDER_8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
# Y coordinates of the eight points of small order (C. Decker and others; the table in libsodium), and second spellings.
SMALL = [
    0,
    1,
    ORDER_8,
    P - ORDER_8,
    P - 1,
    P,
    P + 1,
]


def spelled(y: int, sign: int) -> bytes:
    return (y | sign << 255).to_bytes(32, "little")


@pytest.mark.parametrize("y", SMALL)
@pytest.mark.parametrize("sign", [0, 1])
def test_points_of_small_order_are_no_keys(y: int, sign: int) -> None:
    public = spelled(y, sign)
    assert not is_strong(public)
    with pytest.raises(LedgerError, match="SRD-L003"):
        VerifyingKey("example.org/ledger", public)


def test_the_table_of_small_points_is_right() -> None:
    for y in SMALL[:5]:
        point = _decoded(spelled(y, 0))
        assert point is not None
        for _ in range(3):
            point = _added(point, point)
        assert point[0] % P == 0
        assert (point[1] - point[2]) % P == 0


def test_under_the_identity_anybody_signs_anything() -> None:
    """Why: the library takes one signature, made without any secret, for every message."""
    forged = IDENTITY + bytes(32)
    for message in (b"one", b"another"):
        Ed25519PublicKey.from_public_bytes(IDENTITY).verify(forged, message)
    name = "example.org/ledger"
    identifier = hashlib.sha256(name.encode() + b"\n\x01" + IDENTITY).hexdigest()[:8]
    with pytest.raises(LedgerError, match="anybody could sign"):
        VerifyingKey.parse(f"{name}+{identifier}+{to_base64(bytes([1]) + IDENTITY)}")


def test_points_with_a_part_of_small_order_are_no_keys() -> None:
    for number in range(20):
        seed = hashlib.sha256(f"key {number}".encode()).digest()
        public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
        assert is_strong(public)
        assert SigningKey("example.org/ledger", seed).verifier.public == public
        point, small = _decoded(public), _decoded(spelled(P - 1, 0))
        assert point is not None
        assert small is not None
        x, y, z, _ = _added(point, small)
        y, x = y * pow(z, -1, P) % P, x * pow(z, -1, P) % P
        assert not is_strong(spelled(y, x & 1))


def test_numbers_that_are_no_point_are_no_keys() -> None:
    refused = [number for number in range(2, 40) if _decoded(spelled(number, 0)) is None]
    assert refused
    assert not any(is_strong(spelled(number, 0)) for number in refused)
    assert not is_strong(b"short")
