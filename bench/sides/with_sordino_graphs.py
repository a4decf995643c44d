"""sordino's counts and degrees of graphs, over and over: errors against the exact answers."""

from __future__ import annotations

from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from publication_data import GRAPHS
from sordino.publish.graphs.cap_choice import scores
from sordino.publish.graphs.capped import capped
from sordino.publish.graphs.edge_design import _length
from sordino.publish.graphs.node_design import bound_of
from sordino.publish.graphs.patterns import degrees as held_by
from sordino.publish.graphs.patterns import triangles

Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


def triangles_by_edge(epsilon: str, runs: int) -> Timing:
    """Count facebook's triangles once, release them `runs` times, as so many publications would; time is for one."""
    account = so.account(
        so.publish.graph("friends", GRAPHS / "facebook_combined.txt", unit="edge"), so.unlimited("a bench")
    )
    asked = so.publish.triangles(account)
    started = perf_counter()
    asked.run(epsilon=epsilon)
    seconds = perf_counter() - started
    plan = asked.plan(epsilon=epsilon)
    (count,), (mechanism,) = plan.design.counts, plan.design.mechanisms
    answer = count.answer(account.protected.edges(), _length(count, mechanism))
    event = mechanism.event(count.bound)
    off = [
        abs(mechanism.release(answer, account.account.reserve(event, count.bound)) - answer.value) for _ in range(runs)
    ]
    return seconds, 1, {"median": float(np.median(off)) / answer.value, "triangles": answer.value}


def triangles_by_node(epsilon: str, runs: int, least: int, most: int) -> Timing:
    """Compute capped counts once, choose a cap and add noise `runs` times; time is for one publication."""
    path = GRAPHS / "facebook_combined.txt"
    account = so.account(so.publish.graph("people", path, unit="node", nodes=4039), so.unlimited("a bench"))
    design = so.publish.triangles(account, caps=(least, most)).plan(epsilon=epsilon).design
    (count,) = design.counts
    started = perf_counter()
    edges = account.protected.edges()
    found = triangles(edges.ends, edges.nodes)
    under = [capped(found, edges.nodes, cap) for cap in count.caps]
    seconds = perf_counter() - started
    chooser = design._chooser(count)
    weighed = np.array(scores(count.caps, under, design.choice, design.noise))
    bound, off, chosen = design.bound, [], []
    for _ in range(runs):
        place = chooser.release(weighed, account.account.reserve(chooser.event(bound), bound))
        cap = count.caps[place]
        noise, moved = design._noise(count, cap), bound_of(cap)
        steps = noise.release_steps(under[place], account.account.reserve(noise.event(moved), moved))
        off.append(abs(noise.grid.from_steps(steps) - len(found)) / len(found))
        chosen.append(cap)
    return (
        seconds,
        1,
        {"median": float(np.median(off)), "tail": float(np.quantile(off, 0.9)), "cap": float(np.median(chosen))},
    )


def degree_errors(graph: str, epsilon: str, runs: int) -> Timing:
    """Publish degrees `runs` times; compare fitted and noisy ones, and how often intervals hold the truth."""
    declared = so.publish.graph("friends", GRAPHS / f"{graph}.txt", unit="edge")
    edges = declared.edges()
    truth = np.sort(held_by(edges.ends, edges.nodes))[::-1]
    path = so.publish.graph("friends", GRAPHS / f"{graph}.txt", unit="edge", nodes=_names(declared))
    account = so.account(path, so.unlimited("a bench"))
    fitted, noisy, inside, started = [], [], [], perf_counter()
    for _ in range(runs):
        made = so.publish.degrees(account).run(epsilon=epsilon)
        low, high = made.intervals()
        fitted.append(np.mean((made.fitted - truth) ** 2))
        noisy.append(np.mean((made.noisy - truth) ** 2))
        inside.append(np.mean((truth >= low) & (truth <= high)))
    seconds = perf_counter() - started
    return seconds, runs, {"ratio": float(np.sqrt(np.mean(fitted) / np.mean(noisy))), "covered": float(np.mean(inside))}


def _names(declared: Any) -> list[str]:
    one, other = declared._source.read()
    return sorted({*one.to_pylist(), *other.to_pylist()})
