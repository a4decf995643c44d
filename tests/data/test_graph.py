"""Graphs as they are declared and read: every repair, every form, and what is refused before a charge."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sordino.data.graph import graph
from sordino.errors import ArgumentError, SourceError

LINES = "# a remark\n% another\n0 1\n1\t0\n2,2\n1;2 0.5\nalone\n\n  0   2\n2 9\n"


def held(source: Any, **words: Any) -> list[list[int]]:
    return graph("friends", source, unit="edge", **words).edges().ends.tolist()


def write(folder: Path, name: str, text: str = LINES) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["edges.txt", "edges.txt.gz", "edges.tsv", "edges.edges"])
def test_texts_are_repaired_edge_by_edge(tmp_path: Path, name: str) -> None:
    assert held(write(tmp_path, name), nodes=3) == [[0, 1], [0, 2], [1, 2]]
    found = graph("friends", write(tmp_path, name), unit="edge").edges()
    assert (len(found.ends), found.nodes) == (4, 4)


def test_the_first_line_of_a_csv_names_columns(tmp_path: Path) -> None:
    assert len(held(write(tmp_path, "edges.csv", "one,other\na,b\nb,c\n"))) == 2


def test_tables_and_arrays(tmp_path: Path) -> None:
    table = pa.table({"one": ["a", "b", None, "c"], "other": ["b", "a", "a", "z"], "weight": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "edges.parquet")
    for source in (table, table.to_pandas(), pl.from_arrow(table), tmp_path / "edges.parquet"):
        assert held(source, nodes=["a", "b", "c"]) == [[0, 1]]
        assert len(held(source)) == 2
    assert held(np.array([[3, 1], [1, 3], [2, 2]]), nodes=4) == [[0, 1]]
    assert held(pd.DataFrame({"one": [0, 7], "other": [1, 1]}), nodes=2) == [[0, 1]]


def test_names_that_are_no_numbers_of_declared_nodes_are_left_out() -> None:
    table = pa.table({"one": ["01", "-1", "1", "99999999999999999999"], "other": ["2", "2", "2", "1"]})
    assert len(held(table, nodes=3)) == 1


def test_one_edge_less_is_one_edge_less_whatever_else_there_is() -> None:
    lines = [(a, b) for a in range(5) for b in range(5)]
    whole = graph("friends", np.array(lines), unit="edge", nodes=4).edges()
    less = graph("friends", np.array([each for each in lines if set(each) != {1, 2}]), unit="edge", nodes=4).edges()
    assert (len(whole.ends), len(less.ends)) == (6, 5)


@pytest.mark.parametrize(
    ("source", "words", "code"),
    [
        ("nowhere.txt", {}, "SRD-P501"),
        ("edges.xlsx", {}, "SRD-P501"),
        (np.zeros((3, 3), int), {}, "SRD-P501"),
        (np.zeros((3, 2)), {}, "SRD-P501"),
        (pa.table({"one": [1]}), {}, "SRD-P501"),
        (pa.table({"one": [1.5], "other": [2.5]}), {}, "SRD-P501"),
        (42, {}, "SRD-A001"),
        (np.zeros((0, 2), int), {"nodes": "many"}, "SRD-A001"),
        (np.zeros((0, 2), int), {"nodes": 1}, "SRD-A002"),
        (np.zeros((0, 2), int), {"nodes": ["a"]}, "SRD-A002"),
        (np.zeros((0, 2), int), {"unit": "person"}, "SRD-A001"),
    ],
)
def test_what_cannot_be_is_refused(source: Any, words: dict[str, Any], code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        graph("friends", source, **{"unit": "edge", **words})


def test_a_file_that_does_not_begin_as_it_is_called_is_refused(tmp_path: Path) -> None:
    for name in ("edges.parquet", "edges.txt.gz"):
        (tmp_path / name).write_bytes(b"no such thing")
        with pytest.raises(SourceError, match="SRD-R002"):
            graph("friends", tmp_path / name, unit="edge")
    path = write(tmp_path, "edges.txt")
    declared = graph("friends", path, unit="edge")
    path.unlink()
    with pytest.raises(SourceError, match="SRD-R002"):
        declared.check_ready()


def test_it_shows_what_was_declared_alone() -> None:
    assert repr(graph("friends", np.array([[0, 1]]), unit="edge")) == (
        "Graph('friends', protects each edge, nodes that are not declared)"
    )
