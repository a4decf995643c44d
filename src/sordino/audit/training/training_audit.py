"""What an audit of a training found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sordino.accounting import gaussian
from sordino.audit.claim import Claim
from sordino.audit.verdict import Verdict


@dataclass(frozen=True)
class TrainingAudit:
    """A lower bound on what a training gives away, and whether its claim is refuted.

    **Guarantee**: `epsilon` is above the training's true ε at `delta` with a chance of at most 1 − `confidence`; so is
    `mu` above the least μ of Gaussian privacy that the training has. `refuted` is true with a chance of at most one in
    a million if the claim holds. All three hold whatever the training is, if the scores say nothing of the coins but
    through what it releases.
    """

    epsilon: float
    """The training is not (ε, δ)-private for any smaller ε."""
    delta: float
    confidence: float
    refuted: bool
    claim: Claim | None
    mu: float
    """The training is not μ-Gaussian private for any smaller μ."""
    trainings: int
    canaries: int
    guesses: int
    """How many canaries were guessed, or trainings told apart, for the bound."""
    correct: int
    trainings_to_refute: int | None = None
    """After how many trainings the claim was refuted, if it was."""
    chance: float | None = None
    """One run only: how likely so many correct guesses are at most if the claim holds, after all that was tried."""

    @property
    def epsilon_if_gaussian(self) -> float:
        """The ε at `delta` that belongs to `mu`: a bound if the training's curve is Gaussian; ∞ at δ = 0."""
        if self.mu == 0:
            return 0.0
        return gaussian.epsilon_of(self.mu, self.delta) if self.delta > 0 else math.inf

    @property
    def verdict(self) -> Verdict:
        """The verdict in a word; an audit by samples never says that a claim holds."""
        return Verdict.REFUTED if self.refuted else Verdict.NOT_REFUTED

    def to_json(self) -> dict[str, Any]:
        """Return the audit as plain data; JSON has no infinity, so null stands for it."""
        return {
            "verdict": str(self.verdict),
            "claim": None if self.claim is None else self.claim.to_json(),
            "epsilon": _finite(self.epsilon),
            "delta": self.delta,
            "confidence": self.confidence,
            "mu": self.mu,
            "epsilon_if_gaussian": _finite(self.epsilon_if_gaussian),
            "trainings": self.trainings,
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
            "trainings_to_refute": self.trainings_to_refute,
            "chance": self.chance,
        }

    def __str__(self) -> str:
        lines = [
            f"ε ≥ {self.epsilon:.3g} at δ = {self.delta:g}, with {100 * self.confidence:g} % confidence",
            f"not μ-Gaussian private for μ < {self.mu:.3g}",
            f"{self.correct:,} of {self.guesses:,} guesses right; {_count(self.canaries, 'canary', 'canaries')}, "
            + _count(self.trainings, "run", "runs"),
        ]
        if self.claim is not None:
            lines.insert(0, f"{self.verdict}: {self.claim}{self._when()}")
        return "\n".join(lines)

    def _when(self) -> str:
        if self.refuted:
            return f" (certain up to one in a million after {_count(self.trainings_to_refute or 0, 'run', 'runs')})"
        return (
            "" if self.chance is None else f" (the chance of what was seen, if it holds, is at most {self.chance:.2g})"
        )


def _count(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
