"""One spelling for each value: what RFC 8785 prescribes, and nothing else is read."""

from __future__ import annotations

import json
from enum import IntEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.canonical import LARGEST_NUMBER, decode, encode, from_base64, to_base64

texts = st.text(st.characters(exclude_categories=["Cs"]))
keys = st.text(st.characters(max_codepoint=127))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST_NUMBER, LARGEST_NUMBER) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=20,
)


class Small(IntEnum):
    ONE = 1


def reference(value: Any) -> str:
    """RFC 8785 written out by hand, without the json module."""
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value)
        case str():
            return '"' + "".join(map(escaped, value)) + '"'
        case list():
            return "[" + ",".join(map(reference, value)) + "]"
        case dict():
            ordered = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
            return "{" + ",".join(f"{reference(key)}:{reference(item)}" for key, item in ordered) + "}"
    raise TypeError


def escaped(letter: str) -> str:
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return short.get(letter) or (f"\\u{ord(letter):04x}" if letter < " " else letter)


@given(values)
@example("\x00\x1f\x7f\x80\u2028\u2029/<>&'€\U0001f600")
@example({"": {}, "a": [], "B": None, "_": [[]], "~": ""})
def test_every_value_has_the_spelling_of_the_standard_and_comes_back(value: Any) -> None:
    data = encode(value)
    assert data == reference(value).encode()
    assert decode(data) == value
    assert encode(decode(data)) == data


def test_the_example_of_the_standard() -> None:
    # RFC 8785, section 3.2.2, without its numbers, which are floats.
    given_text = r'{"string": "\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/","literals": [null, true, false]}'
    expected = '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    assert encode(json.loads(given_text)).decode() == expected


@given(values, values)
def test_values_that_differ_have_spellings_that_differ(one: Any, other: Any) -> None:
    assert (encode(one) == encode(other)) == (reference(one) == reference(other))


def test_tuples_are_lists() -> None:
    assert encode((1, ("a",))) == b'[1,["a"]]'


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        float("nan"),
        [[0.5]],
        2**53,
        -(2**53),
        [2**64],
        Fraction(1, 2),
        b"bytes",
        {1: "a"},
        {None: "a"},
        {True: "a"},
        {"a": 1, 2: "b"},
        {"é": 1},
        {"a": {"\U0001f600": 1}},
        "\ud800",
        {"\udfff": 1},
        {"a": {1, 2}},
        np.int64(1),
        np.float64(1),
        Small.ONE,
        object(),
    ],
    ids=lambda value: ascii(value).split(" at ")[0],
)
def test_what_has_no_spelling_is_refused(value: Any) -> None:
    for whole in (value, [value], {"a": ["x", value]}):
        with pytest.raises(ArgumentError):
            encode(whole)


def test_depth_is_limited_alike_in_both_directions() -> None:
    deep: Any = "core"
    for _ in range(32):
        deep = [deep]
    assert decode(encode(deep)) == deep
    with pytest.raises(ArgumentError, match="32 deep"):
        encode([deep])
    with pytest.raises(LedgerError, match="32 deep"):
        decode(b"[" * 33 + b"]" * 33)
    with pytest.raises(LedgerError):
        decode(b"[" * 100_000 + b"]" * 100_000)


def test_a_value_that_holds_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ArgumentError):
        encode(circle)


def test_many_brackets_are_not_depth() -> None:
    assert decode(encode([[]] * 100)) == [[]] * 100
    assert decode(encode(["[" * 100])) == ["[" * 100]


NOT_CANONICAL = {
    "nothing": b"",
    "space before": b' {"a":1}',
    "space after": b'{"a":1} ',
    "newline after": b'{"a":1}\n',
    "space inside": b'{"a": 1}',
    "key twice": b'{"a":1,"a":1}',
    "key twice, other value": b'{"a":1,"a":2}',
    "key twice, deep": b'[{"b":{"a":1,"a":1}}]',
    "keys out of order": b'{"b":1,"a":1}',
    "float": b"1.0",
    "float in a list": b'{"a":[1e3]}',
    "exponent": b"1E3",
    "minus zero": b"-0",
    "leading zero": b"01",
    "plus": b"+1",
    "too large": b"9007199254740992",
    "too small": b"-9007199254740992",
    "endless": b"1" * 5000,
    "NaN": b"NaN",
    "Infinity": b"-Infinity",
    "escaped letter": b'"\\u0041"',
    "escaped slash": b'"\\/"',
    "escaped letter beyond ASCII": b'"\\u00e9"',
    "escaped key beyond ASCII": b'{"\\u00e9":1}',
    "key beyond ASCII": '{"é":1}'.encode(),
    "upper-case escape": b'"\\u000F"',
    "long escape": b'"\\u000a"',
    "half a surrogate": b'"\\ud800"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "overlong UTF-8": b'"\xc0\xaf"',
    "byte order mark": b"\xef\xbb\xbf1",
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "raw control character": b'"\n"',
    "two values": b"1 2",
    "two values, close": b"[][]",
    "trailing comma": b"[1,]",
    "single quotes": b"{'a':1}",
    "comment": b"[1]//",
    "cut short": b'{"a":',
}


@pytest.mark.parametrize("data", NOT_CANONICAL.values(), ids=NOT_CANONICAL.keys())
def test_other_spellings_are_refused(data: bytes) -> None:
    with pytest.raises(LedgerError) as caught:
        decode(data)
    assert caught.value.code == "SRD-L001"


@given(values, st.data())
def test_no_changed_byte_gives_the_same_value(value: Any, data: st.DataObject) -> None:
    spelt = bytearray(encode(value))
    place = data.draw(st.integers(0, len(spelt) - 1))
    spelt[place] ^= data.draw(st.integers(1, 255))
    try:
        other = decode(bytes(spelt))
    except LedgerError:
        return
    assert encode(other) == bytes(spelt) != encode(value)


@given(st.binary())
def test_bytes_at_random_are_refused_or_spelt_again(data: bytes) -> None:
    try:
        value = decode(data)
    except LedgerError:
        return
    assert encode(value) == data


@given(st.binary())
def test_base64_comes_back(data: bytes) -> None:
    assert from_base64(to_base64(data)) == data


@pytest.mark.parametrize(
    "text", ["A", "QQ", "QQ=", "QR==", "QQ==\n", " QQ==", "Q-==", "QQ==QQ==", "é===", "QUI", "=", "===="]
)
def test_base64_in_other_spellings_is_refused(text: str) -> None:
    with pytest.raises(LedgerError):
        from_base64(text)
