"""Poison: how far clients that lie together can move an estimate, whatever they send.

A server cannot tell a lie from a coin, and the smaller ε is, the more one report counts for: that is the price of local
trust, and said beside every price. The shift is counted from what the estimate would be, on average, had the same
clients answered honestly, whatever they hold. Payloads that no device can send are refused and move nothing.

**Source**: Cheu, Smith, Ullman 2021; Cao, Jia, Gong 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sordino.arguments import rounded_up, whole


@dataclass(frozen=True)
class Poison:
    """How far one client can raise and lower one estimate (a count, or a sum) at most; k of them move it k times."""

    raised: Fraction
    lowered: Fraction

    def shift(self, clients: int) -> float:
        """Return how far so many colluding clients can move an estimate, up or down, at most."""
        return rounded_up(whole("clients", clients, least=0) * max(self.raised, self.lowered))
