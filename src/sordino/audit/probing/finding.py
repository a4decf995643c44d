"""Findings: what a probe saw that must not be seen, and how anybody sees it again. Never a value of the data.

All of them together are what comes of an audit of a service.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sordino.audit.measured import Measured


@dataclass(frozen=True)
class Finding:
    """Something that a service does and must not do."""

    name: str
    """What is wrong, in a few words."""
    seen: str
    """What was seen: codes, counts and chances."""
    reproduce: tuple[str, ...]
    """What to send to see it again, one request a line."""
    chance: float | None = None
    """How likely this is at most of a service that keeps its promise; None where it never is."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"name": self.name, "seen": self.seen, "reproduce": list(self.reproduce), "chance": self.chance}

    def __str__(self) -> str:
        chance = "" if self.chance is None else f" (chance at most {self.chance:.1g})"
        steps = "".join(f"\n    {step}" for step in self.reproduce)
        return f"{self.name}: {self.seen}{chance}{steps}"


@dataclass(frozen=True)
class Probed:
    """What one probe did: how much it checked and what it found, or why it could not be run."""

    probe: str
    checks: int
    findings: tuple[Finding, ...] = ()
    skipped: str | None = None
    """Why it was not run, or not to its end."""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        found = [each.to_json() for each in self.findings]
        return {"probe": self.probe, "checks": self.checks, "findings": found, "skipped": self.skipped}

    def __str__(self) -> str:
        if not self.checks:
            return f"{self.probe}: not run: {self.skipped}"
        ended = "" if self.skipped is None else f"; {self.skipped}"
        return f"{self.probe}: {len(self.findings)} findings in {self.checks} checks{ended}"


class Notebook:
    """What a probe writes down while it works."""

    def __init__(self, probe: str) -> None:
        self._probe = probe
        self._checks = 0
        self._findings: dict[str, Finding] = {}

    def check(self, holds: bool, name: str, seen: str, *reproduce: str, chance: float | None = None) -> bool:
        """Count a check; where it does not hold, write down the finding, the first under each name."""
        self._checks += 1
        if not holds:
            self._findings.setdefault(name, Finding(name, seen, reproduce, chance))
        return holds

    def found(self, name: str) -> bool:
        """Return whether there is a finding of this name."""
        return name in self._findings

    def probed(self, skipped: str | None = None) -> Probed:
        """Return what was written down."""
        return Probed(self._probe, self._checks, tuple(self._findings.values()), skipped)


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
