"""Graphs: triangles where edges or nodes are protected, and degrees in order, against exact answers."""

from __future__ import annotations

from measure import Call, Case, Measured, Verdict
from publication_data import GRAPHS

NOTES = """\
Triangles of SNAP's facebook graph (4,039 nodes, 88,234 edges, 1,612,010 triangles), pure ε = 1. The exact count and its
local sensitivities, or the capped counts, are computed once; choice and noise are drawn 1,000 times. Where nodes are
protected, caps are the powers of two from 16,384 to 8,388,608, which is what is tried unless caps are said; the row
from 8,192 shows that a cap too many at the low end is chosen too often. Degrees: root mean square errors of the fitted
sequence over those of the noisy one.
"""
"""What the page of documentation says above this room's table."""

MISSING = "as the graphs are not there: set SORDINO_BENCH_DATA to the folder that has graphs/facebook_combined.txt"
SIDE = "sordino_graphs"
NAMES = ("facebook_combined", "ca-GrQc", "ca-HepTh", "as20graph")


def cases() -> list[Case]:
    """Return the cases of this room; none where the graphs are missing."""
    if not (GRAPHS / "facebook_combined.txt").exists():
        return []
    by_edge = Call(SIDE, "triangles_by_edge", {"epsilon": "1", "runs": 1000})
    found = [Case("facebook triangles, edges protected", by_edge, None, _within(0.00035), repeats=1, fresh=True)]
    for least in (2**14, 2**13):
        asked = {"epsilon": "1", "runs": 1000, "least": least, "most": 2**23}
        call = Call(SIDE, "triangles_by_node", asked)
        what = f"facebook triangles, nodes protected, caps from {least:,}"
        bar = _within(0.03) if least == 2**14 else _seen
        found.append(Case(what, call, None, bar, repeats=1, fresh=True))
    for name in NAMES:
        for epsilon in ("0.5", "1"):
            call = Call(SIDE, "degree_errors", {"graph": name, "epsilon": epsilon, "runs": 20})
            found.append(Case(f"degrees of {name}, ε = {epsilon}", call, None, _fitted, repeats=1, fresh=True))
    return found


def _within(limit: float):
    def judge(ours: Measured, _: Measured | None) -> Verdict:
        median = ours.values["median"]
        cap = f", cap {ours.values['cap']:,.0f}" if "cap" in ours.values else ""
        return Verdict(f"median {100 * median:.3g} %{cap}", f"≤ {100 * limit:g} %", median <= limit)

    return judge


def _seen(ours: Measured, _: Measured | None) -> Verdict:
    return Verdict(f"median {100 * ours.values['median']:.3g} %, cap {ours.values['cap']:,.0f}", "", passed=True)


def _fitted(ours: Measured, _: Measured | None) -> Verdict:
    ratio, covered = ours.values["ratio"], ours.values["covered"]
    figure = f"{ratio:.3f} × the noisy ones, {100 * covered:.1f} % covered"
    return Verdict(figure, "≤ 0.3 ×, 95 % or more", ratio <= 0.3 and covered >= 0.95)
