"""sordino's hierarchies of the block groups of the United States: errors, coverage, time, memory."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from importlib.metadata import version
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa

import sordino as so
from place_data import LEVELS, SHAPE, places
from sordino.publish.hierarchies.contrasts import summed
from sordino.publish.hierarchies.integers import whole_tables
from sordino.publish.hierarchies.release import PlaceTables
from sordino.publish.publication import Running, untold

RHO = "2.56"
QUERIES = {"total": [], "sex by age": ["sex", "age"], "race": ["race"], "cells": ["sex", "age", "race"]}
BY_LEVEL = dict(zip(LEVELS, (1440, 447, 687, 1256), strict=True))
BY_QUERY = dict(zip(QUERIES, (1, 2, 2, 5), strict=True))
SHARES = {level: {query: share * part for query, part in BY_QUERY.items()} for level, share in BY_LEVEL.items()}
COLUMNS = {name: so.keys(range(size)) for name, size in zip(("sex", "age", "race"), SHAPE, strict=True)}
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


def country() -> Timing:
    """Noise, estimates, whole tables and files of the whole country, from counts: the design's own steps, in order."""
    found = places(whole_country=True)
    nobody = pa.table({"block_group": ["-"], "sex": [0], "age": [0], "race": [0]})
    asked = _asked(nobody, found.codes, so.unlimited("the public figures of a census"))
    plan = asked.plan(rho=RHO)
    design, leaves = plan.design, found.cells
    started, processor = perf_counter(), process_time()
    measurements = design.measure(Running(asked.data, plan, untold), leaves)
    tree = design.recipe.tree
    whole = whole_tables(design.solver.estimates(measurements), tree.first_children)[-1]
    made = PlaceTables(
        plan, None, tree, design.cells, dict(design.recipe.queries), design.sigmas, tuple(measurements), whole
    )
    _ = made.manifest
    seconds, processor = perf_counter() - started, process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    errors = _errors(made, leaves)
    covered = [each["covered"] for each in errors.values()]
    below = {name: each for name, each in errors.items() if name[0] > 0}
    values = {
        "unbiased": max(each["unbiased"] for each in errors.values()),
        "whole": max(each["whole"] for each in below.values()),
        "totals": max(each["whole"] for (_, query), each in below.items() if query == "total"),
        "least covered": min(share for share, (level, _) in zip(covered, errors, strict=True) if level),
        "most covered": max(share for share, (level, _) in zip(covered, errors, strict=True) if level),
        "sums off": _sums_off(made),
        "processor seconds": processor,
        "memory": memory,
        **{f"{LEVELS[level]} {query} {kind}": each[kind] for (level, query), each in errors.items() for kind in each},
    }
    return seconds, 1, values


def state(runs: int) -> Timing:
    """The whole recipe on Rhode Island: rows, an account, the engine, the release."""
    found = places(whole_country=False)
    place, cell = np.nonzero(found.cells)
    times = found.cells[place, cell]
    index = np.unravel_index(np.repeat(cell, times), SHAPE)
    codes = pa.array(found.codes["block_group"]).take(pa.array(np.repeat(place, times)))
    people = pa.table({"block_group": codes, **dict(zip(COLUMNS, index, strict=True))})
    asked = _asked(people, found.codes, so.budget(rho=100))
    variances = {
        (level, query): asked.plan(rho=RHO).design.solver.variances_of(level, columns).mean()
        for level in range(len(LEVELS))
        for query, columns in asked.recipe.queries
    }
    seconds, errors, off = 0.0, [], 0.0
    for _ in range(runs):
        started = perf_counter()
        made = asked.run(rho=RHO)
        _ = made.manifest
        seconds += perf_counter() - started
        errors.append(_errors(made, found.cells))
        off += _sums_off(made)
    kept = [name for name in errors[0] if name[0] > 1]  # one state and five counties are too few for a mean of squares
    ratios = [np.sqrt(np.mean([each[name]["off"] ** 2 for each in errors]) / variances[name]) for name in kept]
    values = {
        "least of price": float(min(ratios)),
        "most of price": float(max(ratios)),
        "whole": float(max(np.sqrt(np.mean([each[name]["whole"] ** 2 for each in errors])) for name in kept)),
        "covered": float(np.mean([each[name]["covered"] for each in errors for name in kept])),
        "sums off": off,
    }
    return seconds, runs, values


def _asked(people: pa.Table, codes: Mapping[str, list[str]], budget: Any) -> Any:
    columns = {**COLUMNS, "block_group": so.column(kind="text")}
    data = so.dataset("people", people, unit=so.ROW, columns=columns)
    tree = so.publish.tree(dict(codes), LEVELS)
    return so.publish.hierarchy(so.account(data, budget), tree, queries=QUERIES, shares=SHARES)


def _errors(made: PlaceTables, leaves: np.ndarray) -> dict[tuple[int, str], dict[str, float]]:
    """Return, for each level and query, errors as multiples of the query's own noise, and what intervals cover."""
    found = {}
    for level, exact in enumerate(made.tree.summed(leaves)):
        for query, columns in made.queries.items():
            truth = summed(exact, SHAPE, columns)
            off = made.estimated(level, columns) - truth
            noise = np.sqrt(made.solver.noise[level][columns])
            whole = summed(made.integers[level], SHAPE, columns) - truth
            found[level, query] = {
                "off": float(np.sqrt(np.mean(off**2))),
                "unbiased": float(np.sqrt(np.mean(off**2)) / noise),
                "whole": float(np.sqrt(np.mean(whole.astype(float) ** 2)) / noise),
                "covered": float(np.mean(np.abs(off) <= made.widths(level, columns, 0.95)[:, None])),
            }
    return found


def _sums_off(made: PlaceTables) -> float:
    """Return how many whole numbers are negative, or are not the sums of what is below; by another way than ours."""
    wrong = 0
    again = whole_tables(made.estimates, made.tree.first_children)
    for above, below, parents in zip(again, again[1:], made.tree.parents, strict=False):
        sums = np.zeros_like(above)
        np.add.at(sums, np.asarray(parents), below)
        wrong += int((sums != above).sum() + (below < 0).sum())
    wrong += int((again[-1] != made.leaves).sum())
    return float(wrong)
