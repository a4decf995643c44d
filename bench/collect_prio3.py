"""Two servers that verify and add up reports of Prio3, each in a process of its own."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Reports of Prio3 (draft-irtf-cfrg-vdaf-18) made beforehand; leader and helper are two processes that exchange verifier
shares and messages of 500 reports at a time over a pipe, add up what is accepted, and compare the sum with the truth.
Time is for one report, from the first message to both aggregate shares. One report in a hundred is damaged and refused.
Errors: 20 bins at ε = 1, 2,000 collections whose two servers each add their noise, root mean square of all bins; the
central one is a draw of the same mechanism by one curator, the local one that of the way that `frequency` chooses, of
10⁵ people in 20 rounds. The draft's vectors are a test's affair.
"""
"""What the page of documentation says above this room's table."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [
        _case("Prio3 histogram of 20 bins, two processes", "histogram", 1_000),
        _case("the same, 1,000 bins", "long_histogram", 50),
        _case("Prio3 sum of numbers up to 1,000, two processes", "summing", 1_000),
        _case("Prio3 count, two processes", "counting", 1_000),
        Case("error of 20 bins, ε = 1, 10⁵ people", Call("sordino_prio3", "errors"), None, _near_central, repeats=1),
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


def _near_central(ours: Measured, _theirs: Measured | None) -> Verdict:
    seen = ours.values
    central, local = seen["servers"] / seen["central"], seen["local"] / seen["servers"]
    figure = f"{seen['servers']:.2f}: {central:.3f} × central, 1/{local:.0f} of local"
    return Verdict(figure, "≤ 1.5 × central, ≤ 1/100 of local", central <= 1.5 and local >= 100)
