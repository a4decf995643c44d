"""Leaks where nobody looks, and honest mechanisms of the same forms: what is caught, and how close the bounds come."""

from __future__ import annotations

from audit_bars import caught_and_close
from measure import Call, Case

NOTES = """\
Thirty mechanisms that break their claim where nobody looks, by kinds, and twenty of the same forms that keep it
(`tests/audit/hidden_leaks.py`, `honest_outputs.py`). Each is audited with five seeds at the default draws, 200,000 a
side; *caught* are those of which the claim was refuted with every seed, with a chance of a false accusation of one in
a million each. The bounds on ε hold with 99 %, medians of the seeds; the ratio is ours over those of *classifier_test*
at the same δ, the least of the row: a logistic regression on the numbers of an output, trained on half of the draws,
its best cut (three probabilities, both directions, all pairs) measured on the other half, in the style of DP-Sniper
(Bichsel, Steffen, Bogunovic, Vechev 2021). Bounds of the peer's below 0.05 are none, and have no ratio.
"""
"""What the page of documentation says above this room's table."""

SEEDS = 5
LEAKS = {
    "weak columns": 6,
    "two-sided tails": 4,
    "far down a list": 3,
    "dictionaries": 3,
    "decimals": 2,
    "texts": 3,
    "long whole numbers": 3,
    "floats": 3,
    "neighbours": 3,
}
HONEST = {"honest": 20}


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [
        Case(
            f"{many} honest mechanisms" if kind in HONEST else f"leaks: {kind}, {many}",
            Call("sordino_hidden", "measured", {"kind": kind, "seeds": SEEDS}),
            Call("classifier_test", "measured", {"kind": kind, "seeds": SEEDS}),
            caught_and_close(0 if kind in HONEST else many, SEEDS, 0.9),
            repeats=1,
            fresh=True,
        )
        for kind, many in {**LEAKS, **HONEST}.items()
    ]
