"""Spark counts what DuckDB counts: the same integers, from the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from collect.randomizers import MAKERS
from query.engines import Engine, spark_engine
from sordino.collect.by_spark import counted_by_spark
from sordino.collect.frequencies.count_mean import CountMeanSketch
from sordino.collect.kept import batches, counted


@pytest.fixture(scope="module")
def spark() -> Any:
    with spark_engine() as engine:
        yield engine


@pytest.mark.spark
def test_spark_and_duckdb_give_the_same_integers(spark: Engine, tmp_path: Path) -> None:
    ways = [*(MAKERS[name](40, 1) for name in ("k-ary", "hashing", "unary")), CountMeanSketch(40, 1)]
    for number, way in enumerate(ways):
        path = tmp_path / f"{number}.parquet"
        payloads = way.reports(np.arange(5000) % 40)
        rows = pa.array([row.tobytes() for row in payloads], pa.binary(way.size))
        pq.write_table(pa.table({"payload": rows}), path, row_group_size=700)
        reports, counts = counted_by_spark(spark.backend._session, way, path)
        others, wanted = counted(way, batches(path))
        assert reports == others == 5000
        assert counts.dtype == wanted.dtype
        assert np.array_equal(counts, wanted)
        assert np.array_equal(counts, way.count(payloads))
