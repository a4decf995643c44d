"""Which cell is whose. A unit has one cell, the same for all its updates; ids are read here, and kept nowhere.

**Assumes**: one unit, one id. Texts that Unicode calls equal are one id (they are normalised, form C), and of a text
the first 128 characters count; ``"7"`` and ``" 7"`` are two units, and a unit with two ids has two cells, hence twice
the loss.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.arguments import array, numbers
from sordino.errors import ArgumentError

Places = NDArray[np.int64]

NUMBERS, TEXTS = "numbers", "texts"
_LONGEST = 128
_CHUNK = 2**15
_ASCII = 127


def numbered(ids: Any, cells: int) -> tuple[Places, NDArray[np.bool_]]:
    """Return the cell of each id, a number below `cells`, and which ids are one; others have no cell."""
    found = _whole(ids)
    known = (found >= 0) & (found < cells)
    return found[known].astype(np.int64), known


def hashed(ids: Any, kind: str, key: int, cells: int) -> tuple[Places, NDArray[np.bool_]]:
    """Return a cell for each id, by a hash under `key` that mixes all its bits; every id has one."""
    words = _mixed(_whole(ids).astype(np.uint64), key) if kind == NUMBERS else _texts(ids, key)
    return (words % np.uint64(cells)).astype(np.int64), np.ones(words.size, dtype=np.bool_)


def _whole(ids: Any) -> NDArray[Any]:
    found = numbers("units", ids, "iu")
    if found.ndim != 1:
        raise _refusal("a list of whole numbers")
    return found


def _texts(ids: Any, key: int) -> NDArray[np.uint64]:
    # A list stays one of objects, for an array of texts is as wide as its longest, whatever that is.
    given = array("units", ids) if isinstance(ids, np.ndarray) else np.asarray(ids, dtype=object)
    if given.ndim != 1 or given.dtype.kind not in "UTO" or (given.dtype.kind == "O" and not _all_texts(given)):
        raise _refusal("a list of texts")
    chunks = [_chunk(given[start : start + _CHUNK], key) for start in range(0, given.size, _CHUNK)]
    return np.concatenate(chunks) if chunks else np.zeros(0, dtype=np.uint64)


def _all_texts(given: NDArray[Any]) -> bool:
    return all(isinstance(each, str) for each in given)


def _chunk(texts: NDArray[Any], key: int) -> NDArray[np.uint64]:
    """Mix one character of all texts after the other; texts that have ended stay as they are."""
    letters = _letters(texts)
    foreign = np.flatnonzero((letters > _ASCII).any(axis=1))
    if foreign.size:  # a text of other scripts may be spelled in several ways
        spelled = [unicodedata.normalize("NFC", text) for text in texts[foreign].tolist()]
        letters[foreign] = _letters(np.array(spelled, dtype=object))
    found = np.full(len(texts), key, dtype=np.uint64)
    for column in letters.T:
        found = np.where(column > 0, _mixed(column.astype(np.uint64), found), found)
    return _mixed(found, key)


def _letters(texts: NDArray[Any]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(texts.astype(f"<U{_LONGEST}")).view("<u4").reshape(len(texts), _LONGEST)


def _mixed(words: NDArray[np.uint64], key: int | NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return words mixed with a key by two rounds of the finaliser of SplitMix64 (Steele, Lea, Flood 2014)."""
    found = words + np.asarray(key, dtype=np.uint64)
    for _ in range(2):
        found = found + np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found = found ^ (found >> np.uint64(31))
    return found


def _refusal(wanted: str) -> ArgumentError:
    return ArgumentError(
        f"units must be {wanted}, as was declared by ids=; one kind for all, or one unit would be two", "SRD-C611"
    )
