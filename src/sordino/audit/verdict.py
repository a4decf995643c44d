"""What an auditor says in the end, in three words, and what a build server makes of it."""

from __future__ import annotations

from enum import Enum

CHANCE = 1e-6
"""How likely an honest mechanism is to be called refuted, whatever was searched on the way."""


class Verdict(Enum):
    """``REFUTED`` the claim is false, up to `CHANCE`; ``NOT_REFUTED`` nothing is promised; ``HOLDS`` exact only.

    ``NOTHING_COUNTED``: no output came again and none held numbers, so nothing was audited.
    """

    REFUTED = "refuted"
    NOTHING_COUNTED = "nothing could be counted"
    NOT_REFUTED = "not refuted"
    HOLDS = "holds"

    @property
    def exit_code(self) -> int:
        """1 where a claim is refuted, 2 where nothing could be counted, else 0."""
        return {Verdict.REFUTED: 1, Verdict.NOTHING_COUNTED: 2}.get(self, 0)

    def __str__(self) -> str:
        return self.value
