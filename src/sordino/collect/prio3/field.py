"""The two prime fields of Prio3, on whole arrays: draft-irtf-cfrg-vdaf-18, Section 6.1.

Elements are Python's ints from 0 to p − 1 in NumPy arrays of objects. Products and sums of many terms are taken without
reduction and reduced once; for the sizes of proofs that is as fast as limbs of machine words (which took half the time
on thousands of elements at once, and a hundred times as long on a few), and it is plain to read.

**Assumes**: nobody measures the time of a server's arithmetic. Python's ints do not take the same time for all values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Elements = NDArray[np.object_]
"""Field elements, as Python's ints in the range of the field."""
Bytes = NDArray[np.uint8]
"""Encoded messages, one in a row."""

_WORD = 8


@dataclass(frozen=True)
class Field:
    """The integers modulo `modulus`, whose group has a subgroup of `order` (a power of two) made by `generator`.

    `modulus` fills the `size` bytes of an encoded element up to the highest bit, so that no bit need be masked off
    before an element is drawn.
    """

    modulus: int
    size: int
    generator: int
    order: int

    def decode(self, encoded: Bytes) -> tuple[Elements, NDArray[np.bool_]]:
        """Return the elements of each row of bytes, and whether all of the row are below the modulus.

        Elements of a row that is not are zero.
        """
        count = encoded.shape[-1] // self.size
        words = np.ascontiguousarray(encoded).view("<u8").reshape(*encoded.shape[:-1], count, self.size // _WORD)
        elements = words[..., 0].astype(object)
        for place in range(1, words.shape[-1]):
            elements = elements + (words[..., place].astype(object) << (64 * place))
        fits = (elements < self.modulus).all(axis=-1).astype(bool)
        return np.where(fits[..., None], elements, 0), fits

    def encode(self, elements: Elements) -> Bytes:
        """Return each row of elements as bytes, little-endian."""
        places = [(elements >> (64 * place)) & (2**64 - 1) for place in range(self.size // _WORD)]
        words = np.stack([place.astype("<u8") for place in places], axis=-1)
        return words.reshape(*elements.shape[:-1], elements.shape[-1] * len(places)).view(np.uint8)

    def inverse(self, number: int) -> int:
        """Return 1/number."""
        return pow(number, -1, self.modulus)

    def powers_of_root(self, count: int) -> Elements:
        """Return 1, w, w², … w^(count − 1), where w is the principal `count`-th root of unity."""
        return _powers(self, count)

    def centred(self, elements: Elements) -> Elements:
        """Return the ints nearest to zero that the elements stand for: from −(p − 1)/2 to (p − 1)/2."""
        return np.where(elements > self.modulus // 2, elements - self.modulus, elements)


@cache
def _powers(field: Field, count: int) -> Elements:
    root = pow(field.generator, field.order // count, field.modulus)
    powers = np.array([pow(root, power, field.modulus) for power in range(count)], dtype=object)
    powers.flags.writeable = False
    return powers


def _field(size: int, two_adicity: int, cofactor: int) -> Field:
    modulus = 2**two_adicity * cofactor + 1
    return Field(modulus, size, pow(7, cofactor, modulus), 2**two_adicity)


FIELD64 = _field(8, 32, 4294967295)
"""Field64 of Section 6.1.4."""
FIELD128 = _field(16, 66, 4611686018427387897)
"""Field128 of Section 6.1.4."""
