"""The mechanisms of the tests on which the auditor and another test are compared, by their kind."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

HONEST = "honest"


def by_kind() -> dict[str, list[Any]]:
    """Return the leaks of the tests by their kind, and the honest ones."""
    # A room of the bench has the name of the tests' folder, so the folder is named here as a package first.
    package = ModuleType("audit")
    package.__path__ = [str(Path(__file__).parents[2] / "tests" / "audit")]
    before = sys.modules.get("audit")
    sys.modules["audit"] = package
    try:
        leaks, honest = import_module("audit.hidden_leaks"), import_module("audit.honest_outputs")
    finally:
        if before is not None:
            sys.modules["audit"] = before
    found: dict[str, list[Any]] = {}
    for leak in leaks.LEAKS:
        found.setdefault(leak.kind, []).append(leak)
    return found | {HONEST: [leaks.Leak(subject, HONEST) for subject in honest.HONEST]}
