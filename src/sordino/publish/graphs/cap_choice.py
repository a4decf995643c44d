"""Which cap is best for a capped count, chosen privately: a small cap loses patterns, a large one needs more noise.

The error to expect with cap D is f − F_D + D/ε, the first part lost, the second the noise. f is the same for all caps,
so e_D = D/ε − g_D says as much (g_D of ``capped.py``), and that moves by little. The *generalised exponential
mechanism* compares each two caps on the scale of the larger one:

    s_D = max over caps D′ of ((e_D + tD) − (e_D′ + tD′)) / (max(D, D′)·w),   w = 1 + 2·SLACK,

and the cap with small s is chosen. t·D is a handicap for caps whose e_D is known less well.

**Guarantee**: no node, coming or going, moves an s_D by more than 1. **Proof**: let v be added. g_D rises by an amount
in [−γD, (1 + γ)D] with γ = SLACK, and e_D falls by as much. So e_D − e_D′ moves by at most max(D, D′)·(1 + γ) +
γ·min(D, D′) ≤ max(D, D′)·w, either way. The largest of numbers that move by at most 1 moves by at most 1. ∎
**Source**: Raskhodnikova & Smith 2016, Section 4; the larger of D and D′ instead of their sum is due to F_D never
falling when a node is added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .capped import SLACK_BITS

GRID = 2**10
_MISSED = 10
"""The handicap is what noise in the choice exceeds once in so many times."""


def scores(caps: Sequence[int], counts: Sequence[int], choice: Fraction, noise: Fraction) -> list[float]:
    """Return −s for each cap, on a grid of 1/GRID; `counts` are in steps of cap·2^−(SLACK_BITS + 1).

    `choice` and `noise` are the ε of the choice and of the noise that follows. All of it is computed in fractions, and
    rounding to the grid brings no two scores that are 1 apart further apart.
    """
    # Caps that are too large are all about as bad on their own scale; the handicap keeps them from winning together.
    handicap = Fraction(math.ceil(2 * math.log(_MISSED * len(caps)) / float(choice)))
    steps, wide = 2 ** (SLACK_BITS + 1), 1 + Fraction(2, 2**SLACK_BITS)
    off = [cap / noise - Fraction(count * cap, steps) + handicap * cap for cap, count in zip(caps, counts, strict=True)]
    worst = [
        max((mine - other) / (max(cap, rival) * wide) for rival, other in zip(caps, off, strict=True))
        for cap, mine in zip(caps, off, strict=True)
    ]
    return [-math.floor(each * GRID + Fraction(1, 2)) / GRID for each in worst]
