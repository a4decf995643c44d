"""The owner's own look: rows that vanish are counted, lines that cannot be read are named, later changes are marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import sordino as so
from sordino.data.dataset import Dataset
from sordino.data.declarations_file import dataset_from_file
from sordino.errors import ArgumentError, QuestionError, SordinoError

LINES = [
    b"id,amount,city",
    *(f"{number},CHF {number},Oslo".encode() for number in range(40)),
    b",7,Rome",
    b'5,"8,Oslo',
    b'6",9,Bern',
    b"6,9,Z\xfcrich",
    b"7,10",
    b"8,5000,Paris",
    b"",
    b'9,"7",""',
]


def written(directory: Path, lines: list[bytes], name: str = "gifts.csv") -> Path:
    file = directory / name
    file.write_bytes(b"\n".join(lines) + b"\n")
    return file


def gifts(source: Any, *, most: int = 100, rows: int = 1, **more: Any) -> Dataset:
    columns = {
        "id": so.column(kind="integer"),
        "amount": so.bounds(0, most),
        "city": so.keys(["Oslo", "Rome", "Bern"]),
    }
    return so.dataset("gifts", source, unit="id", columns=columns, limits=so.limits(rows=rows), **more)


def test_rows_that_vanish_are_told_to_the_owner(tmp_path: Path) -> None:
    report = gifts(written(tmp_path, LINES)).health()
    table = report.tables["gifts"]
    assert (table.rows, table.readable, table.owned, table.within_limits) == (47, 43, 42, 40)
    assert {numbers: fault.split(":")[0] for fault, numbers in table.faults.items()} == {
        (43, 44): "a quote that does not end in its line",
        (45,): "not UTF-8",
        (46,): "not the 3 fields of the header",
    }
    amount, city = table.columns["amount"], table.columns["city"]
    assert (amount.filled, amount.parsed, amount.in_bounds) == (43, 3, 2)
    assert (city.filled, city.in_keys) == (42, 41)
    for words in ("line 45: not UTF-8: convert the file, as by iconv", "3 of 43 (6.98 %) parsed, 2 of 3"):
        assert words in str(report)


STRANGE = [
    b'5,"a\nb",Oslo',
    b"5,\xff,Oslo",
    b"5,1,2,3",
    b'"5,1,2',
    b'5,"x"y,z',
    b"5;1;2",
    b'5,"",',
    b"5,1,2\r6,1,2\r,",
]


@pytest.mark.parametrize("line", STRANGE)
def test_the_look_and_the_reader_agree_on_every_line(tmp_path: Path, line: bytes) -> None:
    table = gifts(written(tmp_path, [*LINES[:3], line, *LINES[3:6]])).health().tables["gifts"]
    bad = {number for numbers in table.faults.values() for number in numbers}
    assert table.rows - len(bad) == table.readable


def test_people_beyond_limits_and_values_of_frames_are_counted() -> None:
    cities = ["Oslo", "Kyiv", None, "Bern"]
    frame = pd.DataFrame({"id": [1.0, 1.0, 2.0, None], "amount": [5.0, 500.0, None, 7.0], "city": cities})
    frame["id"] = frame["id"].astype("Int64")
    table = gifts(frame).health().tables["gifts"]
    assert (table.rows, table.readable, table.owned, table.within_limits) == (4, 4, 3, 2)
    assert (table.columns["amount"].parsed, table.columns["amount"].in_bounds) == (3, 2)
    assert (table.columns["city"].parsed, table.columns["city"].in_keys) == (3, 2)


def test_rows_without_a_parent_have_no_owner() -> None:
    shop = so.dataset(
        "shop",
        {
            "people": so.private(pa.table({"id": [1, 2]}), unit="id"),
            "orders": so.private(pa.table({"person": [1, 2, 3, None]}), parent={"person": "people.id"}),
        },
        unit="id",
    )
    assert shop.health().tables["orders"].owned == 2


def test_what_is_declared_after_a_look_is_marked(tmp_path: Path) -> None:
    file = written(tmp_path, LINES)
    looked = gifts(file).health().looked
    same = gifts(file, looked=looked)
    assert same.schema.after_looking == ()
    assert "after looking" not in str(same)
    changed = gifts(file, most=5000, rows=3, looked=looked)
    assert changed.schema.after_looking == ("gifts", "gifts.amount")
    assert "set after looking at the data: gifts, gifts.amount" in str(changed)
    ask = so.account(changed, so.unlimited("made up")).sql("SELECT COUNT(*) AS n FROM gifts")
    said = "set after looking at the data, which no budget covers: what is declared of gifts, gifts.amount"
    assert said in ask.price(epsilon=1).notes
    assert said in ask.run(epsilon=1).notes
    again = changed.health().looked  # a second look changes no mark
    assert gifts(file, most=5000, rows=3, looked=again).schema.after_looking == ("gifts", "gifts.amount")
    text = tmp_path / "gifts.yaml"
    text.write_text(changed.to_yaml())
    assert dataset_from_file(text).schema.after_looking == ("gifts", "gifts.amount")
    with pytest.raises(ArgumentError, match="looked must be what a health report holds"):
        gifts(file, looked=["amount"])  # type: ignore[arg-type]


# ---- files and frames as they come ----------------------------------------------------------------------------------


def counted(data: Dataset, text: str) -> float:
    return float(so.account(data, so.unlimited("made up")).sql(text).run(epsilon=10_000)["x"][0])


def test_semicolons_decimal_commas_and_the_index_of_pandas_are_read(tmp_path: Path) -> None:
    file = written(tmp_path, [b"id;amount;city", b"1;1,5;Oslo", b"2;2.5;Rome", b'3;"4,0";"a;b"'])
    assert counted(gifts(file), "SELECT SUM(amount) AS x FROM gifts") == pytest.approx(8, abs=0.1)
    indexed = written(tmp_path, [b",id,amount,city", b"0,1,2,Oslo", b"1,2,3,Oslo"], "indexed.csv")
    assert "index" in gifts(indexed).schema.tables["gifts"].columns
    assert counted(gifts(indexed), "SELECT SUM(amount) AS x FROM gifts") == pytest.approx(5, abs=0.1)


@pytest.mark.parametrize(
    ("first", "cure"),
    [
        (b"17,2.5,Oslo", "line 1 of .* write a line of names above it"),
        (b"id,pr\xe9nom", "line 1 of .* not written in UTF-8; convert the file: iconv"),
    ],
)
def test_a_first_line_that_is_no_header_is_refused_with_the_cure(tmp_path: Path, first: bytes, cure: str) -> None:
    with pytest.raises(ArgumentError, match=cure) as refused:
        gifts(written(tmp_path, [first, b"1,2,Oslo"]))
    assert "2.5" not in str(refused.value)


FRAMES: dict[str, tuple[Any, str]] = {
    "no columns": (pd.DataFrame(), "has no columns; .*reset_index"),
    "an empty frame": (pd.DataFrame({"id": []}), "astype\\('Int64'\\)"),
    "missing ids": (pd.DataFrame({"id": [1.0, np.nan]}), "astype\\('Int64'\\)"),
    "complex": (pd.DataFrame({"id": [1], "z": [1j]}), "one type first: frame\\['z'\\]"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_cannot_be_read_is_refused_with_the_cure(name: str) -> None:
    frame, cure = FRAMES[name]
    with pytest.raises(SordinoError, match=cure):
        so.dataset("t", frame, unit="id")


def test_half_floats_cuts_and_empty_columns_are_read() -> None:
    frame = pd.DataFrame({"id": [1, 2, 3], "x": np.array([1, 2, 3], np.float16), "none": [None] * 3})
    frame["band"] = pd.cut(pd.Series([1, 5, 9]), [0, 4, 10])
    columns = {"x": so.bounds(0, 5), "band": so.keys(["(0, 4]", "(4, 10]"])}
    data = so.dataset("t", frame, unit="id", columns=columns, limits=so.limits(rows=1))
    assert counted(data, "SELECT SUM(x) AS x FROM t") == pytest.approx(6, abs=0.1)
    assert counted(data, "SELECT COUNT(*) AS x FROM t WHERE band = '(4, 10]'") == pytest.approx(2, abs=0.1)
    assert data.schema.tables["t"].columns["none"].kind.value == "text"
    with pytest.raises(QuestionError, match="bounds are for numbers"):
        so.dataset("t", frame, unit="id", columns={"none": so.bounds(0, 1)})
