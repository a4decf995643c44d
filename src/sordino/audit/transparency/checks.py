"""What was checked of a report or a receipt, one finding after the other, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["holds", "broken", "not checked"]


@dataclass(frozen=True)
class Check:
    """One thing that must hold; *not checked* where the file does not hold what it takes."""

    name: str
    outcome: Outcome
    words: str

    def __str__(self) -> str:
        return f"{self.outcome}: {self.name}: {self.words}"


@dataclass(frozen=True)
class Checked:
    """All checks of one file. It holds if something was checked and nothing is broken."""

    subject: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing that was checked is broken."""
        outcomes = [check.outcome for check in self.checks]
        return "holds" in outcomes and "broken" not in outcomes

    @property
    def verdict(self) -> str:
        """*holds*, or *refuted*."""
        return "holds" if self.holds else "refuted"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain JSON."""
        listed = [{"name": each.name, "outcome": each.outcome, "words": each.words} for each in self.checks]
        return {"verdict": self.verdict, "subject": self.subject, "checks": listed}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.checks), f"{self.verdict}: {self.subject}"])


def judged(name: str, wrong: Sequence[str], fine: str) -> Check:
    """Return a check that is broken by whatever is wrong, the first few of which it names."""
    if not wrong:
        return Check(name, "holds", fine)
    more = f", and {len(wrong) - 3} more" if len(wrong) > 3 else ""
    return Check(name, "broken", "; ".join(wrong[:3]) + more)


def unchecked(name: str, why: str) -> Check:
    """Return a check that could not be made."""
    return Check(name, "not checked", why)
