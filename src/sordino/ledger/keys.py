"""Keys that sign: Ed25519, under a name, written as the notes of C2SP write them.

A verifying key is the text ``name+id+base64``, where the id is the first four bytes of SHA-256(name ‖ newline ‖ 0x01 ‖
public key) in hexadecimal. A signing key is a file that its owner alone can read, with the text
``PRIVATE+KEY+name+id+base64`` of the Go project's signers.

**Guarantee.** A key's text has one spelling, and its id matches its name and bytes. A signing key is never shown,
copied or written anywhere but to the file asked for; that file appears whole or not at all, and never replaces another.
A public key under which others than its holder could sign is refused (``curve.py``).
**Assumes.** Whoever can read the key file or this process can sign. The file system has hard links.
**Source.** C2SP, *signed-note* v1.0.0, Verifier keys; S. Josefsson, I. Liusvaara, RFC 8032 (2017).
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from sordino import noise
from sordino.errors import ArgumentError, LedgerError

from .canonical import from_base64, to_base64
from .curve import is_strong

_ED25519 = b"\x01"
_KEY_BYTES = 32
_LARGEST_FILE = 4096
_NAME = re.compile(r"[^\s+\x00-\x1f\ud800-\udfff]+")
_PRIVATE = "PRIVATE+KEY+"


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """The public half of a key: tells whether a signature is from the holder of the other half."""

    name: str
    public: bytes
    id: bytes = field(init=False)
    """Four bytes that tell keys of one name apart; not a proof of anything."""

    def __post_init__(self) -> None:
        if not is_key_name(self.name):
            raise ArgumentError(
                f"the name of a key must have no spaces, no '+' and no control characters, unlike {self.name!r:.80}; "
                "write it like example.org/ledger",
                "SRD-A001",
            )
        if not isinstance(self.public, bytes) or len(self.public) != _KEY_BYTES:
            raise ArgumentError(f"a public key of Ed25519 has {_KEY_BYTES} bytes", "SRD-A001")
        if not is_strong(self.public):
            raise LedgerError(
                f"the bytes of the key {self.name:.80} are no key that proves anything: they are no point of Ed25519 "
                "of full order, and under such a one anybody could sign; whoever gave it made it up",
                "SRD-L003",
            )
        named = self.name.encode() + b"\n" + _ED25519 + self.public
        object.__setattr__(self, "id", hashlib.sha256(named).digest()[:4])

    @property
    def text(self) -> str:
        """The key as one line: ``name+id+base64``."""
        return f"{self.name}+{self.id.hex()}+{to_base64(_ED25519 + self.public)}"

    @staticmethod
    def parse(text: str) -> VerifyingKey:
        """Return the key that `text` spells, or raise `LedgerError`."""
        name, public = _name_and_bytes(text, "verifying")
        key = VerifyingKey(name, public)
        if key.text != text:
            raise LedgerError(f"this is not a verifying key: its id is not that of {name} and its bytes", "SRD-L003")
        return key

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Return whether `signature` is this key's on `message`."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except InvalidSignature:
            return False
        return True


class SigningKey:
    """The private half of a key: whoever holds it signs for the ledger."""

    __slots__ = ("_private", "verifier")

    def __init__(self, name: str, seed: bytes) -> None:
        if not isinstance(seed, bytes) or len(seed) != _KEY_BYTES:
            raise ArgumentError(f"the seed of a key must be {_KEY_BYTES} bytes that nobody knows", "SRD-A001")
        self._private = Ed25519PrivateKey.from_private_bytes(seed)
        self.verifier = VerifyingKey(name, self._private.public_key().public_bytes_raw())

    @staticmethod
    def generate(name: str) -> SigningKey:
        """Return a new key."""
        return SigningKey(name, bytes(noise.uniform(256, _KEY_BYTES).tolist()))

    @property
    def name(self) -> str:
        """Who signs."""
        return self.verifier.name

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message`, 64 bytes, always the same for the same message."""
        return self._private.sign(message)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key to a new file that its owner alone can read; refuse to replace one that exists."""
        place = Path(path)
        try:
            write_new(place, f"{self._text()}\n")
        except FileExistsError:
            raise LedgerError(
                f"{place} exists, and a key that is replaced is lost; load it, or save under another name", "SRD-L004"
            ) from None
        except OSError as error:
            raise LedgerError(f"the key cannot be written to {place} ({error.strerror})", "SRD-L004") from None

    @staticmethod
    def load(path: str | os.PathLike[str]) -> SigningKey:
        """Return the key in a file, or raise `LedgerError` if others than its owner can read or change the file."""
        try:
            with open(path, "rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                content = file.read(_LARGEST_FILE)
        except OSError as error:
            raise LedgerError(f"the key cannot be read from {os.fspath(path)} ({error.strerror})", "SRD-L004") from None
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise LedgerError(
                f"{os.fspath(path)} is open to others than its owner (mode {stat.S_IMODE(mode):o}), who may have "
                "copied the key; find out who could, then chmod 600 it or make a new key",
                "SRD-L004",
            )
        key = _parsed(content)
        if key is None:
            raise LedgerError(f"{os.fspath(path)} does not hold a signing key, or only a part of one", "SRD-L004")
        return key

    def _text(self) -> str:
        verifier = self.verifier
        secret = to_base64(_ED25519 + self._private.private_bytes_raw())
        return f"{_PRIVATE}{verifier.name}+{verifier.id.hex()}+{secret}"

    def __repr__(self) -> str:
        return f"SigningKey({self.verifier.name}+{self.verifier.id.hex()})"

    def __reduce__(self) -> str:
        raise LedgerError("a signing key cannot be copied or sent elsewhere; load it from its file", "SRD-L004")


def is_key_name(name: str) -> bool:
    """Return whether C2SP admits `name`: not empty, no white space of any script, no plus, no control characters."""
    return _NAME.fullmatch(name) is not None


def _name_and_bytes(text: str, kind: str) -> tuple[str, bytes]:
    """Return the name and the key bytes in ``name+id+base64``; the caller checks the id."""
    name, _, rest = text.partition("+")
    try:
        content = from_base64(rest.partition("+")[2])
    except LedgerError:
        content = b""
    if not is_key_name(name) or len(content) != 1 + _KEY_BYTES or content[:1] != _ED25519:
        raise LedgerError(
            f"this is not a {kind} key of Ed25519: it must read name+id+base64, with nothing before or after it",
            "SRD-L003",
        )
    return name, content[1:]


def _parsed(content: bytes) -> SigningKey | None:
    """Return the signing key in a file's content, or None; what the file holds goes into no message."""
    try:
        text = content.decode().removesuffix("\n")
        key = SigningKey(*_name_and_bytes(text.removeprefix(_PRIVATE), "signing"))
    except (UnicodeDecodeError, LedgerError):
        return None
    return key if key._text() == text else None


def write_new(place: Path, text: str) -> None:
    """Write a file that its owner alone can read: whole, lasting through a loss of power, and never over another."""
    handle, scratch = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")  # with mode 600 from the start
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(scratch, place)  # unlike a rename, fails where something is
    finally:
        os.unlink(scratch)
    sync_directory(place.parent)


def sync_directory(directory: Path) -> None:
    """Have the names in a directory on disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
