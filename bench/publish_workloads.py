"""Ranges, boxes, strategies and marginals: how far off publications are, against what papers do."""

from __future__ import annotations

import math

from measure import Bar, Call, Case, Measured, Verdict
from workload_data import MISSING as MISSING
from workload_data import are_there

NOTES = """\
Root mean square errors over 2,000 ranges of 4,096 cells and 1,000 boxes of 256 × 256, pure ε, as shares of all rows, on
the histograms of DPBench; means of 12 runs. Peers are written from their papers in `bench/sides`. The trees among them
are held against the average variance that Qardaji, Yang and Li print (2013), within 5 %; the likeness of DAWA and
PrivTree are not held against a published figure. HB is without its root. Strategies are judged by their expected error
against the singular-value bound, which no strategy beats; marginals against ResidualPlanner's closed form.
"""
"""What the page of documentation says above this room's table."""

OURS, THEIRS = "sordino_workloads", "workload_peers"
MOST = {0.1: 1.1, 0.01: 1.25}


def cases() -> list[Case]:
    """Return the cases of this room; none where the histograms are missing."""
    if not are_there():
        return []
    found = [
        Case("the trees of papers as printed", Call(THEIRS, "published", {"runs": 4000}), None, _printed, repeats=1)
    ]
    for epsilon, most in MOST.items():
        asked = {"epsilon": epsilon, "runs": 12}
        calls = Call(OURS, "ranges", asked), Call(THEIRS, "ranges", asked)
        found.append(Case(f"2,000 ranges, ε = {epsilon}", *calls, ranges(most), repeats=1))
    for method in ("hierarchy", "quadtree"):
        asked = {"epsilon": 0.1, "runs": 12}
        calls = Call(OURS, "boxes", {**asked, "method": method}), Call(THEIRS, "boxes", asked)
        found.append(Case(f"1,000 boxes, ε = 0.1, {method}", *calls, boxes, repeats=1))
    for kind in ("ranges", "prefixes"):
        call = Call(OURS, "strategy", {"kind": kind, "cells": 1024})
        found.append(Case(f"all {kind} of 1,024 cells", call, None, strategy, repeats=1, fresh=True))
    found.append(Case("all pairs of Adult", Call(OURS, "pairs"), Call(THEIRS, "pairs"), pairs, repeats=1))
    return found


def ranges(most: float) -> Bar:
    """In every set at most so many times the best peer; over all sets 0.7 times HB by geometric mean."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        shares, against = {}, []
        for name, error in ours.values.items():
            others = {method: value for method, value in theirs.values.items() if method.startswith(f"{name} ")}
            best = min(others, key=lambda each: others[each])
            shares[name] = (error / others[best], best.removeprefix(f"{name} "))
            against.append(error / others[f"{name} HB"])
        mean = math.exp(sum(map(math.log, against)) / len(against))
        figure = ", ".join(f"{name} {share:.2f} × {best}" for name, (share, best) in shares.items())
        kept = max(share for share, _ in shares.values()) <= most and mean <= 0.7
        return Verdict(f"{figure}; {mean:.2f} × HB", f"≤ {most} × the best in every set; mean ≤ 0.7 × HB", kept)

    return judge


def boxes(ours: Measured, theirs: Measured | None) -> Verdict:
    """In every set at most 0.55 times the better of two, and 0.95 times PrivTree."""
    assert theirs is not None
    worst, trees, figures = 0.0, 0.0, []
    for name, error in ours.values.items():
        simple = error / min(theirs.values[f"{name} {each}"] for each in ("uniform grid", "quadtree"))
        private = error / theirs.values[f"{name} PrivTree"]
        worst, trees = max(worst, simple), max(trees, private)
        figures.append(f"{name} {simple:.2f} ×, {private:.2f} × PrivTree")
    bar = "≤ 0.55 × the better of uniform grid and quadtree, ≤ 0.95 × PrivTree"
    return Verdict("; ".join(figures), bar, worst <= 0.55 and trees <= 0.95)


def strategy(ours: Measured, _theirs: Measured | None) -> Verdict:
    """At most 1.03 times the bound, in a minute."""
    ratio = ours.values["ratio"]
    figure = f"{ratio:.4f} × the singular-value bound, {ours.seconds:.0f} s"
    return Verdict(figure, "≤ 1.03 ×, ≤ 60 s", ratio <= 1.03 and ours.seconds <= 60)


def pairs(ours: Measured, theirs: Measured | None) -> Verdict:
    """At most 1.01 times ResidualPlanner."""
    assert theirs is not None
    ratio = ours.values["error"] / theirs.values["error"]
    figure = f"{ratio:.5f} × ResidualPlanner (± {ours.values['error']:.2f} at ρ = 1/2)"
    return Verdict(figure, "≤ 1.01 ×", ratio <= 1.01)


def _printed(ours: Measured, _theirs: Measured | None) -> Verdict:
    figure = ", ".join(f"{name} cells {ratio:.3f} ×" for name, ratio in ours.values.items())
    return Verdict(figure, "within 5 %", all(abs(ratio - 1) <= 0.05 for ratio in ours.values.values()))
