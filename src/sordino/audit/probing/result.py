"""What comes of an audit of a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino.audit.measured import Measured

from .finding import Finding, Probed


@dataclass(frozen=True)
class ServiceAudit:
    """What came of an audit: every probe with its findings, and what was measured of the values."""

    probes: tuple[Probed, ...]
    questions: int
    answered: int
    """Questions that both services answered; with few of them, little was audited."""
    measured: Measured | None
    """What was measured of the values, with its witness; None if nothing was."""
    seconds: float

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of all probes."""
        return tuple(finding for probe in self.probes for finding in probe.findings)

    @property
    def refuted(self) -> bool:
        """Whether anything was found that must not be."""
        return bool(self.findings)

    @property
    def verdict(self) -> str:
        """*refuted*, or *not refuted*, which promises nothing."""
        return "refuted" if self.refuted else "not refuted"

    def to_json(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        return {
            "verdict": self.verdict,
            "questions": self.questions,
            "answered": self.answered,
            "seconds": round(self.seconds, 3),
            "probes": [each.to_json() for each in self.probes],
        }

    def __str__(self) -> str:
        lines = [str(each) for each in self.probes]
        lines += [f"- {each}" for each in self.findings]
        asked = f"{self.answered} of {self.questions} questions answered by both services"
        if self.questions and not self.answered:
            asked += ", so that nothing was compared but refusals"
        lines.append(f"{self.verdict}: {len(self.findings)} findings; {asked}, {self.seconds:.0f} s")
        return "\n".join(lines)
