"""How far a job is, in one line: its stage, and what its plan makes public."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LETTERS = {"epsilon": "ε", "rho": "ρ"}


def how_far(job: Mapping[str, Any]) -> str:
    """Return the stage of a job, and what it told.

    >>> how_far({"stage": "running", "progress": {"step": 120, "steps": 1800, "epsilon": 0.5}})
    'running: step 120 of 1800, ε 0.5'
    >>> how_far({"stage": "waiting", "progress": None})
    'waiting'
    """
    told = dict(job["progress"] or {})
    parts = []
    for name, value in told.items():
        if name.endswith("s") and name[:-1] in told:  # the number of all stands beside how many there were
            continue
        of = f" of {told[name + 's']}" if f"{name}s" in told else ""
        parts.append(f"{_LETTERS.get(name, name)} {value}{of}")
    return f"{job['stage']}: {', '.join(parts)}" if parts else str(job["stage"])
