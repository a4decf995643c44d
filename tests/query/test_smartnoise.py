"""SmartNoise's metadata, read as declarations; what is not used is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sordino.accounting.bound import ROW, Unit
from sordino.data.declare import bounds, column
from sordino.data.kinds import Kind
from sordino.data.metadata import Limits, OwnedByColumn
from sordino.data.smartnoise import dataset_from_smartnoise, read
from sordino.errors import SordinoError

PUMS = """
census:
  PUMS:
    PUMS:
      rows: 1000
      row_privacy: false
      max_ids: 4
      sample_max_ids: true
      censor_dims: false
      clamp_counts: true
      pid: {type: int, private_id: true}
      age: {type: int, lower: 0, upper: 100}
      income: {type: float, lower: 0.0, upper: 500000, sensitivity: 500000, missing_value: 0}
      sex: {type: string, cardinality: 2, nullable: false}
      married: {type: boolean}
      born: {type: datetime}
      height: {type: float, lower: 0}
      note: {type: unknown}
engine: pandas
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "PUMS.yaml").write_text(PUMS)
    return tmp_path / "PUMS.yaml"


def test_it_says_the_same_in_our_words(file: Path) -> None:
    declared = read(file)
    table = declared.tables["PUMS.PUMS"]
    assert (declared.name, declared.unit, table.unit) == ("census", Unit("pid"), "pid")
    assert table.limits == Limits(rows=4)
    assert dict(table.columns) == {
        "age": column(bounds=(0, 100), kind="integer"),
        "income": column(bounds=(0, 500000), kind="real"),
        "sex": column(kind="text", nullable=False),
        "married": column(kind="boolean"),
        "born": column(kind="timestamp"),
        "height": column(kind="real"),
    }


def test_what_is_not_used_is_said(file: Path) -> None:
    assert [remark.partition(";")[0] for remark in read(file).remarks] == [
        "PUMS.PUMS: rows: the number of rows is not used: it is not public unless it was released",
        "PUMS.PUMS: censor_dims: rare keys are always protected",
        "PUMS.PUMS: clamp_counts: negative counts are a matter of the answer's post-processing",
        "PUMS.PUMS.income: the sensitivity follows from the bounds",
        "PUMS.PUMS.income: missing values stay missing",
        "PUMS.PUMS.sex: the cardinality is not used",
        "PUMS.PUMS.height: one bound alone is not used",
        "PUMS.PUMS.note: a column of unknown type is left as the engine has it",
    ]


def test_it_opens_with_data(file: Path) -> None:
    people = pa.table(
        {"pid": [1, 1], "age": [30.0, None], "income": [1, 2], "sex": ["a", "b"], "married": [True, False]}
    )
    for name in ("born", "height", "note"):
        people = people.append_column(name, pa.array([None, None], pa.date32() if name == "born" else pa.float64()))
    data = dataset_from_smartnoise(file, {"PUMS": people}, name="people")
    table = data.schema.tables["PUMS.PUMS"]
    assert data.name == "people"
    assert table.owner == OwnedByColumn("pid")
    assert table.columns["age"].kind is Kind.REAL
    assert table.columns["age"].range == bounds(0, 100).range


def test_rows_are_protected_where_it_says_so() -> None:
    declared = read({"": {"s": {"t": {"row_privacy": True, "max_ids": 9, "x": {"type": "int"}}}}})
    assert (declared.name, declared.unit) == ("data", ROW)
    assert declared.tables["s.t"].limits == Limits()


def test_a_person_has_one_row_if_nothing_is_said() -> None:
    people = {"type": "int", "private_id": True}
    declared = read({"c": {"s": {"t": {"a": people}, "u": {"b": people}}}})
    assert declared.tables["s.t"].limits == Limits(rows=1)
    assert declared.unit == Unit("person")


def test_truths_in_capitals_are_read(tmp_path: Path) -> None:
    (tmp_path / "PUMS.yaml").write_text(PUMS.replace("true", "True").replace("false", "False  # or so", 1))
    assert read(tmp_path / "PUMS.yaml").tables == read(_saved(tmp_path)).tables


def _saved(folder: Path) -> Path:
    (folder / "plain.yaml").write_text(PUMS)
    return folder / "plain.yaml"


def test_two_schemas_may_have_a_table_of_one_name() -> None:
    assert list(read({"a": {"s": {"t": ID}, "r": {"t": ID}}}).tables) == ["s.t", "r.t"]


ID = {"id": {"type": "int", "private_id": True}}
WRONG: dict[str, tuple[Any, str]] = {
    "two collections": ({"a": {}, "b": {}}, "one collection, not 2"),
    "no collection": ({"engine": "pandas"}, "one collection, not 0"),
    "a list": ({"a": []}, "the collection must be a mapping"),
    "a schema": ({"a": {"s": 1}}, "schema 's' must be a mapping"),
    "a table": ({"a": {"s": {"t": 1}}}, "table 't' must be a mapping"),
    "a setting": ({"a": {"s": {"t": {**ID, "max_id": 3}}}}, "t.max_id must be a mapping"),
    "nobody": ({"a": {"s": {"t": {"x": {"type": "int"}}}}}, "one column with private_id: true"),
    "a half truth": ({"a": {"s": {"t": {**ID, "row_privacy": 1}}}}, "t: row_privacy must be true or false"),
    "a type": ({"a": {"s": {"t": {**ID, "x": {"type": "flot"}}}}}, "did you mean 'float'"),
    "no type": ({"a": {"s": {"t": {**ID, "x": {}}}}}, "has the type 'None'"),
    "a field": ({"a": {"s": {"t": {**ID, "x": {"type": "int", "uper": 1}}}}}, "did you mean 'upper'"),
    "bounds": ({"a": {"s": {"t": {**ID, "x": {"type": "int", "lower": 1, "upper": 0}}}}}, "must be below"),
    "max_ids": ({"a": {"s": {"t": {**ID, "max_ids": 0}}}}, "rows must be at least 1"),
    "rows and people": (
        {"a": {"s": {"t": ID, "u": {"row_privacy": True, "x": {"type": "int"}}}}},
        "does not say whose its rows are",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_understood_is_refused(case: str) -> None:
    metadata, words = WRONG[case]
    with pytest.raises(SordinoError) as refused:
        read(metadata)
    assert words in refused.value.message


def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- a")
    with pytest.raises(SordinoError, match="it must be a mapping"):
        read(tmp_path / "list.yaml")
