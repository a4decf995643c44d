"""A count of patterns in which no node has more than its cap: stretched to all graphs by a linear program.

The patterns of a graph (its edges, its triangles) are sets of nodes. With a cap D,

    F_D(G) = max Σ x_p   over 0 ≤ x_p ≤ 1 for each pattern p,   Σ over patterns at v of x_p ≤ D for each node v.

**Guarantee**: F_D(G) ≤ F_D(G + v) ≤ F_D(G) + D for every graph and every node v that is added with any edges; F_D is
the count itself where no node is in more than D patterns. `capped` returns g with F_D − D·SLACK ≤ g ≤ F_D, on a grid of
D·SLACK/2, so g moves by at most D·(1 + SLACK), up or down.
**Proof**: G + v has the patterns of G and some at v. What is feasible for G stays so with 0 for these. What is feasible
for G + v is feasible for G when these are left out, and they add up to at most D. For g: F_D − γ ≤ g ≤ F_D with
γ = D·SLACK at both graphs, and differences of F_D lie in [0, D]. ∎
**The certificate**: for whatever y ≥ 0, weak duality says F_D ≤ D·Σ y_v + Σ_p max(0, 1 − Σ over v in p of y_v). Any
feasible x is below. Both are computed in whole numbers, with no rounding, from what a solver suggests; the solver is
believed in nothing. It works on until the two are within D·SLACK/2, so there is always an answer.
**Source**: Kasiviswanathan, Nissim, Raskhodnikova, Smith 2013, Section 4.2; Chen & Zhou 2013.

Patterns that have the same *heavy* nodes (in more than D patterns) are one variable up to their number; all others may
be 1 and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .packing import suggestions

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

SLACK_BITS = 9
"""SLACK is 2 to the minus this."""
_MOST_BITS = 30


@dataclass(frozen=True, eq=False)
class Packing:
    """Groups of patterns with the same heavy nodes: how many each may count, and which nodes it fills. Secret."""

    cap: int
    counts: Whole = field(repr=False)
    heavy: int = field(repr=False)
    members: Whole = field(repr=False)
    """The heavy nodes of each group, as many columns as a pattern has nodes; `heavy` itself where there are fewer."""
    free: int = field(repr=False)
    """How many patterns have no heavy node."""

    def loads(self, amounts: Whole) -> Whole:
        """Return what each heavy node has if each group has so much."""
        total = np.zeros(self.heavy + 1, np.int64)
        for column in self.members.T:
            np.add.at(total, column, amounts)
        return total[:-1]

    def prices(self, each: Whole) -> Whole:
        """Return for each group the sum of what its heavy nodes have."""
        return np.asarray(np.append(each, np.int64(0))[self.members].sum(axis=1))


def packing(patterns: Whole, nodes: int, cap: int) -> Packing:
    """Return the groups of patterns (each a row of nodes) under a cap."""
    held = np.bincount(patterns.ravel(), minlength=nodes)
    heavy = np.flatnonzero(held > cap)
    number = np.full(nodes, len(heavy))
    number[heavy] = np.arange(len(heavy))
    marked = np.sort(number[patterns], axis=1)
    filled = marked[:, 0] < len(heavy)
    size, base = patterns.shape[1], len(heavy) + 1
    if base**size < 2**62:
        keys = marked[filled] @ (base ** np.arange(size)[::-1])
        found, counts = np.unique(keys, return_counts=True)
        members = np.stack([found // base**place % base for place in range(size)[::-1]], axis=1)
    else:
        members, counts = np.unique(marked[filled], axis=0, return_counts=True)
    return Packing(cap, counts.astype(np.int64), len(heavy), members, int((~filled).sum()))


def capped(patterns: Whole, nodes: int, cap: int) -> int:
    """Return the capped count g, in steps of `cap`·2^−(SLACK_BITS + 1): secret."""
    packed = packing(patterns, nodes, cap)
    steps = 2 ** (SLACK_BITS + 1)
    if not packed.heavy:
        return int(packed.free * steps // cap)
    for amounts, prices in suggestions(packed.counts, packed.members, packed.heavy, float(cap)):
        low, high, bits = certified(packed, amounts, prices)
        if (high - low) * steps <= cap << bits:  # (high − low)/2^bits ≤ cap/steps
            return int((low + (packed.free << bits)) * steps // (cap << bits))
    raise AssertionError  # suggestions never end


def certified(packed: Packing, amounts: Floats, prices: Floats) -> tuple[int, int, int]:
    """Return whole numbers low, high and bits: the program's value is between low/2^bits and high/2^bits."""
    size = int(packed.counts.sum()) + packed.cap * packed.heavy
    bits = min(_MOST_BITS, 61 - size.bit_length() - 2)
    one = np.int64(1 << bits)
    x = np.floor(np.clip(np.nan_to_num(amounts), 0, packed.counts) * float(one)).astype(np.int64)
    x = np.minimum(x, packed.counts * one)
    loads, room = packed.loads(x), packed.cap * int(one)
    over = np.flatnonzero(loads > room)
    if len(over):  # groups at an overfull node are left with less, rounded down, which fits
        share = np.ones(packed.heavy)
        share[over] = room / loads[over] * (1 - 2.0**-40)
        least = np.append(share, 1.0)[packed.members].min(axis=1)
        x = np.where(least < 1, np.floor(x * least).astype(np.int64), x)
        if (packed.loads(x) > room).any():
            x = np.zeros_like(x)
    y = np.floor(np.clip(np.nan_to_num(prices), 0, 1) * float(one)).astype(np.int64)
    high = packed.cap * int(y.sum()) + int((packed.counts * np.maximum(one - packed.prices(y), 0)).sum())
    return int(x.sum()), high, bits
