"""Keys of those who take part in a collection, and HPKE: what is sealed for one of them nobody else can read.

A party (an analyser, a shuffler, one of two servers) has one X25519 key in a file that it alone can read. With it what
was sealed for it is opened; and two parties that know each other's public key have a secret in common (`between`), by
which they tell each other's messages from anybody else's.

**Guarantee**: `seal` is RFC 9180 in base mode (DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM), single shot, with
what the message is about as its info: sealed for another survey, or another use, it does not open. A sealed message is
`OVERHEAD` bytes longer than what it holds, whatever that is. `between` is the same for both parties, and for nobody
who has neither key, and different for each use.
**Assumes**: whoever seals got the public key from those whom it belongs to.
**Source**: Barnes, Bhargavan, Lipp, Wood 2022 (RFC 9180); Krawczyk, Eronen 2010 (RFC 5869).
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sordino.errors import ArgumentError
from sordino.ledger.keys import sync_directory
from sordino.noise.keystream import SOURCE

KEY = 32
"""Bytes of a public key, of a private one, and of what two parties have in common."""
OVERHEAD = KEY + 16
_TEXT = 43
_NO_KEY = "SRD-C716"
_NOT_OPENED = "SRD-C717"


def public_key(text: Any) -> bytes:
    """Return the bytes of a public key that is spelled as base64url without padding; refuse what is none."""
    found = b""
    if isinstance(text, str) and len(text) == _TEXT and text.isascii():
        with suppress(ValueError):
            found = urlsafe_b64decode(text + "=")
    if len(found) != KEY or spelled(found) != text:
        raise ArgumentError(
            "a public key is 43 letters, digits, dashes and underscores; take what `sordino survey key` prints, or "
            "`sordino shuffle` as it starts",
            _NO_KEY,
        )
    return found


def spelled(public: bytes) -> str:
    """Return the text of a public key."""
    return urlsafe_b64encode(public).rstrip(b"=").decode()


def seal(public: bytes, about: bytes, message: bytes) -> bytes:
    """Return a message sealed for whoever has the key's other half; `about` is what both sides know of it."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    sealed: bytes = _suite().encrypt(message, X25519PublicKey.from_public_bytes(public), about)
    return sealed


@dataclass(frozen=True)
class PartyKey:
    """The key of one party. It is shown in no repr, and written nowhere but to its own file."""

    _private: bytes = field(repr=False)

    @classmethod
    def fresh(cls) -> PartyKey:
        """Return a new key."""
        return cls(SOURCE.words(KEY // 8).astype("<u8").tobytes())

    @classmethod
    def at(cls, path: Path) -> PartyKey:
        """Return the key in a file, which is made, for its owner alone, if there is none."""
        try:
            found = path.read_bytes()
        except FileNotFoundError:
            return cls._made(path)
        if len(found) != KEY:
            raise ArgumentError(
                "the file of this party's key is damaged, or another file; restore it from a copy: what was sealed for "
                "the key cannot be opened by a new one",
                _NO_KEY,
            )
        return cls(found)

    @classmethod
    def _made(cls, path: Path) -> PartyKey:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        key, scratch = cls.fresh(), path.with_name(f".{path.name}.{SOURCE.word():016x}")
        with os.fdopen(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(key._private)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(scratch, path)  # never in the place of one that another process made meanwhile
        except FileExistsError:
            return cls(path.read_bytes())
        finally:
            scratch.unlink()
        sync_directory(path.parent)
        return key

    @cached_property
    def public(self) -> bytes:
        """What others seal for."""
        return bytes(self._key.public_key().public_bytes_raw())

    @property
    def text(self) -> str:
        """The public key, as surveys name it."""
        return spelled(self.public)

    def opened(self, about: bytes, sealed: bytes) -> bytes | None:
        """Return what was sealed for this key about this, None for anything else."""
        from cryptography.exceptions import InvalidTag

        try:
            found: bytes = _suite().decrypt(sealed, self._key, about)
        except (InvalidTag, ValueError):
            return None
        return found

    def between(self, other: bytes, use: bytes) -> bytes:
        """Return the secret that this party and the one with another public key have in common for a use."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        try:
            shared = self._key.exchange(X25519PublicKey.from_public_bytes(other))
        except ValueError:
            raise ArgumentError(
                "the other party's public key is none that anybody can have; ask again for it", _NO_KEY
            ) from None
        both = b"".join(sorted((self.public, other)))
        return HKDF(SHA256(), KEY, both, b"sordino between " + use).derive(shared)

    @cached_property
    def _key(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return X25519PrivateKey.from_private_bytes(self._private)


def not_opened() -> ArgumentError:
    """Return the error for what was sealed for another key, another survey, or not at all."""
    return ArgumentError(
        "this was not sealed for this party and this survey; take its key from the survey, and send it again",
        _NOT_OPENED,
    )


def _suite() -> Any:
    try:
        from cryptography.hazmat.primitives import hpke
    except ImportError as error:
        raise ArgumentError(
            "sealing needs HPKE, which cryptography has from 47 on; pip install 'sordino[collect]'", "SRD-C300"
        ) from error
    return hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
