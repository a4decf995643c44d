"""The details of an answer: what was asked, under which promise, and with which noise. No value is in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.noise import DiscreteLaplace
from sordino.query.estimate.tails import Noise
from sordino.query.model.bounding import Bounding
from sordino.version import VERSION


@dataclass(frozen=True)
class Noisy:
    """Something that noise was added to."""

    of: str
    """What was asked for that is read from it."""
    numbers: int
    """How many numbers of each group got noise of their own."""
    law: Noise
    step: Fraction
    """What one step of the noise is, in rows."""


def build_details(
    *,
    question: str,
    dataset: str,
    bound: Bound,
    event: Event,
    price: Mapping[str, Any],
    bounding: Bounding,
    noises: Iterable[Noisy],
    plan: Mapping[str, Any] | None = None,
    moment: datetime | None = None,
) -> dict[str, Any]:
    """Return a dictionary that JSON can hold: exact numbers are texts, as in events.

    `question` is its text, `plan` whatever else the plan says of itself, `moment` when it was run (now, if not given).
    """
    return {
        "question": question,
        "dataset": dataset,
        "unit": bound.unit.name,
        "neighbours": bound.neighbours.value,
        "price": {name: None if value is None else str(value) for name, value in price.items()},
        "event": event.to_json(),
        "bounding": {"method": bounding.method, **bounding.limits},
        "noise": [_noise(each) for each in noises],
        "plan": dict(plan or {}),
        "sordino": VERSION,
        "time": (moment or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds"),
    }


def _noise(noisy: Noisy) -> dict[str, Any]:
    """Return the law in steps, exactly, and how wide it is in rows, as a number to read."""
    law = noisy.law
    parameter = ("scale", law.scale) if isinstance(law, DiscreteLaplace) else ("variance", law.sigma_squared)
    return {
        "of": noisy.of,
        "numbers": noisy.numbers,
        "law": type(law).__name__,
        parameter[0]: str(parameter[1]),
        "step_in_rows": str(noisy.step),
        "standard_deviation_in_rows": f"{math.sqrt(law.variance) * float(noisy.step):.4g}",
    }
