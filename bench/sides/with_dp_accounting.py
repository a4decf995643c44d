"""Google's dp_accounting: privacy loss distributions with its default discretisation, pessimistic."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import dp_accounting
import numpy as np
from dp_accounting import pld


def versions() -> dict[str, str]:
    return {"dp_accounting": version("dp-accounting"), "numpy": np.__version__}


def _warm_up() -> None:
    accountant = pld.PLDAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(3.0), 2)
    accountant.get_epsilon(1e-3)


def training_run(noise: float, rate: float, steps: int, delta: float) -> tuple[float, int, dict[str, Any]]:
    _warm_up()
    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(noise))
    started = perf_counter()
    accountant = pld.PLDAccountant()
    accountant.compose(event, steps)
    epsilon = accountant.get_epsilon(delta)
    return perf_counter() - started, 1, {"value": epsilon}


def many_events(scales: list[list[Any]], delta: float) -> tuple[float, int, dict[str, Any]]:
    _warm_up()
    kinds = {"laplace": dp_accounting.LaplaceDpEvent, "gaussian": dp_accounting.GaussianDpEvent}
    events = [kinds[kind](scale) for kind, scale in scales]
    started = perf_counter()
    accountant = pld.PLDAccountant()
    for event in events:
        accountant.compose(event)
    epsilon = accountant.get_epsilon(delta)
    return perf_counter() - started, 1, {"value": epsilon}
