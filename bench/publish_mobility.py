"""Mobility reports: whether intervals cover, whether what is shown is right, and how far off beside Laplace noise."""

from __future__ import annotations

import os
from pathlib import Path

from measure import Bar, Call, Case, Measured, Verdict

DATA = Path(os.environ.get("SORDINO_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data")) / "mobility"
SERIES = DATA / "owid_google_mobility_2020.csv"
MISSING = "as the daily series are not there: set SORDINO_BENCH_DATA to the folder that has mobility/"
NOTES = """\
50,000 simulated people in 60 regions of unequal size over 90 days, of which the first 28 are the baseline; after it
each region follows the daily series of one country in the spring of 2020 (retail and recreation, Google's Community
Mobility Reports by Our World in Data). A person is in the home region on a day or not, now and then in another one, and
counts in at most 90 cells; the unit is the person, ε = 1, δ = 1e-6, as charged. Truth is the change of the exact counts
of the same cells. Laplace noise in each cell, at pure ε = 1 and with the same limit, is what the reports of 2020 added.
"""
"""What the page of documentation says above this room's table."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    if not SERIES.exists():
        return []
    call = Call("sordino_mobility", "reports", {"series": str(SERIES), "runs": 3})
    return [
        Case("intervals of changes, 95 %", call, None, covered(0.94), repeats=1),
        Case("cells that are shown", call, None, shown(0.95), repeats=1),
        Case("root mean square error of counts", call, None, closer(0.4), repeats=1),
    ]


def covered(least: float) -> Bar:
    """Intervals cover the truth in at least this share of all cells."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        return Verdict(
            f"cover {seen['covered']:.1%} of {seen['cells']:,.0f}", f"≥ {least:.0%}", seen["covered"] >= least
        )

    return judge


def shown(least: float) -> Bar:
    """Of the cells that are shown at least this share is within ten points."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = f"{seen['shown']:.0%} of cells shown, {seen['within']:.1%} of them within 10 points"
        return Verdict(figure, f"≥ {least:.0%} of those", seen["within"] >= least)

    return judge


def closer(most: float) -> Bar:
    """The error of counts is at most this part of that of Laplace noise in each cell."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        ratio = seen["error"] / seen["laplace"]
        figure = f"{seen['error']:.0f} : {seen['laplace']:.0f} people = {ratio:.2f}"
        return Verdict(figure, f"≤ {most:g} × Laplace", ratio <= most)

    return judge
