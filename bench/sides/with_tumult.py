"""Tumult Analytics on a local Spark session: a query for the count, one for the centred sum, half of ε each.

(Its own average splits ε in the same way, so this spares it a second count.)
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from functools import cache
from importlib.metadata import version
from time import perf_counter
from typing import Any

os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
warnings.simplefilter("ignore")

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as spark_functions  # noqa: E402
from tmlt.analytics import (  # noqa: E402
    AddOneRow,
    AddRowsWithID,
    KeySet,
    MaxRowsPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

from .cold import whole_visits  # noqa: E402
from .scores import median_scores, visits_scores  # noqa: E402


def versions() -> dict[str, str]:
    return {"tmlt.analytics": version("tmlt.analytics"), "pyspark": version("pyspark")}


def cold(**arguments: Any) -> tuple[float, int, dict[str, Any]]:
    return whole_visits(__name__, arguments)


def visits(
    path: str, cities: list[str], counts: list[float], means: list[float], epsilon: float, rows: int, repetitions: int
) -> tuple[float, int, dict[str, Any]]:
    table = _spark().read.csv(path, header=True, inferSchema=True)
    table = table.withColumn("centred", spark_functions.col("fare") - 50.0).cache()
    table.count()
    session = Session.from_dataframe(
        PureDPBudget(float("inf")), "visits", table, protected_change=AddRowsWithID("user")
    )
    grouped = QueryBuilder("visits").enforce(MaxRowsPerID(rows)).groupby(KeySet.from_dict({"city": cities}))
    queries = grouped.count(name="n"), grouped.sum("centred", -50, 50, name="total")
    half = PureDPBudget(epsilon / 2)
    answers = []
    started = perf_counter()
    for _ in range(repetitions):
        count, total = (session.evaluate(query, half).toPandas().set_index("city").loc[cities] for query in queries)
        answers.append((count["n"].tolist(), (50 + total["total"] / count["n"]).tolist()))
    return perf_counter() - started, repetitions, visits_scores(answers, counts, means)


def medians(settings: list[dict[str, Any]], repetitions: int) -> tuple[float, int, dict[str, Any]]:
    """One query finds the medians of as many groups as there are repetitions; every group holds the same values."""
    found = {}
    keys = KeySet.from_dict({"copy": list(range(repetitions))})
    started = perf_counter()
    for setting in settings:
        table = _spark().read.csv(setting["path"], header=True, inferSchema=True)
        copies = table.crossJoin(_spark().range(repetitions).withColumnRenamed("id", "copy")).cache()
        session = Session.from_dataframe(PureDPBudget(float("inf")), "t", copies, protected_change=AddOneRow())
        query = QueryBuilder("t").groupby(keys).median("value", 0, 100, name="median")
        found[setting["name"]] = session.evaluate(query, PureDPBudget(setting["epsilon"])).toPandas()["median"].tolist()
        copies.unpersist()
    seconds = perf_counter() - started
    truth = {setting["name"]: setting["median"] for setting in settings}
    return seconds, repetitions * len(settings), median_scores(found, truth)


_warehouse = tempfile.TemporaryDirectory()


@cache
def _spark() -> SparkSession:
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", _warehouse.name)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    return session
