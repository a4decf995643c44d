"""Time: whether how long a run takes tells one person's presence. Looked at only when asked, on quiet machines.

Times of both services are taken in turns, each of them first every other time, so that whatever else the machine does
weighs on both alike. Two processes may differ for other reasons than their data: exchange the data, and compare again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .finding import Notebook, Probed
from .line import Line

_ENOUGH = 1e-6


def compare_times(lines: tuple[Line, Line], asked: Mapping[str, Any], draws: int) -> Probed:
    """Compare the times of so many runs by the two-sample test of Mann and Whitney."""
    from scipy.stats import mannwhitneyu

    note = Notebook("time")
    here: list[float] = []
    there: list[float] = []
    for turn in range(draws):
        both = list(zip(lines, (here, there), strict=True))
        for line, times in both[:: -1 if turn % 2 else 1]:
            times.append(line.run(asked).seconds)
    found = float(mannwhitneyu(here, there).pvalue)
    words = f"over {draws} runs each the times of one service rank above the other's"
    note.check(
        found > _ENOUGH, "time depends on one person", words, f"POST /api/v1/query/run {dict(asked)}", chance=found
    )
    return note.probed()
