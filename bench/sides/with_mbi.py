"""AIM and MST on mbi's graphical models, from their papers: the package ships the models, and neither mechanism."""

from __future__ import annotations

import itertools
import math
import resource
from importlib.metadata import version
from time import perf_counter, process_time
from typing import Any

import numpy as np
from mbi import Dataset, Domain, LinearMeasurement, estimation, junction_tree

from . import adult

Timing = tuple[float, int, dict[str, Any]]
Clique = tuple[str, ...]
DICE = np.random.default_rng()
STEPS, LAST_STEPS = 1000, 1000
MST_STEPS = 2500, 10_000


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"mbi": version("mbi"), "jax": version("jax")}


def rho_of(epsilon: float, delta: float) -> float:
    """Return the most ρ that is (ε, δ): Canonne, Kamath & Steinke 2020, Proposition 12."""
    alpha = 1 + np.geomspace(1e-3, 1e6, 20_000)

    def delta_of(rho: float) -> float:
        exponent = (alpha - 1) * (alpha * rho - epsilon) + alpha * np.log1p(-1 / alpha) - np.log(alpha - 1)
        return float(np.exp(exponent.min()))

    low, high = 0.0, epsilon + 1
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) <= delta else (low, middle)
    return low


def aim(epsilon: float, delta: float, megabytes: float) -> Timing:
    """Publish coded Adult by AIM, all pairs its workload, and say how far rows and model are from the data."""
    names, sizes, rows = adult.coded()
    data = _dataset(names, sizes, rows)
    started, busy = perf_counter(), process_time()
    model, made = _aim(data, rho_of(epsilon, delta), megabytes)
    told = {"seconds": perf_counter() - started, "busy": process_time() - busy}
    told["gibibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return told["seconds"], 1, told | _distances(names, sizes, rows, made) | {"model": _of_model(data, model)}


def mst(epsilon: float, delta: float) -> Timing:
    """The same by MST, whose rare values are one value each, as its authors have it."""
    names, sizes, rows = adult.coded()
    started, busy = perf_counter(), process_time()
    made = _mst(_dataset(names, sizes, rows), rho_of(epsilon, delta))
    told = {"seconds": perf_counter() - started, "busy": process_time() - busy}
    return told["seconds"], 1, told | _distances(names, sizes, rows, made)


def _dataset(names: list[str], sizes: list[int], rows: Any) -> Dataset:
    return Dataset({name: rows[:, place] for place, name in enumerate(names)}, Domain(names, sizes))


def _distances(names: list[str], sizes: list[int], rows: Any, made: Dataset) -> dict[str, float]:
    return adult.distances(sizes, rows, np.stack([np.asarray(made.data[name], np.int64) for name in names], axis=1))


def _of_model(data: Dataset, model: Any) -> float:
    """Return the mean distance of the model's own pairs."""
    off = []
    for pair in itertools.combinations(data.domain.attributes, 2):
        true, ours = _counts(data, pair), _counts(model, pair)
        off.append(np.abs(true / true.sum() - ours / ours.sum()).sum() / 2)
    return float(np.mean(off))


def _counts(data: Any, clique: Clique) -> Any:
    return np.asarray(data.project(clique).datavector(), dtype=np.float64)


def _measured(data: Dataset, clique: Clique, sigma: float) -> LinearMeasurement:
    exact = _counts(data, clique)
    return LinearMeasurement(exact + DICE.normal(0, sigma, exact.size), clique, sigma)


def _chosen(scores: dict[Clique, float], epsilon: float, sensitivity: float) -> Clique:
    cliques, values = list(scores), np.array(list(scores.values()))
    chances = np.exp(epsilon / (2 * sensitivity) * (values - values.max()))
    return cliques[int(DICE.choice(len(cliques), p=chances / chances.sum()))]


def _aim(data: Dataset, rho: float, megabytes: float) -> tuple[Any, Dataset]:
    """McKenna, Mullins, Sheldon, Miklau 2022, Algorithms 2 to 4, at their defaults."""
    columns, domain, fitter = data.domain.attributes, data.domain, estimation.MirrorDescent()
    pairs = [tuple(each) for each in itertools.combinations(columns, 2)]
    cliques = [(column,) for column in columns] + pairs
    weights = {each: sum(len(set(each) & set(pair)) for pair in pairs) for each in cliques}
    exact = {each: _counts(data, each) for each in cliques}
    rounds = 16 * len(columns)
    sigma, epsilon = math.sqrt(rounds / (2 * 0.9 * rho)), math.sqrt(8 * 0.1 * rho / rounds)
    noisy = [_measured(data, (column,), sigma) for column in columns]
    used, last = len(columns) / (2 * sigma**2), False
    model = fitter.estimate(domain, noisy, iters=STEPS)
    while not last:
        if rho - used < 2 * (1 / (2 * sigma**2) + epsilon**2 / 8):
            left, last = rho - used, True
            sigma, epsilon = math.sqrt(1 / (2 * 0.9 * left)), math.sqrt(8 * 0.1 * left)
        used += epsilon**2 / 8 + 1 / (2 * sigma**2)
        small = [each for each in cliques if _fits(model, domain, each, megabytes * used / rho)]
        beyond = math.sqrt(2 / math.pi) * sigma
        expected = {each: _counts(model, each) for each in small}
        scores = {
            each: weights[each] * (np.abs(exact[each] - expected[each]).sum() - beyond * exact[each].size)
            for each in small
        }
        chosen = _chosen(scores, epsilon, max(weights[each] for each in small))
        noisy.append(_measured(data, chosen, sigma))
        model = fitter.estimate(domain, noisy, iters=STEPS, warm_start=model)
        if np.abs(_counts(model, chosen) - expected[chosen]).sum() <= beyond * exact[chosen].size:
            sigma, epsilon = sigma / 2, epsilon * 2
    model = fitter.estimate(domain, noisy, iters=LAST_STEPS, warm_start=model)
    return model, model.synthetic_data()


def _fits(model: Any, domain: Domain, clique: Clique, megabytes: float) -> bool:
    if any(set(clique) <= set(each) for each in model.cliques):
        return True
    return bool(junction_tree.hypothetical_model_size(domain, [*model.cliques, clique]) <= megabytes)


def _mst(data: Dataset, rho: float) -> Dataset:
    """McKenna, Miklau, Sheldon 2021, Algorithm 2: a third of ρ each for columns, for a tree of pairs, for these."""
    domain, columns = data.domain, list(data.domain.attributes)
    alone = math.sqrt(3 * len(columns) / (2 * rho))
    noisy = {column: _measured(data, (column,), alone) for column in columns}
    kept = {column: np.flatnonzero(np.asarray(each.noisy_measurement) >= 3 * alone) for column, each in noisy.items()}
    coded, sizes, singles = {}, {}, []
    for column in columns:
        number = np.full(domain[column], len(kept[column]))
        number[kept[column]] = np.arange(len(kept[column]))
        coded[column] = number[np.asarray(data.data[column])]
        sizes[column] = int(number.max()) + 1
        counts = np.asarray(noisy[column].noisy_measurement)
        merged = np.bincount(number, counts, sizes[column])
        # What was merged is noisier; weighing all alike by the least noisy would trust it too much, so it is left out.
        if sizes[column] == len(kept[column]):
            singles.append(LinearMeasurement(merged, (column,), alone))
        else:
            singles.append(LinearMeasurement(merged, (column,), alone * math.sqrt(domain[column] - len(kept[column]))))
    small = Dataset(coded, Domain(columns, [sizes[column] for column in columns]))
    fitter = estimation.MirrorDescent()
    model = fitter.estimate(small.domain, singles, iters=MST_STEPS[0])
    tree = _tree(small, model, columns, math.sqrt(8 * rho / 3 / (len(columns) - 1)))
    pairs = [_measured(small, pair, math.sqrt(3 * len(tree) / (2 * rho))) for pair in tree]
    made = fitter.estimate(small.domain, singles + pairs, iters=MST_STEPS[1]).synthetic_data()
    back = {}
    for column in columns:
        rare = np.setdiff1d(np.arange(domain[column]), kept[column])
        found = np.asarray(made.data[column], np.int64)
        padded = np.append(kept[column], [0])
        back[column] = np.where(found < len(kept[column]), padded[np.minimum(found, len(kept[column]))], 0)
        if rare.size:
            absent = found >= len(kept[column])
            back[column][absent] = DICE.choice(rare, int(absent.sum()))
    return Dataset(back, domain)


def _tree(data: Dataset, model: Any, columns: list[str], epsilon: float) -> list[Clique]:
    off = {
        pair: float(np.abs(_counts(data, pair) - _counts(model, pair)).sum())
        for pair in itertools.combinations(columns, 2)
    }
    group, tree = {column: column for column in columns}, list[Clique]()
    for _ in columns[1:]:
        one, other = _chosen({pair: each for pair, each in off.items() if group[pair[0]] != group[pair[1]]}, epsilon, 1)
        into, gone = group[one], group[other]
        group = {column: into if place == gone else place for column, place in group.items()}
        tree.append((one, other))
    return tree
