"""CSV files as neighbours: whatever one line holds, all others are read as if it were not there."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sordino.accounting.account import unlimited
from sordino.data.dataset import Dataset, dataset
from sordino.data.declare import bounds, column, keys, limits
from sordino.errors import ArgumentError
from sordino.query.ask import account

CANARY = "CANARY-7391"
HEADER = b"person,city,fare,seen"
OTHERS = [b"1,Oslo,5,2024-02-29", b'2,"Rome",7.5,', b"3,,,", b"1,Oslo,6,2024-03-01"]
LINES: dict[str, bytes] = {
    "too few fields": b"9,Oslo",
    "too many fields": b"9,Oslo,1,,,,",
    "an open quote": b'9,"Oslo,1,',
    "a quote inside": b'9,Os"lo,1,',
    "something after a quote": b'9,"Os"lo,1,',
    "no number": b"9,Oslo,zz,",
    "no date": b"9,Oslo,1,2024-02-30",
    "a number too large": b"9,Oslo,1e999,",
    "not a number": b"9,Oslo,nan,",
    "a person too large": b"99999999999999999999,Oslo,1,",
    "no person": b",Oslo,1,",
    "no UTF-8": b"9,\xff\xfe,1,",
    "half a surrogate pair": b"9,\xed\xa0\x80,1,",
    "zero characters": b"9,O\0slo,1\0,\0",
    "nothing but zeros": b"\0\0\0",
    "the character that is in no text": b"9,\x1f,1,",
    "an end of file": b"9,\x1a,1,",
    "a mark of byte order": "\ufeff9,Oslo,1,".encode(),
    "a comment": b"#9,Oslo,1,",
    "a backslash": b"9,Oslo\\,1,",
    "the header again": HEADER,
    "another header": b"a,b,c",
    "nothing": b"",
    "spaces": b"   ",
    "other line breaks": "9,O\x0b\x0c\x85\u2028\u2029slo,1,".encode(),
    "a very long line": b"9," + b"x" * 3_000_000 + b",1,",
    "very many fields": b"9," * 100_000,
}
DECLARED = {
    "person": column(kind="integer"),
    "city": keys(["Oslo", "Rome"]),
    "fare": bounds(0, 10),
    "seen": column(kind="date"),
}


def opened(path: Path, content: bytes) -> Dataset:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return dataset("rides", path, unit="person", columns=DECLARED, limits=limits(rows=2))


def rows(data: Dataset) -> Counter[str]:
    """All rows as texts (NaN is not equal to itself)."""
    return Counter(str(sorted(row.items())) for row in data.table("rides").to_pyarrow().to_pylist())


def shape(data: Dataset) -> Any:
    """All that a question shows but for noise: rows, columns, types, notes, price."""
    asked = account(data, unlimited("a test")).sql(
        "SELECT city, COUNT(*) AS n, AVG(fare) AS fare, MEDIAN(fare) AS m FROM rides WHERE seen > '1999-01-01' "
        "GROUP BY city"
    )
    answer = asked.run(epsilon=1)
    return answer.to_arrow()["city"].to_pylist(), answer.to_arrow().schema, answer.notes, str(asked.price(epsilon=1))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """The file without any odd line."""
    return opened(tmp_path_factory.mktemp("plain") / "a.csv", b"\n".join([HEADER, *OTHERS, b""]))


def test_all_others_are_there(plain: Dataset) -> None:
    assert rows(plain).total() == len(OTHERS)


@pytest.mark.parametrize("line", LINES)
def test_no_line_is_seen_in_others_or_in_an_answer_but_by_noise(plain: Dataset, tmp_path: Path, line: str) -> None:
    other = opened(tmp_path / "a.csv", b"\n".join([HEADER, *OTHERS[:2], LINES[line], *OTHERS[2:], b""]))
    assert rows(plain) <= rows(other)
    assert (rows(other) - rows(plain)).total() <= 1
    assert plain.schema == other.schema
    assert shape(plain) == shape(other)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("place", [0, len(OTHERS)])
def test_all_odd_lines_together_touch_no_other(plain: Dataset, tmp_path: Path, end: bytes, place: int) -> None:
    lines = [HEADER, *OTHERS[:place], *LINES.values(), *OTHERS[place:], b""]
    found = rows(opened(tmp_path / "a.csv", end.join(lines)))
    assert rows(plain) <= found
    assert (found - rows(plain)).total() <= len(LINES)


@pytest.mark.parametrize("usual", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_line_may_end_otherwise_than_the_others(plain: Dataset, tmp_path: Path, usual: bytes, name: str) -> None:
    ends = [usual, b"\n", usual, b"\r\n", usual, b"\r", usual, b"\n\r", usual, b"\r\r\n", usual, b"\n\n", b""]
    lines = OTHERS * 3
    content = HEADER + usual + b"".join(line + end for line, end in zip(lines, ends, strict=False))
    assert rows(opened(tmp_path / name, content)) == Counter({row: 3 * n for row, n in rows(plain).items()})


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40), st.integers(0, len(OTHERS)), st.sampled_from([b"\n", b"\r\n"]))
def test_any_bytes_touch_no_other_line(plain: Dataset, tmp_path: Path, content: bytes, place: int, end: bytes) -> None:
    """Line breaks in it make several lines of it, which is all."""
    lines = [HEADER, *OTHERS[:place], content, *OTHERS[place:], b""]
    assert rows(plain) <= rows(opened(tmp_path / "a.csv", end.join(lines)))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_file_without_rows_can_be_asked_about(tmp_path: Path, end: bytes) -> None:
    data = opened(tmp_path / "a.csv", HEADER + end)
    assert not rows(data)
    assert shape(data)[0] == ["Oslo", "Rome"]


def test_a_broken_file_is_refused_when_it_is_opened_without_a_word_of_its_content(tmp_path: Path) -> None:
    whole = gzip.compress(HEADER + b"\n" + f"1,{CANARY},5,\n".encode() * 100_000)
    (tmp_path / "a.csv.gz").write_bytes(whole[:-20])
    with pytest.raises(ArgumentError, match="could not be loaded; check that each is whole") as refused:
        dataset("rides", tmp_path / "a.csv.gz", unit="person")
    assert refused.value.code == "SRD-A005"
    assert CANARY not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__
