"""Where every random bit of the house comes from: an AES-256-CTR keystream under keys from the operating system.

**Guarantee.** Each thread of each process owns a stream of its own, keyed by ``os.urandom``. A child of ``fork`` (seen
by a hook and, should something fork behind Python's back, by the process number) and a spawned process start afresh,
so no two of them repeat a word. A request takes the next key from the front of the stream before it hands out the
rest, and forgets the old key; words are forgotten as they are handed out. So whoever steals the state learns nothing
of the past. Fresh entropy is mixed into the key every `_REFILLS_PER_MIX` requests, so a stolen state does not reveal
the far future. A signal handler that draws in the middle of a draw finds no key and takes a new one from the operating
system.

**Assumes.** ``os.urandom`` is sound, and in the middle of a draw neither is the machine restored from a snapshot nor
does a signal handler of the drawing thread fork: both halves of a draw cut in two would finish with the same words. The
interpreter's memory is trusted: a released Python object may linger there until its place is used again.

**Source.** D. J. Bernstein, *Fast-key-erasure random-number generators* (2017); NIST SP 800-38A for CTR mode.

No signature takes a seed. What draws takes a `BitSource` so that tests can replay the same bits; only `SOURCE` is
public.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_KEY_BYTES = 32
_SHELF_WORDS = 1024  # words kept ready for scalar draws
_LARGEST_SHELF_REQUEST = 128  # arrays up to this size come from the shelf; larger ones get a keystream of their own
_REFILLS_PER_MIX = 256
_STEP_BYTES = 1 << 18  # the zeros that are encrypted stay in the processor's cache
_ZEROS = bytes(_STEP_BYTES)
_COUNTER_ZERO = bytes(16)  # each key encrypts one stream only, so the counter may always start at zero

_generation = 0  # counts the forks that led to this process


def _count_fork() -> None:
    global _generation
    _generation += 1


os.register_at_fork(after_in_child=_count_fork)


class BitSource(Protocol):
    """What the samplers ask of a source of bits: independent uniform 64-bit words."""

    def word(self) -> int:
        """Return one uniform 64-bit word."""
        ...

    def words(self, count: int) -> Words:
        """Return `count` uniform 64-bit words as a new array, which the caller may overwrite."""
        ...


class Keystream:
    """One thread's stream of words; see the module for what it promises. Not to be shared between threads."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        """Forget everything and start from the operating system's entropy."""
        self._process = os.getpid()
        self._generation = _generation
        self._refills = 0
        # Lists, because pop() is one indivisible step: two draws can never hold the same key or the same word.
        self._keys: list[bytes] = []
        self._shelf: list[int] = []

    def word(self) -> int:
        """Return one uniform 64-bit word."""
        if self._process != os.getpid() or self._generation != _generation:
            self._begin()
        while True:
            try:
                return self._shelf.pop()
            except IndexError:
                self._shelf.extend(self._stream(_SHELF_WORDS).tolist())

    def words(self, count: int) -> Words:
        """Return `count` uniform 64-bit words as a new array."""
        if self._process != os.getpid() or self._generation != _generation:
            self._begin()
        if count <= _LARGEST_SHELF_REQUEST:
            return np.array([self.word() for _ in range(count)], dtype=np.uint64)
        return self._stream(count)

    def _stream(self, count: int) -> Words:
        """Replace the key, then return `count` words of the old key's stream that follow the new key."""
        try:
            key = self._keys.pop()
        except IndexError:
            key = os.urandom(_KEY_BYTES)
        self._refills += 1
        if self._refills % _REFILLS_PER_MIX == 0:
            key = hashlib.sha256(key + os.urandom(_KEY_BYTES)).digest()
        encryptor = Cipher(algorithms.AES(key), modes.CTR(_COUNTER_ZERO)).encryptor()
        self._keys[:] = [encryptor.update(_ZEROS[:_KEY_BYTES])]
        words = np.empty(count, dtype=np.uint64)
        view = words.data.cast("B")
        for start in range(0, len(view), _STEP_BYTES):
            size = min(_STEP_BYTES, len(view) - start)
            zeros = _ZEROS if size == _STEP_BYTES else _ZEROS[:size]
            encryptor.update_into(zeros, view[start : start + size])
        return words


class _PerThread(threading.local):
    """The keystream of the thread that asks."""

    def __init__(self) -> None:
        self.stream = Keystream()

    def word(self) -> int:
        return self.stream.word()

    def words(self, count: int) -> Words:
        return self.stream.words(count)


SOURCE: BitSource = _PerThread()
"""The house's one source of bits; each thread that draws from it has a stream of its own."""


def bits(source: BitSource, count: int) -> int:
    """Return `count` uniform bits as an integer in [0, 2**count)."""
    value = 0
    for _ in range(-(-count // 64)):
        value = value << 64 | source.word()
    return value >> (-count % 64)
