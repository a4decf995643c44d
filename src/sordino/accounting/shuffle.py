"""Amplification by shuffling: many local reports seen in random order hide each other.

**Source**: Feldman, McMillan, Talwar 2021, "Hiding among the clones", Theorem 3.2 and its numerical evaluation.

**Clones.** Let μ₀, μ₁ be one person's report on two values and μ another's; all are e^{ε₀}-close. Let a =
e^{ε₀}/(e^{ε₀}+1). There are laws W₀, W₁ with μ₀ = a·W₀ + (1−a)·W₁, μ₁ = (1−a)·W₀ + a·W₁ (Kairouz, Oh, Viswanath 2015),
and μ ≥ e^{−ε₀}·max(μ₀, μ₁) ≥ r·(W₀ + W₁) with r = e^{−ε₀}/2, as W₀ + W₁ = μ₀ + μ₁. So each of the n−1 others draws from
W₀ or W₁ alike with probability 2r, and the shuffled reports are a post-processing of how many drew from either:

    (A + Δ, C − A + 1 − Δ) against (A + 1 − Δ, C − A + Δ),   C ~ Bin(n−1, 2r), A ~ Bin(C, ½), Δ ~ Bernoulli(a).

**k-ary randomized response** has more clones: r = 1/(e^{ε₀}+1). Let q = 1/(e^{ε₀}+k−1), κ = (e^{ε₀}+1)·q, V₀, V₁ sit on
the two values and U be uniform on the k−2 others. Then μ₀ = κ·(a·V₀ + (1−a)·V₁) + (1−κ)·U = a·W₀ + (1−a)·W₁ with
Wᵢ = κ·Vᵢ + (1−κ)·U, and μ, at least q everywhere, is at least κr·(V₀ + V₁) + (1−κ)·U ≥ r·(W₀ + W₁), since 2r ≤ 1.
For other local randomizers it does not follow so: where μ₀ = μ₁ = e^{ε₀}·μ, which may happen, μ ≥ r·(μ₀ + μ₁) needs
r ≤ e^{−ε₀}/2. With what both laws share as a third type it does: see ``shuffled_reports.py``, which prices
`ShuffledLocal` so. `Shuffled` is priced as it always was.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from sordino.arguments import Number, probability, rational, rounded_down, rounded_up, whole

from .curve import Floats

MOST_REPORTS = 10**12
_CELLS = 4096
_SLACK = 1e-9
_STEP = 1e-7
_LEAST = 1e-300  # an ε₀ or a δ below which digits are lost, and what ε₀ gives by itself is claimed
_MOST_LOCAL = 300.0  # beyond it nobody hides, and what ε₀ gives by itself is claimed


def epsilon(local_epsilon: Number, reports: int, delta: Number, *, categories: int | None = None) -> float:
    """Return an ε at which `reports` shuffled reports, each ε₀-private by itself, are (ε, δ)-private; rounded up.

    **Guarantee**: for replacing one person's value, whatever the others' values. **Assumes** that every report comes
    from the same ε₀-DP local randomizer, and that nothing but the shuffled reports is seen.

    Args:
        local_epsilon: ε₀ of each report.
        reports: how many people report.
        delta: the failure probability.
        categories: k, if the reports are k-ary randomized response; then a smaller ε is proven.
    """
    local = rounded_up(rational("local_epsilon", local_epsilon, above=0))
    count = whole("reports", reports, least=2, most=MOST_REPORTS)
    small = float(probability("delta", delta)) * (1 - _SLACK)
    clones = _clone_probability(local, categories)
    if min(local, small) < _LEAST:
        return local
    if delta_of(local, count, clones, 0.0) <= small:
        return 0.0
    low, high = 0.0, local
    while high - low > _STEP * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of(local, count, clones, middle) <= small else (middle, high)
    return high


def delta(local_epsilon: Number, reports: int, epsilon: Number, *, categories: int | None = None) -> float:
    """Return a δ at which the shuffled reports are (ε, δ)-private, rounded up; 0 from ε₀ on."""
    local = rounded_up(rational("local_epsilon", local_epsilon, above=0))
    count = whole("reports", reports, least=2, most=MOST_REPORTS)
    at = rounded_down(rational("epsilon", epsilon, least=0))
    return delta_of(local, count, _clone_probability(local, categories), at) * (1 + _SLACK)


def _clone_probability(local: float, categories: int | None) -> float:
    if categories is None:
        return math.exp(-local)
    whole("categories", categories, least=2)
    return 2 * math.exp(-local) / (1 + math.exp(-local))


def delta_of(local: float, reports: int, clones: float, epsilon: float) -> float:
    """Return an upper bound of the hockey-stick divergence of the pair above at e^ε (the same in both directions).

    Given C = c it falls with c: a further clone is a coin that anyone could add. So values of C are gathered in cells
    that count at their lowest, all beyond the highest cell included; what lies below the lowest counts in full.
    """
    if epsilon >= local:
        return 0.0
    if local > _MOST_LOCAL:
        return -math.expm1(epsilon - local)
    others = reports - 1
    centre, spread = others * clones, math.sqrt(others * clones * (1 - clones))
    low = max(0, math.floor(centre - 12 * spread - 40))
    high = min(others, math.ceil(centre + 12 * spread + 40))
    starts = np.unique(np.linspace(low, high, min(_CELLS, high - low + 1)).astype(np.int64)).astype(np.float64)
    reached = at_least(starts, float(others), clones)
    mass = reached - np.append(reached[1:], 0.0)
    below = float(1 - reached[0]) + 1e-15 if low else 0.0
    excess = _given_clones(local, starts, epsilon)
    # summed by parts, errors of the tails weigh no more than the largest excess, the first
    rounding = float(_accuracy(np.array([others]))[0] * excess[0])
    return min(1.0, float(np.dot(np.maximum(mass, 0.0), excess)) + below + rounding)


def _given_clones(local: float, clones: Floats, epsilon: float) -> Floats:
    """Return the hockey-stick divergence given C = c, for each c.

    With w = e^{ε₀}, a first count of j has probability ∝ w·B(j−1) + B(j) against B(j−1) + w·B(j), B the law Bin(c, ½);
    their ratio grows with j, so the worst set is j > t. As t < c + 1, it always holds j = c + 1, even if t rounds up.
    """
    weight, factor = math.exp(local), math.exp(epsilon)
    more, less = math.expm1(epsilon + local), factor * math.expm1(local - epsilon)
    first = np.minimum(np.floor((clones + 1) * (more / (math.expm1(local) * (1 + factor)))), clones) + 1
    gain = less * at_least(first - 1, clones, 0.5)
    loss = more * at_least(first, clones, 0.5)
    return np.asarray(np.maximum(gain - loss, 0.0) + _accuracy(clones) * gain) / (weight + 1)


def _accuracy(trials: Floats) -> Floats:
    """Return how far off, relatively, a binomial tail may be: five times what was seen against fifty digits."""
    return np.asarray(1e-13 + 1e-14 * np.sqrt(trials))


def at_least(k: Floats, trials: Floats | float, chance: float) -> Floats:
    """Return P[Bin(trials, chance) ≥ k], elementwise."""
    inside = (k > 0) & (k <= trials)
    safe = np.where(inside, k, 1.0)
    tail = scipy.special.betainc(safe, np.maximum(trials - safe, 0.0) + 1.0, chance)
    return np.asarray(np.where(k <= 0, 1.0, np.where(inside, tail, 0.0)))
