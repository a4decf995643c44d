"""OpenDP: exact samplers, and queries by its Polars context.

Its vector form on a NumPy array is its fastest for each sample, so that is what is timed. Of a query the measurement is
found once (that takes seconds) and then called for every repetition; count and centred sum share ε, the mean is their
quotient (its own `dp.mean` beside `dp.len` would pay for the count twice).
"""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl

from .cold import whole_visits
from .scores import median_scores, visits_scores

dp.enable_features("contrib")


def versions() -> dict[str, str]:
    return {"opendp": version("opendp"), "numpy": np.__version__}


def laplace(scale: float, size: int) -> tuple[float, int, dict[str, Any]]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return _vector(dp.m.make_laplace(*space, scale=scale), size)


def gaussian(scale: float, size: int) -> tuple[float, int, dict[str, Any]]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return _vector(dp.m.make_gaussian(*space, scale=scale), size)


def _vector(mechanism: Any, size: int) -> tuple[float, int, dict[str, Any]]:
    zeros = np.zeros(size, dtype=np.int64)
    started = perf_counter()
    mechanism(zeros)
    return perf_counter() - started, size, {}


def one_laplace(scale: float, releases: int) -> tuple[float, int, dict[str, Any]]:
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    return _one_by_one(dp.m.make_laplace(*space, scale=scale), releases)


def one_gaussian(scale: float, releases: int) -> tuple[float, int, dict[str, Any]]:
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="f64")
    return _one_by_one(dp.m.make_gaussian(*space, scale=scale), releases)


def _one_by_one(mechanism: Any, releases: int) -> tuple[float, int, dict[str, Any]]:
    started = perf_counter()
    for _ in range(releases):
        mechanism(1_000)
    return perf_counter() - started, releases, {}


# ---- queries --------------------------------------------------------------------------------------------------------


def cold(**arguments: Any) -> tuple[float, int, dict[str, Any]]:
    return whole_visits(__name__, arguments)


def visits(
    path: str, cities: list[str], counts: list[float], means: list[float], epsilon: float, rows: int, repetitions: int
) -> tuple[float, int, dict[str, Any]]:
    table = pl.scan_csv(path)
    context = dp.Context.compositor(
        data=table,
        privacy_unit=dp.unit_of(contributions=1, identifier="user"),
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=1_000_000)],
    )
    centred = pl.col("centred").fill_null(0.0).fill_nan(0.0)
    query = (
        context.query()
        .truncate_per_group(rows)
        .with_columns(centred=pl.col("fare") - 50.0)
        .group_by("city")
        .agg(dp.len(signed=True).alias("n"), centred.dp.sum((-50.0, 50.0)).alias("total"))
        .with_keys(pl.LazyFrame({"city": cities}))
    )
    measurement = query.resolve()
    answers = []
    started = perf_counter()
    for _ in range(repetitions):
        found = measurement(table).collect().sort("city")
        answers.append((found["n"].to_list(), (50 + found["total"] / found["n"]).to_list()))
    return perf_counter() - started, repetitions, visits_scores(answers, counts, means)


CANDIDATES = [float(tenths) / 10 for tenths in range(1_001)]


def medians(settings: list[dict[str, Any]], repetitions: int) -> tuple[float, int, dict[str, Any]]:
    found = {}
    started = perf_counter()
    for setting in settings:
        table = pl.scan_csv(setting["path"])
        context = dp.Context.compositor(
            data=table,
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=setting["epsilon"]),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=1_000_000)],
        )
        value = pl.col("value").fill_null(0.0).fill_nan(0.0)
        measurement = context.query().select(value.dp.median(CANDIDATES)).resolve()
        found[setting["name"]] = [measurement(table).collect()["value"][0] for _ in range(repetitions)]
    seconds = perf_counter() - started
    truth = {setting["name"]: setting["median"] for setting in settings}
    return seconds, repetitions * len(settings), median_scores(found, truth)
