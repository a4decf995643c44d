"""One spelling for each value: canonical JSON as in RFC 8785, for the values that a ledger holds.

**Guarantee.** ``decode(encode(value))`` is `value` again (tuples come back as lists), and ``encode(decode(data))`` is
`data` for every `data` that `decode` accepts. So two texts that differ stand for two values that differ, and whoever
hashes, signs or compares the bytes hashes, signs or compares the values.

Values are dictionaries with ASCII keys, lists, texts, whole numbers within ±(2⁵³ − 1), booleans and None. Floats are
refused, for their spelling is where implementations part ways, and so are larger numbers, which a reader with 64-bit
floats would change: an amount is a decimal text. For ASCII keys the order by UTF-16 code units that RFC 8785 asks for
is the plain one.

**Source.** A. Rundgren, B. Jordan, S. Erdtman, *JSON Canonicalization Scheme*, RFC 8785 (2020), section 3.2; I-JSON,
RFC 7493 (2015), for the range of numbers.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection
from typing import Any

from sordino.errors import ArgumentError, LedgerError

LARGEST_NUMBER = 2**53 - 1
"""The largest whole number that every reader of JSON holds exactly."""

_DEEPEST = 32  # levels of lists and dictionaries; entries need five
_PLAIN = {str, bool, type(None)}
_NESTED = {dict, list, tuple}
_KNOWN = _PLAIN | _NESTED | {int}
_TOO_LARGE = "a whole number must lie within ±(2**53 - 1); write it as a decimal text"
_NOT_HELD = (
    "a ledger holds texts, whole numbers, booleans, None, lists and dictionaries, not {}; "
    "write an amount as a decimal text"
)


def _number(text: str) -> int:
    number = int(text)
    if not -LARGEST_NUMBER <= number <= LARGEST_NUMBER:
        raise ArgumentError(_TOO_LARGE, "SRD-A002")
    return number


def _no_float(text: str) -> None:  # noqa: ARG001
    raise ArgumentError(_NOT_HELD.format("float"), "SRD-A001")


# Python escapes what RFC 8785 escapes, and nothing else: quotes, backslashes and what lies below U+0020.
_write = json.JSONEncoder(ensure_ascii=False, check_circular=False, sort_keys=True, separators=(",", ":")).encode
_read = json.JSONDecoder(parse_int=_number, parse_float=_no_float, parse_constant=_no_float).raw_decode


def encode(value: Any) -> bytes:
    """Return the one canonical spelling of `value`, or raise `ArgumentError` if it has none.

    >>> encode({"b": [1, "é"], "a": None})
    b'{"a":null,"b":[1,"\\xc3\\xa9"]}'
    """
    _check(value)
    return utf8(_write(value))


def utf8(text: str) -> bytes:
    """Return `text` in UTF-8, or raise `ArgumentError` if it has none."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ArgumentError(
            "a text holds half of a surrogate pair, which UTF-8 cannot spell; remove it", "SRD-A001"
        ) from None


def decode(data: bytes) -> Any:
    """Return the value that `data` spells, or raise `LedgerError` if `data` is not its canonical spelling.

    Refused are white space, keys out of order or twice, other escapes than the shortest, floats, numbers and keys that
    `encode` would refuse, half surrogates, byte order marks, and what is not JSON at all.
    """
    try:
        value, _ = _read(data.decode())
        # The reader refuses floats and large numbers. In ASCII that is spelt again byte by byte no key can hold another
        # letter, and what has few brackets is not deep; only then is the check of every value spared.
        if not data.isascii() or data.count(b"[") + data.count(b"{") > _DEEPEST:
            _check(value)
        again = _write(value).encode()
    except (ValueError, RecursionError) as error:  # what is no UTF-8, no JSON or too deep, and what encode refuses
        raise LedgerError(f"these bytes are not canonical JSON: {_reason(error)}", "SRD-L001") from None
    if again != data:
        raise LedgerError(
            "these bytes are JSON, but not in the canonical spelling (sorted keys, each once, no white space); "
            "something else than this ledger wrote or changed them",
            "SRD-L001",
        )
    return value


def to_base64(data: bytes) -> str:
    """Return `data` in the standard base64 of RFC 4648, section 4, padded."""
    return base64.b64encode(data).decode("ascii")


def from_base64(text: str) -> bytes:
    """Return the bytes that `text` spells, or raise `LedgerError` unless it is what `to_base64` would write."""
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        data = b""
    if to_base64(data) != text:
        raise LedgerError("this text is not base64 in its one spelling (RFC 4648, padded, no spare bits)", "SRD-L001")
    return data


def _check(value: Any) -> None:
    """Refuse what has no canonical spelling."""
    _check_items((value,), _DEEPEST)


def _check_items(items: Collection[Any], levels: int) -> None:
    """Check the items of a list; where all are texts, which is the rule, one comparison of sets does it."""
    kinds = set(map(type, items))
    if kinds <= _PLAIN:
        return
    if not kinds <= _KNOWN:
        unknown = ", ".join(sorted(kind.__name__ for kind in kinds - _KNOWN))
        raise ArgumentError(_NOT_HELD.format(unknown), "SRD-A001")
    for item in items:
        kind = type(item)
        if kind is str:
            continue
        if kind is int:
            if not -LARGEST_NUMBER <= item <= LARGEST_NUMBER:
                raise ArgumentError(_TOO_LARGE, "SRD-A002")
        elif kind in _NESTED:
            if not levels:
                raise ArgumentError(f"lists and dictionaries may be {_DEEPEST} deep, not deeper", "SRD-A002")
            _check_items(_values(item) if kind is dict else item, levels - 1)


def _values(pairs: dict[Any, Any]) -> Collection[Any]:
    """Return the values of a dictionary whose keys are ASCII texts."""
    try:
        fine = "".join(pairs).isascii()
    except TypeError:
        fine = False
    if not fine:
        raise ArgumentError("keys must be texts in ASCII, for other letters sort differently elsewhere", "SRD-A001")
    return pairs.values()


def _reason(error: Exception) -> str:
    match error:
        case ArgumentError():
            return error.message
        case json.JSONDecodeError():
            return f"malformed at character {error.pos}"
        case UnicodeDecodeError():
            return f"not UTF-8 at byte {error.start}"
        case UnicodeEncodeError():
            return "half of a surrogate pair"
    return "too deep, or a number is too long"
