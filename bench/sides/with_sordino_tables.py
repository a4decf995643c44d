"""sordino's synthetic tables: distances of rows on coded Adult; models trained on synthetic rows of raw Adult."""

from __future__ import annotations

import resource
from importlib.metadata import version
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa

import sordino as so

from . import adult

Timing = tuple[float, int, dict[str, Any]]
MARRIED = ["Married-civ-spouse", "Married-spouse-absent", "Married-AF-spouse"]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


def _job(name: str, table: pa.Table, columns: dict[str, Any], **words: Any) -> Any:
    data = so.dataset(name, table, unit=so.ROW, columns=columns)
    return so.publish.synthetic(so.account(data, so.unlimited("a benchmark")), list(columns), **words)


def coded(method: str, epsilon: str, delta: str, runs: int) -> Timing:
    """Publish the 14 coded columns `runs` times, and say how far rows are from the data, on average."""
    names, sizes, rows = adult.coded()
    table = pa.table({name: rows[:, place] for place, name in enumerate(names)})
    columns = {name: so.keys(range(size)) for name, size in zip(names, sizes, strict=True)}
    found, seconds, busy = [], 0.0, 0.0
    for _ in range(runs):
        job = _job("adult", table, columns, method=method)
        started, before = perf_counter(), process_time()
        made = job.run(epsilon=epsilon, delta=delta)
        seconds, busy = seconds + perf_counter() - started, busy + process_time() - before
        synthetic = np.stack([np.asarray(made.rows().to_arrow()[name]) for name in names], axis=1)
        found.append(adult.distances(sizes, rows, synthetic))
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    return seconds, runs, {**mean, "busy": busy / runs, "gibibytes": gibibytes}


def trained(epsilon: str, delta: str) -> Timing:
    """Publish raw Adult with bounds for numbers alone, and train boosted trees on synthetic rows and on real ones."""
    train, test = adult.raw("adult.data"), adult.raw("adult.test")
    columns = {
        name: so.bounds(*adult.NUMBERS[name], nullable=False)
        if name in adult.NUMBERS
        else so.keys(sorted({*train[name], *test[name]}))
        for name in adult.NAMES
    }
    zeros = [so.publish.never(age=range(15), marital=MARRIED), so.publish.determines("education", "education_num")]
    job = _job("adult_raw", pa.table(train), columns, zeros=zeros)
    started = perf_counter()
    made = job.run(epsilon=epsilon, delta=delta)
    seconds = perf_counter() - started
    synthetic = made.rows().to_arrow().to_pydict()
    keys = {name: {key: at for at, key in enumerate(said.keys)} for name, said in columns.items() if said.keys}
    kept = not any(
        age < 15 and married in MARRIED for age, married in zip(synthetic["age"], synthetic["marital"], strict=True)
    )
    pairs = set(zip(synthetic["education"], synthetic["education_num"], strict=True))
    kept = kept and len(pairs) == len(set(synthetic["education"]))
    real, ours = (_area(keys, each, test) for each in (train, synthetic))
    return seconds, 1, {"real": real, "synthetic": ours, "kept": float(kept)}


def _area(keys: dict[str, Any], train: dict[str, list[Any]], test: dict[str, list[Any]]) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    def features(rows: dict[str, list[Any]]) -> Any:
        found = [
            [keys[name][value] for value in rows[name]] if name in keys else rows[name] for name in adult.NAMES[:-1]
        ]
        return np.array(found, dtype=float).T

    def answers(rows: dict[str, list[Any]]) -> Any:
        return np.array([value == ">50K" for value in rows["income"]])

    model = HistGradientBoostingClassifier(random_state=0).fit(features(train), answers(train))
    return float(roc_auc_score(answers(test), model.predict_proba(features(test))[:, 1]))
