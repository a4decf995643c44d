"""Prices against outcomes: how far off publications are, against what was said beforehand."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Made-up people, rows or graphs, each publication over and over. Where the error does not depend on the data, what is
seen is divided by what the price said: root mean squares, or the 95 % quantile of distances where the price is half the
width of a 95 % interval. Where it does, the price is an upper bound, and the share of runs within it is told. A
hierarchy's prices are held against its outcome in the room of hierarchies, allele frequencies in that of genomes too;
prices that say *not known beforehand* are no prices.
"""
"""What the page of documentation says above this room's table."""

SIDE = "sordino_prices"
FIXED = (
    "ranges, pure ε",
    "ranges, ρ",
    "prefixes, ρ",
    "marginals, ρ",
    "map by hierarchy, a cell",
    "map by grid, a cell",
    "mobility, a cell",
    "mobility, a change",
    "edges",
    "degrees",
    "allele frequencies",
    "sums of alleles",
    "answers, counted",
    "synthetic rows, a column as measured",
)
BOUNDS = ("triangles", "stars", "top sites, scores", "answers, by the model", "map by quadtree, the total")


def cases() -> list[Case]:
    """Return the cases of this room."""
    fixed = [_case(name, _near) for name in FIXED]
    return [*fixed, *(_case(name, _above) for name in BOUNDS)]


def _case(name: str, bar: Bar) -> Case:
    return Case(name, Call(SIDE, "outcome", {"name": name}), None, bar, repeats=1)


def _near(ours: Measured, _: Measured | None) -> Verdict:
    ratio = ours.values["ratio"]
    return Verdict(f"{ratio:.3f} × the price, {ours.values['runs']:.0f} runs", "within 10 %", abs(ratio - 1) <= 0.1)


def _above(ours: Measured, _: Measured | None) -> Verdict:
    within = ours.values["within"]
    return Verdict(f"{within:.1%} of {ours.values['runs']:.0f} runs within", "≥ 95 %", within >= 0.95)
