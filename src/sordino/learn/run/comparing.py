"""Which way to pay is cheaper for an account: in tranches, or whole. All of it is public; nothing is charged.

Two questions, and their answers may differ. For the same ε of its own, a run that is declared whole needs less noise.
But what it takes of an account is that ε and a δ, while tranches take Rényi divergences, which add up with those of
other releases: in an account that has room for more than this run, they may take the smaller part.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.accounting.any_account import Cost

from .paying import TRANCHES, WHOLE


@dataclass(frozen=True)
class Way:
    """One way to pay: the noise multiplier that it needs, and what the account would be charged."""

    multiplier: Fraction
    cost: Cost

    @property
    def part(self) -> float | None:
        """Which part of the account's budget it takes; None where there is no cap."""
        return None if self.cost.part is None else float(self.cost.part)

    def __str__(self) -> str:
        return f"noise multiplier {float(self.multiplier):.4g}, {self.cost}{'' if self.cost.fits else ', does not fit'}"


@dataclass(frozen=True)
class Ways:
    """Both ways to pay for one training: for the same ε, or with the same noise where that was given."""

    tranches: Way
    whole: Way | None
    """None where the account cannot hold a run that is declared as a whole."""
    alike: Way | None
    """Tranches with the noise of the whole: what is compared for an account."""
    why: str = ""
    """Why it cannot be paid whole."""

    @property
    def cheaper(self) -> str:
        """The way that takes less of this account with the same noise; without a cap, the one with less noise."""
        if self.whole is None or self.alike is None:
            return TRANCHES
        less = self.saved_noise > 0 if self.whole.part is None else self.whole.part < (self.alike.part or 0)
        return WHOLE if less else TRANCHES

    @property
    def saved_noise(self) -> float:
        """By which part paying whole needs less noise for the same ε; 0 where the noise was given, or it cannot be."""
        return 0.0 if self.whole is None else 1 - float(self.whole.multiplier / self.tranches.multiplier)

    def __str__(self) -> str:
        lines = [f"in tranches: {self.tranches}"]
        if self.whole is None or self.alike is None:
            return "\n".join([*lines, f"whole: cannot be had here: {self.why}"])
        lines.append(f"whole: {self.whole}")
        if self.saved_noise:
            how = "less" if self.saved_noise > 0 else "more"
            lines.append(f'for the same ε, pay="whole" needs {100 * abs(self.saved_noise):.3g} % {how} noise')
        if self.whole.part is not None and self.alike.part is not None:
            less, more = sorted((100 * self.whole.part, 100 * self.alike.part))
            lines.append(
                f'with the same noise, pay="{self.cheaper}" takes less of this account: {less:.3g} % of it against '
                f"{more:.3g} %"
            )
        return "\n".join(lines)
