"""SmartNoise SQL on a pandas frame.

It spends ε on every statistic, so each is given half; COUNT(x) and AVG(x) of a column that is never missing share their
count (COUNT(*) would be paid for on top). Its sums are cheapest when the bounds are symmetric, so fares are centred.
"""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import pandas as pd
from snsql import Privacy, from_df

from .cold import whole_visits
from .scores import visits_scores

QUERY = "SELECT city, COUNT(centred) AS n, AVG(centred) AS fare FROM bench.visits GROUP BY city ORDER BY city"


def versions() -> dict[str, str]:
    return {"smartnoise-sql": version("smartnoise-sql")}


def cold(**arguments: Any) -> tuple[float, int, dict[str, Any]]:
    return whole_visits(__name__, arguments)


def visits(
    path: str, cities: list[str], counts: list[float], means: list[float], epsilon: float, rows: int, repetitions: int
) -> tuple[float, int, dict[str, Any]]:
    frame = pd.read_csv(path)
    frame["centred"] = frame["fare"] - 50
    table = {
        "max_ids": rows,
        "sample_max_ids": True,
        "censor_dims": False,
        "clamp_counts": False,
        "user": {"type": "int", "private_id": True},
        "city": {"type": "string"},
        "centred": {"type": "float", "lower": -50.0, "upper": 50.0, "nullable": False},
    }
    privacy = Privacy(epsilon=epsilon / 2, delta=1e-9)
    reader = from_df(frame, privacy=privacy, metadata={"": {"bench": {"visits": table}}})
    assert abs(reader.get_privacy_cost(QUERY)[0] - epsilon) < 1e-9
    answers = []
    started = perf_counter()
    for _ in range(repetitions):
        found = reader.execute(QUERY)[1:]
        assert [city for city, _n, _fare in found] == cities
        answers.append(([n for _city, n, _fare in found], [fare + 50 for _city, _n, fare in found]))
    return perf_counter() - started, repetitions, visits_scores(answers, counts, means)
