"""The extendable output function XofTurboShake128, for many reports at once: draft-irtf-cfrg-vdaf-18, Section 6.2.

TurboSHAKE128 itself (RFC 9861) is pycryptodome's.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .field import Bytes, Elements, Field

SEED = 32
"""Bytes of a seed."""

_DOMAIN = 1


def expanded(tag: bytes, seeds: Bytes, binders: Bytes, size: int) -> Bytes:
    """Return `size` bytes for each row of seeds and binders; a single row stands for as many as the other has."""
    return _read(_messages(tag, seeds, binders), size)


def expanded_elements(field: Field, tag: bytes, seeds: Bytes, binders: Bytes, count: int) -> Elements:
    """Return `count` field elements for each row: those of the stream's numbers that are below the modulus, in order.

    A number is not below it with probability 2⁻³² (Field64) or 2⁻⁵⁹ (Field128), so all rows are read at once, and the
    rare one that has such a number is read again.
    """
    messages = _messages(tag, seeds, binders)
    elements, fits = field.decode(_read(messages, count * field.size))
    for row in np.flatnonzero(~fits):
        elements[row] = _below_modulus(field, _stream(messages[row].tobytes()), count)
    return elements


def column(data: bytes) -> Bytes:
    """Return bytes that all rows have in common."""
    return np.frombuffer(data, np.uint8).reshape(1, -1)


def side_by_side(*columns: Bytes) -> Bytes:
    """Return rows that are concatenated; a single row stands for as many as the others have."""
    rows = min((len(each) for each in columns if len(each) != 1), default=1)
    return np.concatenate([np.broadcast_to(each, (rows, each.shape[1])) for each in columns], axis=1)


def _messages(tag: bytes, seeds: Bytes, binders: Bytes) -> Bytes:
    """Return what TurboSHAKE128 is given: the tag with its length, the seed with its length, the binder."""
    head = len(tag).to_bytes(2, "little") + tag + SEED.to_bytes(1, "little")
    return side_by_side(column(head), seeds, binders)


def _read(messages: Bytes, size: int) -> Bytes:
    data, width = messages.tobytes(), messages.shape[1]
    outputs = [_stream(data[start : start + width]).read(size) for start in range(0, len(data), width)]
    return np.frombuffer(b"".join(outputs), np.uint8).reshape(len(outputs), size)


def _below_modulus(field: Field, stream: Any, count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        number = int.from_bytes(stream.read(field.size), "little")
        if number < field.modulus:
            found.append(number)
    return found


def _stream(message: bytes) -> Any:
    return _turboshake().new(domain=_DOMAIN, data=message)


@cache
def _turboshake() -> Any:
    try:
        from Crypto.Hash import TurboSHAKE128
    except ImportError as error:
        raise ArgumentError(
            "Prio3 needs TurboSHAKE128, which is not installed here; install pycryptodome "
            "(pip install 'sordino[collect]')",
            "SRD-C300",
        ) from error
    return TurboSHAKE128
