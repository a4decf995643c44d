"""Two servers that verify and add up reports of Prio3, each in a process of its own."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Reports of Prio3 (draft-irtf-cfrg-vdaf-18) made beforehand; leader and helper are two processes that exchange verifier
shares and messages of 500 reports at a time over a pipe, add up what is accepted, and compare the sum with the truth.
Time is for one report, from the first message to both aggregate shares. One report in a hundred is damaged and refused.
"""
"""What the page of documentation says above this room's table."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [
        _case("Prio3 histogram of 20 bins, two processes", "histogram", 1_000),
        _case("the same, 1,000 bins", "long_histogram", 50),
        _case("Prio3 sum of numbers up to 1,000, two processes", "summing", 1_000),
        _case("Prio3 count, two processes", "counting", 1_000),
    ]


def _case(what: str, function: str, least: float) -> Case:
    return Case(what, Call("sordino_prio3", function), None, reports_a_second(least), repeats=3)


def reports_a_second(least: float) -> Bar:
    """At least so many reports each second, and the right sum."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        rate = 1 / ours.seconds
        passed = rate >= least and ours.values["wrong"] == 0
        return Verdict(f"{rate:,.0f} reports/s", f"≥ {least:,.0f} reports/s, the right sum", passed)

    return judge
