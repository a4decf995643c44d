"""Masks: a keystream as numbers modulo 2^bits, added to what a member hands in.

**Guarantee**: under a key that nobody else knows, a masked vector is uniform and says nothing about what is under it
(ChaCha20 as a pseudo-random function; 2^bits values of `bits` bits each, so no value is likelier than another).
**Assumes**: a key is used for one mask. Keys are derived for one round and one pair.
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from .roster import Terms, Words

_NONCE = bytes(16)


def mask(key: bytes, terms: Terms) -> Words:
    """Return the mask of a key."""
    count = terms.length * terms.bits // 8
    stream = Cipher(algorithms.ChaCha20(key, _NONCE), mode=None).encryptor().update(bytes(count))
    return np.frombuffer(stream, dtype=terms.wire).astype(terms.words, copy=False)
