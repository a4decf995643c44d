"""sordino's rounds that are closed: reports in Parquet are counted, by DuckDB and by Spark, and estimated."""

from __future__ import annotations

import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sordino as so
from sordino.collect.kept import batches, counted
from sordino.collect.wire import ID
from sordino.noise.keystream import SOURCE

from .randomizers import made

Timing = tuple[float, int, dict[str, Any]]

BATCH = 250_000


def versions() -> dict[str, str]:
    import duckdb

    return {"sordino": so.__version__, "duckdb": duckdb.__version__}


def estimate(way: str, reports: int, domain: int, epsilon: float) -> Timing:
    """Return how long it takes to read so many reports from Parquet, count them and estimate."""
    randomizer = made(way, domain, epsilon)
    with _written(way, reports, domain, epsilon) as path:
        started = perf_counter()
        found, counts = counted(randomizer, batches(path))
        told = randomizer.estimate(counts, found)
        told.intervals()
        seconds = perf_counter() - started
    off = np.square(told.values - _held(reports, domain)).mean() / reports / randomizer.mean_squared_error()
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return seconds, 1, {"gibibytes": gibibytes, "reports": float(found), "squared": float(off)}


def by_spark(way: str, reports: int, domain: int, epsilon: float) -> Timing:
    """Return how long Spark takes to count them, and how many integers differ from DuckDB's."""
    from sordino.serve.surveys.on_spark import on_spark

    randomizer, counting = made(way, domain, epsilon), on_spark(_session())
    with _written(way, reports, domain, epsilon) as path:
        started = perf_counter()
        found, counts = counting(randomizer, path)
        seconds = perf_counter() - started
        others, wanted = counted(randomizer, batches(path))
    differ = float((counts != wanted).sum() + (found != others) + (found != reports))
    return seconds, 1, {"differ": differ, "integers": float(counts.size)}


@contextmanager
def _written(*asked: Any) -> Iterator[Path]:
    """Give a file of reports, made by another process, so that its memory is not this one's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "reports.parquet")
        writer = multiprocessing.get_context("spawn").Process(target=_write, args=(path, *asked))
        writer.start()
        writer.join()
        if writer.exitcode:
            raise RuntimeError("the reports could not be written")
        yield path


def _write(path: Path, way: str, reports: int, domain: int, epsilon: float) -> None:
    """Write reports as a round that is closed keeps them: a random id, and the payload."""
    randomizer = made(way, domain, epsilon)
    schema = pa.schema([("id", pa.binary(ID)), ("payload", pa.binary(randomizer.size))])
    with pq.ParquetWriter(path, schema, use_dictionary=False, write_statistics=False, compression="none") as file:
        for start in range(0, reports, BATCH):
            values = np.arange(start, min(start + BATCH, reports)) % domain
            columns = (SOURCE.words(ID // 8 * len(values)), randomizer.reports(values))
            file.write_batch(
                pa.RecordBatch.from_arrays(
                    [
                        pa.FixedSizeBinaryArray.from_buffers(kind.type, len(values), [None, pa.py_buffer(column)])
                        for kind, column in zip(schema, map(np.ascontiguousarray, columns), strict=True)
                    ],
                    schema=schema,
                )
            )


def _held(reports: int, domain: int) -> Any:
    """Return how many hold each value."""
    return reports // domain + (np.arange(domain) < reports % domain)


@cache
def _session() -> Any:
    """Return a Spark of this process, on two cores, which ends with it."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master("local[2]").appName("sordino").config("spark.driver.host", "127.0.0.1")
    for name in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(name, "false")
    return builder.config("spark.driver.memory", "2g").getOrCreate()
