"""What becomes of a row with NaN in a file depends on nobody else's rows, whatever the file says about itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as so
from query.engines import Engine
from sordino.errors import ArgumentError

NAN = float("nan")
ORDINARY = [float(value) for value in range(50)]


def write(path: Path, values: list[float]) -> Path:
    pq.write_table(pa.table({"person": list(range(len(values))), "x": values}), path)
    return path


def above_100(source: Any) -> int:
    columns = {"x": so.bounds(0, 1000)}
    data = so.dataset("rows", source, unit="person", columns=columns, limits=so.limits(rows=1))
    budget = so.account(data, so.unlimited("a test"))
    return round(budget.sql("SELECT COUNT(*) AS n FROM rows WHERE x > 100").run(epsilon=1000)["n"][0])


OPENED: dict[str, Callable[[Path], Any]] = {
    "a file": lambda path: path,
    "a connection of one's own": lambda path: ibis.duckdb.connect().read_parquet(path),
    "a view on one's own connection": lambda path: ibis.duckdb.connect().read_parquet(path).filter(ibis._.x > -1),
}


@pytest.mark.parametrize("opened", OPENED)
def test_a_row_with_nan_is_seen_whoever_else_is_there(tmp_path: Path, opened: str) -> None:
    without = write(tmp_path / "without.parquet", [*ORDINARY, NAN])
    with_one = write(tmp_path / "with.parquet", [*ORDINARY, NAN, 200.0])
    assert (above_100(OPENED[opened](without)), above_100(OPENED[opened](with_one))) == (1, 2)


def test_a_row_with_nan_is_seen_on_spark(tmp_path: Path, spark_engine: Engine) -> None:
    session = spark_engine.backend._session
    without = session.read.parquet(str(write(tmp_path / "without.parquet", [*ORDINARY, NAN])))
    with_one = session.read.parquet(str(write(tmp_path / "with.parquet", [*ORDINARY, NAN, 200.0])))
    assert (above_100(without), above_100(with_one)) == (1, 2)
    above_99 = [frame.where("x > 99") for frame in (without, with_one)]  # a filter that is not ours
    assert [above_100(frame) for frame in above_99] == [1, 2]


def test_an_average_over_nan_does_not_fail(tmp_path: Path) -> None:
    table = ibis.duckdb.connect().read_parquet(write(tmp_path / "rows.parquet", [*ORDINARY, NAN]))
    data = so.dataset("rows", table, unit="person", columns={"x": so.bounds(0, 100)}, limits=so.limits(rows=1))
    answer = so.account(data, so.unlimited("a test")).sql("SELECT AVG(x) AS x FROM rows").run(epsilon=1000)
    assert abs(answer["x"][0] - 24.5) < 1


def test_what_a_user_turned_off_stays_off(tmp_path: Path) -> None:
    connection = ibis.duckdb.connect()
    connection.con.execute("SET disabled_optimizers = 'join_order'")
    above_100(connection.read_parquet(write(tmp_path / "rows.parquet", ORDINARY)))
    (off,) = connection.con.execute("SELECT current_setting('disabled_optimizers')").fetchone()
    assert set(off.split(",")) == {"join_order", "filter_pushdown", "statistics_propagation"}


def test_a_locked_database_that_trusts_statistics_is_refused(tmp_path: Path) -> None:
    connection = ibis.duckdb.connect()
    table = connection.read_parquet(write(tmp_path / "rows.parquet", ORDINARY))
    connection.con.execute("SET lock_configuration = true")
    with pytest.raises(ArgumentError, match="SET disabled_optimizers") as refused:
        above_100(table)
    assert refused.value.__cause__ is None
    assert not isinstance(refused.value.__context__, duckdb.Error) or refused.value.__suppress_context__
