"""SmartNoise SQL as it is, drawn from for an audit: counts, sums and means by group.

It adds noise to every group by itself, so a table that stands once in each of n groups, with people of its own in each,
gives n independent answers in one query. A claim is what its own `get_privacy_cost` says.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from time import perf_counter
from typing import Any

import pandas as pd

warnings.filterwarnings("ignore")
from snsql import Privacy, from_df  # noqa: E402

QUERIES = {"count": "COUNT(*)", "sum": "SUM(x)", "mean": "AVG(x)"}
MOST_GROUPS = 2_000


def versions() -> dict[str, str]:
    return {"smartnoise-sql": version("smartnoise-sql")}


def describe(subject: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
    epsilon, delta = _reader(subject, [[0, 0, 1.0]], 1).get_privacy_cost(_query(subject))
    return 0.0, 1, {"epsilon": float(epsilon), "delta": float(delta)}


def draw(subject: dict[str, Any], value: list[list[float]], draws: int) -> tuple[float, int, dict[str, Any]]:
    started = perf_counter()
    outputs: list[float | None] = []
    while len(outputs) < draws:
        groups = min(draws - len(outputs), MOST_GROUPS)
        answered = dict(_reader(subject, value, groups).execute(_query(subject))[1:])
        outputs += [None if answered.get(group) is None else float(answered[group]) for group in range(groups)]
    return perf_counter() - started, draws, {"outputs": outputs}


def _query(subject: dict[str, Any]) -> str:
    return f"SELECT g, {QUERIES[subject['what']]} AS answer FROM bench.t GROUP BY g"  # noqa: S608


def _reader(subject: dict[str, Any], value: list[list[float]], groups: int) -> Any:
    size = len(value)
    rows = [(group * size + place, group, row[2]) for group in range(groups) for place, row in enumerate(value)]
    frame = pd.DataFrame(rows, columns=["person", "g", "x"]).astype({"person": int, "g": int, "x": float})
    table = {
        "max_ids": 1,
        "sample_max_ids": True,
        "censor_dims": False,
        "clamp_counts": False,
        "person": {"type": "int", "private_id": True},
        "g": {"type": "int"},
        "x": {"type": "float", "lower": subject["low"], "upper": 1.0, "nullable": False},
    }
    return from_df(frame, privacy=Privacy(epsilon=1.0, delta=1e-6), metadata={"": {"bench": {"t": table}}})
