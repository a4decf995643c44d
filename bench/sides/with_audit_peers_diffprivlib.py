"""diffprivlib as it is, drawn from for an audit: mechanisms, tools and a model, each at the ε that it was given."""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from diffprivlib import mechanisms, models, tools

warnings.filterwarnings("ignore")

EPSILON, DELTA = 1.0, 1e-5


def versions() -> dict[str, str]:
    return {"diffprivlib": version("diffprivlib")}


def describe(subject: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
    if subject["kind"] not in BUILDERS:
        return 0.0, 1, {"refused": "it has no such query"}
    return 0.0, 1, _built(json.dumps(subject))[1]


def draw(subject: dict[str, Any], value: Any, draws: int) -> tuple[float, int, dict[str, Any]]:
    release, _ = _built(json.dumps(subject))
    started = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = [release(value) for _ in range(draws)]
    return perf_counter() - started, draws, {"outputs": outputs}


@lru_cache(maxsize=4)
def _built(text: str) -> tuple[Any, dict[str, Any]]:
    subject = json.loads(text)
    return BUILDERS[subject["kind"]](subject)


def laplace(_subject: Any) -> Any:
    mechanism = mechanisms.Laplace(epsilon=EPSILON, sensitivity=1)
    return lambda value: float(mechanism.randomise(float(value))), {"epsilon": EPSILON}


def gaussian(_subject: Any) -> Any:
    mechanism = mechanisms.GaussianAnalytic(epsilon=EPSILON, delta=DELTA, sensitivity=1)
    return lambda value: float(mechanism.randomise(float(value))), {"epsilon": EPSILON, "delta": DELTA}


def geometric(_subject: Any) -> Any:
    mechanism = mechanisms.Geometric(epsilon=EPSILON, sensitivity=1)
    return lambda value: int(mechanism.randomise(value)), {"epsilon": EPSILON}


def response(_subject: Any) -> Any:
    mechanism = mechanisms.Binary(epsilon=EPSILON, value0="0", value1="1")
    return lambda value: int(mechanism.randomise(str(value))), {"epsilon": EPSILON}


def choice(_subject: Any) -> Any:
    def release(value: list[float]) -> int:
        return int(mechanisms.Exponential(epsilon=EPSILON, sensitivity=1, utility=value).randomise())

    return release, {"epsilon": EPSILON}


def _tool(function: Any) -> Any:
    def build(subject: dict[str, Any]) -> Any:
        bounds = {"bounds": (subject["low"], 1.0)} if subject["given"] else {}
        return lambda value: float(function(np.array(value), epsilon=EPSILON, **bounds)), {"epsilon": EPSILON}

    return build


def regression(subject: dict[str, Any]) -> Any:
    bounds = {"bounds_X": (subject["low"], 1.0), "bounds_y": (0.0, 1.0)}

    def release(value: list[list[float]]) -> float:
        model = models.LinearRegression(epsilon=EPSILON, fit_intercept=False, **bounds)
        data = np.array(value)
        model.fit(data[:, :1], data[:, 1])
        return float(np.ravel(model.coef_)[0])

    return release, {"epsilon": EPSILON}


BUILDERS = {
    "laplace": laplace,
    "gaussian": gaussian,
    "geometric": geometric,
    "response": response,
    "choice": choice,
    "sum": _tool(tools.sum),
    "mean": _tool(tools.mean),
    "regression": regression,
}
