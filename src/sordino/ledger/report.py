"""What a verification found: the problems, and a verdict in words that nobody can take for more than it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["sound", "unwitnessed", "not sound"]
UNWITNESSED = "nobody witnessed them, so whether this is an old copy, or its end was cut off, is not known"


@dataclass(frozen=True)
class Problem:
    """What is wrong, and where it begins."""

    position: int | None
    code: str
    reason: str

    def __str__(self) -> str:
        return self.reason if self.position is None else f"entry {self.position}: {self.reason}"


@dataclass(frozen=True)
class Report:
    """What a verification found; `problems` begins with the one that explains most."""

    size: int
    checkpoint: str | None
    problems: tuple[Problem, ...]
    replayed: bool
    """Whether every entry was judged by the rules as well."""
    repriced: bool = False
    """Whether every charge was compared with the price of its event."""
    watched: bool = True
    """Whether a witness was there to compare with; without one an old copy and a cut-off end do not show."""
    signatures: int = 0
    """How many signatures were checked besides that of the head."""

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with what is there."""
        return not self.problems

    @property
    def verdict(self) -> Verdict:
        """The verdict: that nothing is wrong, that nothing is wrong as far as one can see without a witness, or not."""
        if self.problems:
            return "not sound"
        return "sound" if self.watched else "unwitnessed"

    def __str__(self) -> str:
        how = "and replayed " if self.replayed else ""
        how = "replayed and priced again " if self.repriced else how
        if self.sound:
            alone = "" if self.watched else f"; {UNWITNESSED}"
            return f"{self.size} entries were read {how}and are sound{alone}"
        return f"{self.size} entries were read {how}and are NOT sound: " + "; ".join(map(str, self.problems))
