"""Mechanisms: one scalar release on a mechanism that is already built, with its grant, against OpenDP."""

from __future__ import annotations

from measure import Call, Case, at_most_seconds, at_most_times, information

RELEASES = 2_000


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = []
    for law in ("laplace", "gaussian"):
        ours = Call("sordino", f"one_{law}", {"scale": 10, "releases": RELEASES})
        theirs = Call("opendp", f"one_{law}", {"scale": 10.0, "releases": RELEASES})
        found.append(Case(f"one {law} release", ours, theirs, at_most_seconds(20e-6)))
        found.append(Case(f"one {law} release, ratio", ours, theirs, at_most_times(1)))
    whole_way = Call("sordino", "one_laplace_with_reservation", {"scale": 10, "releases": RELEASES})
    found.append(Case("one laplace release, reservation included", whole_way, None, information))
    return found
