"""What shuffled reports cost, by the randomizer that made them.

**Guarantee**: (ε, δ) for replacing one person's value, whatever the others' values, with the δ of the event.
**Assumes** that all reports come from that randomizer, one from each person, and that nothing but the reports in random
order is seen.

Let p = e^{ε₀}. Blankets are given by four masses; ``blanket.py`` says which, and what they prove.

**k-ary response**: with q = 1/(p + k − 1) every value has at least q everywhere: (q, q, 0, (k−2)q). A smaller ε₀ is a
post-processing of a larger one. For k = 2 all crowds are gone through, ``binary_crowd.py``.

**Unary encoding**, a bit being 1 with probability a for the own value, b for others: let B be the law of bits that are
all of others. Every value's law is B times a/b or, where its own bit is 0, (1−a)/(1−b); so it is at least g·B with
g = (1−a)/(1−b), and p·g·B where its bit is 1. By the bits of two values: (gb(1−b), gb(1−b), gb², g(1−b)²).

**Any ε₀-private randomizer.** Let μ₀, μ₁ be one person's laws on two values and μ another's; all are p-close. Let β be
the distance ∫(μ₀ − μ₁)₊, Q₀ and Q₁ be (μ₀ − μ₁)₊/β and (μ₁ − μ₀)₊/β, which lie apart, and α = β/(p − 1). Where μ₀ > μ₁,
μ₁ ≥ (μ₀ − μ₁)/(p − 1), so what both share beside is the same: for a law C and c = 1 − (p + 1)α ≥ 0

    μ₀ = pα·Q₀ + α·Q₁ + c·C,   μ₁ = α·Q₀ + pα·Q₁ + c·C,   μ ≥ max(μ₀, μ₁)/p = α·Q₀ + α·Q₁ + (c/p)·C.

That is the blanket (α, α, c/p, 0), with α = (1 − c)/(p + 1). *The worst c is 0*: with E = e^ε ≤ p, the law of X is
(1−c)·F + c·G: F has p − E and 1 − pE with probability 1/(p+1) each, G has p(1−E) with probability 1/p, and both have 0
else. Both have the mean 1 − E. For t ≤ p(1−E), E_G[(X−t)₊] = 1 − E − t, the least that a law of that mean can have; for
t ≥ 0 it is 0; between, it is −t(p−1)/p, and E_F[(X−t)₊] = (p − E − tp)/(p+1) is more, as (p−1)/p ≤ p/(p+1). So F is
above G in convex order, and E[(ΣX)₊] is largest where everybody has F. Hence every ε₀-private randomizer is covered by
the clones of ``shuffle.py`` with r = 1/(p + 1), as Feldman, McMillan, Talwar 2023 state. `Shuffled` keeps its r.

**Sources**: Balle, Bell, Gascón, Nissim 2019; Su, Cheng, Wang 2025; Wang et al. 2023 (three types). The proofs that
stand here are our own, and every curve is held against crowds enumerated in fractions.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from sordino.arguments import rounded_up

from . import shuffle
from .binary_crowd import all_crowds_below, ends_delta
from .blanket import Blanket, blanket_delta
from .rounding import decimal_rounded_up
from .shuffle_events import ShuffledLocal, ShuffledResponse, ShuffledUnary

_SLACK = 1e-9
_STEP = 1e-5
_DIGITS = 6
_LEAST, _MOST = 1e-6, 300.0  # ε₀ outside of which the clones alone are asked
_FEW = 300  # reports up to which the worst crowd is searched for at every ε
_ABOVE_EQUALS = (0.0, 1e-4, 1e-3, 4e-3, 0.02, 0.1)  # by how much the worst crowd may cost more than a crowd of equals
_ULP = 2.0**-53


@lru_cache(maxsize=1024)
def local_reports(event: ShuffledLocal) -> Fraction:
    """Return ε of the reports of any ε₀-private randomizer."""
    return _rounded(_clones(event.epsilon, event.reports, event.delta), event.epsilon)


@lru_cache(maxsize=1024)
def responses(event: ShuffledResponse) -> Fraction:
    """Return ε of k-ary randomized responses."""
    local = rounded_up(event.epsilon)
    most = _clones(event.epsilon, event.reports, event.delta)
    if not _LEAST <= local <= _MOST:
        return _rounded(most, event.epsilon)
    if event.categories == 2:
        return _rounded(_binary(math.exp(local) * (1 + 4 * _ULP), event.reports, event.delta, most), event.epsilon)
    odds = math.exp(local)
    lie = 1 / (odds + (event.categories - 1))
    blanket = Blanket(odds, lie, lie, 0.0, (event.categories - 2) * lie, math.expm1(local) * lie)
    return _rounded(_by_blanket(blanket, event.reports, event.delta, most), event.epsilon)


@lru_cache(maxsize=1024)
def unary_reports(event: ShuffledUnary) -> Fraction:
    """Return ε of unary reports."""
    own, other = event.own, event.other
    odds = own * (1 - other) / ((1 - own) * other)
    local = decimal_rounded_up(lambda ratio: ratio.ln(), odds)
    most = _clones(local, event.reports, event.delta)
    if not _LEAST <= rounded_up(local) <= _MOST:
        return _rounded(most, local)
    common = (1 - own) / (1 - other)
    alone = float(common * other * (1 - other))
    both, neither = float(common * other**2), float(common * (1 - other) ** 2)
    blanket = Blanket(float(odds), alone, alone, both, neither, float(1 - common))
    return _rounded(_by_blanket(blanket, event.reports, event.delta, most), local)


def _clones(local: Fraction, reports: int, delta: Fraction) -> float:
    """Return ε by clones with r = 1/(p + 1), which are as many as for two categories."""
    return shuffle.epsilon(local, reports, delta, categories=2)


def _small(delta: Fraction) -> float:
    return float(delta) * (1 - _SLACK)


def _by_blanket(blanket: Blanket, reports: int, delta: Fraction, most: float) -> float:
    small = _small(delta)
    if small < 1e-300:
        return most
    return _least(lambda epsilon: blanket_delta(blanket, reports, epsilon) <= small, most)


def _binary(odds: float, reports: int, delta: Fraction, most: float) -> float:
    """Return the ε of crowds of equals, and the little that others may cost more; `most` if that is not proven."""
    small = _small(delta)
    if small < 1e-300:
        return most
    if reports <= _FEW:
        return _least(lambda epsilon: all_crowds_below(odds, reports, epsilon, small), most)
    equals = _least(lambda epsilon: ends_delta(odds, reports, epsilon, 20 - math.log(small)) <= small, most)
    for above in _ABOVE_EQUALS:
        epsilon = equals * (1 + above)
        if epsilon >= most:
            return most
        if all_crowds_below(odds, reports, epsilon, small):
            return epsilon
    return most


def _least(holds: Callable[[float], bool], most: float) -> float:
    """Return about the least ε below `most`, at which it is known to hold, at which `holds` says so."""
    if not most or holds(0.0):
        return 0.0
    low, high = 0.0, most
    while high - low > _STEP * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _rounded(epsilon: float, local: Fraction) -> Fraction:
    """Return ε rounded up to six digits, so that a computer's last ones do not show, and at most ε₀."""
    context = decimal.Context(prec=_DIGITS, rounding=decimal.ROUND_CEILING)
    return min(Fraction(context.create_decimal_from_float(epsilon)), local)
