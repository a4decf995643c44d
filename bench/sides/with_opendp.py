"""OpenDP: exact samplers. Its vector form on a NumPy array is its fastest for each sample, so that is what is timed."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
import opendp.prelude as dp

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
