"""Against what data is protected, and what an owner allows, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .pages import percent

_NEIGHBOURS = {
    "add-remove": "one of them has all the rows of one {unit} and the other has none of them",
    "replace-one": "the rows of one {unit} are others in each",
    "zero-out": "the rows of one {unit} count as nothing in one of them",
}


def neighbour_words(neighbours: str, unit: str) -> str:
    """Say which two versions of the data must look alike."""
    return _NEIGHBOURS[neighbours].format(unit=unit)


def policy_words(policy: Mapping[str, Any]) -> list[str]:
    """Say what an owner allows for one release."""
    least, most = Fraction(policy["least"]), Fraction(policy["most"])
    said = []
    if most < 1:
        said.append(f"One release may cost at most {percent(float(most))} of the budget.")
    if least > 0:
        said.append(
            f"One release must cost at least {percent(float(least))} of the budget: less would be mostly noise."
        )
    if policy["approval"] is not None:
        said.append(
            f"Above {percent(float(Fraction(policy['approval'])))} of the budget, the owner must approve first."
        )
    if policy["pause"]:
        said.append(f"Between two releases, one analyst waits {_duration(policy['pause'])}.")
    if policy["degrade"]:
        said.append("A question that no longer fits is answered with the noise that does, and says so.")
    return said or ["Whatever the budget holds may be asked for, in one release or in many."]


def _duration(seconds: int) -> str:
    """Say how long something takes.

    >>> _duration(90), _duration(3600), _duration(172800), _duration(1)
    ('90 seconds', '1 hour', '2 days', '1 second')
    """
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds % size == 0:
            count = seconds // size
            return f"{count} {word}" + ("" if count == 1 else "s")
    return f"{seconds} seconds"
