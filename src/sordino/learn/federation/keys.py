"""Keys of a member: who it is for good (Ed25519), and what two members agree on for one round (X25519, HKDF).

**Guarantee**: what two members agree on depends on both keys, the round and the purpose; a key for one purpose says
nothing about one for another (HKDF with distinct labels, under the decisional Diffie–Hellman assumption).
**Source**: RFC 7748 (X25519), RFC 5869 (HKDF), RFC 8032 (Ed25519), RFC 8439 (ChaCha20-Poly1305).
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sordino.errors import ArgumentError
from sordino.noise.keystream import SOURCE

from .packing import packed, refusal

KEY_BYTES = 32
_NONCE = bytes(12)  # each key of a pair, a direction and a round encrypts one message


def fresh() -> bytes:
    """Return 32 bytes that nobody knows."""
    return SOURCE.words(KEY_BYTES // 8).tobytes()


class Identity:
    """Who a member is: it signs, and all others know its `public` half. `secret` is kept by the member alone."""

    def __init__(self, secret: bytes | None = None) -> None:
        if secret is not None and (not isinstance(secret, bytes) or len(secret) != KEY_BYTES):
            raise ArgumentError(
                f"the secret of an identity must be {KEY_BYTES} bytes; leave it out to draw one", "SRD-A001"
            )
        self.secret = fresh() if secret is None else secret
        self._key = Ed25519PrivateKey.from_private_bytes(self.secret)
        self.public = self._key.public_key().public_bytes_raw()

    def signed(self, purpose: bytes, *fields: bytes) -> bytes:
        """Return a signature of fields for one purpose."""
        return self._key.sign(packed(purpose, *fields))

    def __repr__(self) -> str:
        return f"Identity({self.public.hex()[:16]}…)"


def is_signed(public: bytes, signature: bytes, purpose: bytes, *fields: bytes) -> bool:
    """Return whether the owner of an identity signed these fields for this purpose."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, packed(purpose, *fields))
    except (InvalidSignature, ValueError):
        return False
    return True


def public_half(secret: bytes) -> bytes:
    """Return the public half of a key for agreeing."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def is_sound(public: bytes) -> bool:
    """Return whether secrets can be agreed on with a key; not with a point of small order, whoever the other is."""
    try:
        X25519PrivateKey.from_private_bytes(bytes(KEY_BYTES)).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return False
    return True


def agreed(secret: bytes, public: bytes, purpose: bytes, *context: bytes) -> bytes:
    """Return what the owners of two keys agree on for a purpose; refuse a key with which everybody would agree."""
    try:
        shared = X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise refusal("a member's key is not one to agree on secrets with") from None
    return derived(shared, purpose, *context)


def derived(secret: bytes, purpose: bytes, *context: bytes) -> bytes:
    """Return a key for one purpose from a secret."""
    return HKDF(hashes.SHA256(), KEY_BYTES, None, packed(purpose, *context)).derive(secret)


def sealed(key: bytes, text: bytes, context: bytes) -> bytes:
    """Return `text` encrypted and bound to its context. A key seals once."""
    return ChaCha20Poly1305(key).encrypt(_NONCE, text, context)


def unsealed(key: bytes, sealed_text: bytes, context: bytes) -> bytes | None:
    """Return what was sealed, None if it was not by this key in this context."""
    try:
        return ChaCha20Poly1305(key).decrypt(_NONCE, sealed_text, context)
    except InvalidTag:
        return None
