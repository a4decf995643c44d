"""What an auditor says in the end, in three words, and what a build server makes of it."""

from __future__ import annotations

from enum import Enum

CHANCE = 1e-6
"""How likely an honest mechanism is to be called refuted, whatever was searched on the way."""


class Verdict(Enum):
    """``REFUTED`` the claim is false, up to `CHANCE`; ``NOT_REFUTED`` nothing is promised; ``HOLDS`` exact only."""

    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    HOLDS = "holds"

    @property
    def exit_code(self) -> int:
        """1 where a claim is refuted, else 0."""
        return 1 if self is Verdict.REFUTED else 0

    def __str__(self) -> str:
        return self.value
