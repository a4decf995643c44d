"""How much one edge more or less can change a count, in this graph and in those near it: what a ladder stands on.

For t = 0, 1, … let A_t(G) bound the change that one edge makes in any graph at most t edges away from G. A ladder needs
|f(G) − f(G′)| ≤ A_0(G) and A_t(G) ≤ A_(t+1)(G′) for all neighbours G, G′ (``mechanisms/local_sensitivity.py``).

**Triangles**. The edge between i and j closes one triangle for each of their a common neighbours. With t other edges,
each of the b nodes that are joined to one of them becomes a common one for one edge, each other node for two:
A_t = max over pairs of a + ⌊(t + min(t, b))/2⌋, and at least t, which covers all pairs with a = 0.
**Proof** of A_t(G) ≤ A_(t+1)(G′), pair by pair. An edge that is not at i or j, or is the pair itself, changes neither a
nor b. Any other moves one node: (a, b) becomes (a ± 1, b ∓ 1) or (a, b ± 1). In the worst cases, h being the term of
the pair: h(a − 1, b + 1, t + 1) = a − 1 + ⌊(t + 1 + min(t, b) + 1)/2⌋ = h(a, b, t), and h(a, b − 1, t + 1) ≥
a + ⌊(t + min(t, b))/2⌋, since t + 1 + min(t + 1, b − 1) is 2t + 2 or t + b. If a falls to 0 the pair leaves the list;
then a was 1, and h(1, b, t) ≤ t + 1 ≤ A_(t+1)(G′). ∎
**Source**: Nissim, Raskhodnikova, Smith 2007; Karwa, Raskhodnikova, Smith, Yaroslavtsev 2011, Theorem 3.2.

**Stars** of k edges, degrees counted up to m: the edge between i and j adds g(d_i) + g(d_j) with g(d) = C(d, k − 1) for
d < m, 0 from m on; taken away, g(d_i − 1) + g(d_j − 1). With ḡ(d) = C(min(d, m − 1), k − 1), which never falls, and d₁
≥ d₂ the two largest degrees, A_t = ḡ(d₁ + t) + ḡ(d₂ + t). **Proof**: ḡ ≥ g. One edge changes every degree, and so each
of the two largest, by at most 1. ∎
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .patterns import Ends, degrees, pairs_by_common

_LARGEST = 2.0**62


def of_triangles(ends: Ends, nodes: int, length: int) -> NDArray[np.int64]:
    """Return A_0, A_1, …, `length` of them, for the number of triangles."""
    only = pairs_by_common(ends, nodes)
    common = np.flatnonzero(only >= 0)
    # Of pairs with as few in common and no more beside, the others are as good: what is left is a short list.
    best = np.maximum.accumulate(only[common][::-1])[::-1]
    kept = np.diff(best, append=-2) != 0
    common, beside = common[kept], only[common][kept]
    found = np.arange(length)
    for a, b in zip(common, beside, strict=True):
        steps = np.arange(length)
        found = np.maximum(found, a + (steps + np.minimum(steps, b)) // 2)
    return found


def of_stars(ends: Ends, nodes: int, size: int, most: int, length: int) -> NDArray[np.float64]:
    """Return A_0, A_1, … for the number of stars of `size` edges where degrees count up to `most`; rounded up."""
    held = np.sort(degrees(ends, nodes))[::-1]
    largest = [int(held[place]) if place < len(held) else 0 for place in (0, 1)]
    exact = [sum(math.comb(min(degree + t, most - 1), size - 1) for degree in largest) for t in range(length)]
    return np.nextafter(np.minimum(np.array(exact, dtype=np.float64), _LARGEST), np.inf)
