"""The data of the query room, made by DuckDB from hashes of row numbers, so that every run sees the same rows.

Small tables are CSV, which every side can read, with the same in Parquet beside it; large ones are Parquet alone. All
lie in ``bench/out/query`` and are removed after the run.
"""
# ruff: noqa: S608  (the texts are put together from numbers and names of this file)

from __future__ import annotations

import csv
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

HOME = Path(__file__).parent / "out" / "query"
EPSILON, KEPT_ROWS = 1.0, 3
"""What every side may spend on a question, and how many visits of a person count."""
CITIES = ("Aachen", "Bergen", "Cagliari", "Dublin", "Esbjerg")
SPARE_BYTES = 20 * 2**30
"""What must be free on the disk before the largest table (about 1 GB) is made: the engine may spill beside it."""


def trips(rows: int, people: int, cities: int = 200) -> Path:
    """Return a Parquet file of trips: `user`, `city`, `fare` from 0 to 100 in cents; everyone everywhere."""
    path = HOME / f"trips_{rows}_{people}.parquet"
    if not path.exists():
        HOME.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(HOME).free < SPARE_BYTES:
            raise RuntimeError(f"{SPARE_BYTES / 2**30:.0f} GiB of free disk are needed in {HOME}")
        query = f"""
            SELECT (hash(range) % {people})::BIGINT AS user,
                   'city ' || lpad((hash(range, 1) % {cities})::VARCHAR, 3, '0') AS city,
                   (hash(range, 2) % 10001) / 100.0 AS fare
            FROM range({rows})"""
        _write(query, path)
    return path


@dataclass(frozen=True)
class Visits:
    """A table of visits, its five cities, and the true answers in the order of the cities."""

    path: Path
    cities: tuple[str, ...]
    counts: tuple[float, ...]
    means: tuple[float, ...]


@cache
def visits(people: int, rows: int = 20_000, copies: int = 1) -> Visits:
    """Return the visits task: everyone has ⌊rows/people⌋ visits or one more; fares of about 40 out of 0 to 100.

    With `copies` it is there several times side by side, each with people and five cities of its own, so that one query
    draws noise for all of them: for a side that takes seconds for each query whatever its size.
    """
    path = HOME / f"visits_{rows}_{people}_{copies}.csv"
    places = ", ".join(f"'{city}'" for city in CITIES)
    _write(
        f"""
        SELECT range % {people} + copy * {people} AS user,
               [{places}][1 + (hash(range, 1) % 5)::INTEGER] || ' ' || lpad(copy::VARCHAR, 2, '0') AS city,
               round((hash(range, 2) % 4001 + hash(range, 3) % 4001) / 100.0, 2) AS fare
        FROM range({rows}), (SELECT range AS copy FROM range({copies}))""",
        path,
    )
    truth = duckdb.sql(f"SELECT city, count(*), avg(fare) FROM '{path}' GROUP BY city ORDER BY city").fetchall()
    cities, counts, means = zip(*truth, strict=True)
    return Visits(path, cities, tuple(map(float, counts)), means)


@dataclass(frozen=True)
class Values:
    """A column of numbers between 0 and 100, and its median."""

    path: Path
    median: float


SHAPES = {
    "even": "(hash(range, 5) % 1000001) / 1e4",
    "skewed": "least(100, -12 * ln(1 - (hash(range, 6) % 1000000) / 1e6))",
    "two heaps": "CASE WHEN hash(range, 7) % 10 < 3 THEN 10 ELSE 60 END + (hash(range, 8) % 1000001) / 5e4",
}


@cache
def values(shape: str, rows: int) -> Values:
    """Return `rows` numbers of a shape."""
    path = HOME / f"values_{shape.replace(' ', '_')}_{rows}.csv"
    _write(f"SELECT round({SHAPES[shape]}, 4) AS value FROM range({rows})", path)
    with path.open() as file:
        return Values(path, median(float(row["value"]) for row in csv.DictReader(file)))


@dataclass(frozen=True)
class Words:
    """A table of words, and how many people have each."""

    path: Path
    people: dict[str, int]


@cache
def words(people: int, each: int, keys: int = 20_000) -> Words:
    """Return `each` words of every person: words have Zipf's law (the k-th is as frequent as 1/k)."""
    path = HOME / f"words_{people}_{each}.csv"
    _write(
        f"""
        SELECT DISTINCT range // {each} AS user,
               'word ' || floor({keys + 1} ** ((hash(range, 9) % 1000000007) / 1000000007.0))::INTEGER AS word
        FROM range({people * each})""",
        path,
    )
    truth = duckdb.sql(f"SELECT word, count(DISTINCT user) FROM '{path}' GROUP BY word").fetchall()
    return Words(path, dict(truth))


def tidy() -> None:
    """Remove all of it."""
    shutil.rmtree(HOME, ignore_errors=True)


def _write(query: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        for target in {path, path.with_suffix(".parquet")}:
            unfinished = target.with_suffix(".unfinished")
            connection.execute(f"COPY ({query}) TO '{unfinished}' (FORMAT {target.suffix[1:]})")
            unfinished.rename(target)


def task(people: int, copies: int = 1) -> dict[str, Any]:
    """Return what a side is told of the visits, and the truth that it is judged by."""
    table = visits(people, copies=copies)
    truth = {"cities": list(table.cities), "counts": list(table.counts), "means": list(table.means)}
    return {"path": str(table.path), "epsilon": EPSILON, "rows": KEPT_ROWS, **truth}
