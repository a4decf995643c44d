"""OpenDP as it is, drawn from for an audit: samplers, and private frames built from its own expressions.

A claim is what its own privacy map says.
"""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl

warnings.filterwarnings("ignore")
dp.enable_features("contrib")

SCHEMA = {"person": pl.Int64, "g": pl.Int64, "x": pl.Float64}


def versions() -> dict[str, str]:
    return {"opendp": version("opendp")}


def describe(subject: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
    try:
        return 0.0, 1, _built(json.dumps(subject))[1]
    except (dp.OpenDPException, ValueError, TypeError) as error:
        return 0.0, 1, {"refused": str(error).strip().splitlines()[0][:200]}


def draw(subject: dict[str, Any], value: Any, draws: int) -> tuple[float, int, dict[str, Any]]:
    release, _ = _built(json.dumps(subject))
    started = perf_counter()
    outputs = release(value, draws)
    return perf_counter() - started, draws, {"outputs": outputs}


@lru_cache(maxsize=4)
def _built(text: str) -> tuple[Any, dict[str, Any]]:
    subject = json.loads(text)
    return BUILDERS[subject["kind"]](subject)


def _vector(make: Any, metric: Any, kind: str, **scale: float) -> Any:
    return make(dp.vector_domain(dp.atom_domain(T=kind, **({"nan": False} if kind == "f64" else {}))), metric, **scale)


def laplace(_subject: Any) -> Any:
    mechanism = _vector(dp.m.make_laplace, dp.l1_distance(T="f64"), "f64", scale=1.0)
    return lambda value, n: mechanism(np.full(n, float(value))), {"epsilon": mechanism.map(1.0)}


def geometric(_subject: Any) -> Any:
    mechanism = _vector(dp.m.make_geometric, dp.l1_distance(T="i64"), "i64", scale=1.0)
    return lambda value, n: mechanism(np.full(n, value)), {"epsilon": mechanism.map(1)}


def gaussian(_subject: Any) -> Any:
    mechanism = _vector(dp.m.make_gaussian, dp.l2_distance(T="f64"), "f64", scale=2.0)
    return lambda value, n: mechanism(np.full(n, float(value))), {"rho": mechanism.map(1.0)}


def response(_subject: Any) -> Any:
    truth = np.e / (1 + np.e)
    mechanism = dp.m.make_randomized_response_bool(prob=float(truth))
    return lambda value, n: [int(mechanism(bool(value))) for _ in range(n)], {"epsilon": mechanism.map(1)}


def choice(_subject: Any) -> Any:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    mechanism = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2.0)
    return lambda value, n: [int(mechanism(value)) for _ in range(n)], {"epsilon": mechanism.map(1)}


# ---- frames ---------------------------------------------------------------------------------------------------------


def _domain() -> Any:
    kinds = {"person": {"T": "i64"}, "g": {"T": "i64"}, "x": {"T": "f64", "nan": False}}
    return dp.lazyframe_domain([dp.series_domain(name, dp.atom_domain(**kind)) for name, kind in kinds.items()])


def _released(measurement: Any, column: str) -> Any:
    def release(value: list[list[float]], n: int) -> list[list[float]]:
        table = pl.LazyFrame(value, schema=SCHEMA, orient="row")
        return [_numbers(measurement(table).collect(), column) for _ in range(n)]

    return release


def _numbers(frame: Any, column: str) -> list[float]:
    ordered = frame.sort("g") if "g" in frame.columns else frame
    return [float(value) for value in ordered[column].fill_null(0)]


def rows(subject: dict[str, Any]) -> Any:
    low, high, by = subject["low"], subject["high"], subject["by"]
    of, ends = pl.col("x"), (low, high)
    if subject["way"] == "bins":
        of, ends = of.cut([(low + high) / 2]).to_physical(), (0, 1)
    total = of.dp.sum(ends, scale=float(max(abs(end) for end in ends) * subject["changed"]))
    empty = pl.LazyFrame(schema=SCHEMA)
    if by:
        keys = {"by": ["g"], "max_length": subject["size"], "max_groups": 1, "invariant": "keys"}
        query, margin = empty.group_by("g").agg(total), dp.polars.Margin(**keys)
    else:
        query, margin = empty.select(total), dp.polars.Margin(max_length=subject["size"])
    measurement = dp.m.make_private_lazyframe(
        dp.with_margin(_domain(), margin), dp.symmetric_distance(), dp.max_divergence(), query
    )
    return _released(measurement, "x"), {"epsilon": measurement.map(subject["changed"])}


def people(subject: dict[str, Any]) -> Any:
    measure = dp.max_divergence() if subject["measure"] == "pure" else dp.zero_concentrated_divergence()
    kept = pl.LazyFrame(schema=SCHEMA).filter(pl.int_range(pl.len()).over("person", "g") < 1)
    kept = kept.filter(pl.struct("g").rank("dense").over("person") < subject["groups"] + 1)
    if subject["redefined"]:
        kept = kept.with_columns(g=pl.lit(0, dtype=pl.Int64))
    scale = float(subject["groups"]) if subject["measure"] == "pure" else float(subject["groups"]) ** 0.5
    counts = kept.group_by("g").agg(dp.len(scale=scale, signed=True))
    keys = [0] if subject["redefined"] else list(range(20))
    query = pl.LazyFrame({"g": keys}).join(counts, on="g", how="left")
    measurement = dp.m.make_private_lazyframe(
        _domain(), dp.symmetric_id_distance(identifier=pl.col("person")), measure, query
    )
    claim = measurement.map(1)
    return _released(measurement, "len"), {"epsilon" if subject["measure"] == "pure" else "rho": claim}


BUILDERS = {
    "laplace": laplace,
    "gaussian": gaussian,
    "geometric": geometric,
    "response": response,
    "choice": choice,
    "rows": rows,
    "people": people,
}
