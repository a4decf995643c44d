"""Poisson samples that are cut to a largest size: the sampled event, and a failure where the cut may show.

**Theorem**: let a sample of rate q be cut to B units by chance, and let there be at most N units. The outputs on
neighbours are those of the uncut sample but for a failure of probability q·B/(B+1)·P[Bin(N−1, q) ≥ B].
*Proof*. Fix how many of the others were drawn, S, which has the same law on both sides. If S < B nothing is cut, with
the unit or without. If S ≥ B, the unit is in the sample, and kept, with probability q·B/(S+1), and only then it takes
the place of another; else what is kept are B of the S others, all alike, as without the unit. So both outputs are
mixtures, with the same weights, of the uncut pair, of equal laws, and of laws of which nothing is said; the last with
probability Σ_{s≥B} P[S = s]·q·B/(s+1). A failure that is seen, beside the uncut sample, tells no less. For a unit
that is replaced the failure counts twice, as any other does.

**Tail**: for k > nq, P[Bin(n, q) ≥ k] ≤ P[Bin(n, q) = k]/(1 − r), r = (n−k)q/((k+1)(1−q)), as the quotients of
successive terms fall; and C(n, k) ≤ √(n/(2πk(n−k)))·n^n/(k^k·(n−k)^{n−k}) (Stirling's formula with its error).
The cut itself is by Chua et al. 2024, *Scalable DP-SGD*, who charge (1 + e^ε) times the chance of any cut instead.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from .event import Event
from .events import Approximate, Composed, PoissonSampled, TruncatedPoissonSampled
from .rounding import decimal_rounded_up

_LEAST = Fraction(1, 10**300)
_PI = Decimal("3.14159265358979323846264338327")  # rounded down


def uncut(event: TruncatedPoissonSampled) -> Event:
    """Return the uncut sample, and the failure beside it where the sample can be cut."""
    sampled = PoissonSampled(event.event, event.rate)
    kept = event.rate * Fraction(event.most, event.most + 1)
    chance = kept * _at_least(event.most, event.population - 1, event.rate)
    return Composed((sampled, Approximate(Fraction(0), max(chance, _LEAST)))) if chance else sampled


def _at_least(least: int, draws: int, rate: Fraction) -> Fraction:
    """Return P[Bin(draws, rate) ≥ least], rounded up."""
    if least > draws:
        return Fraction(0)
    if least <= draws * rate or rate == 1:
        return Fraction(1)
    if least == draws:
        return max(decimal_rounded_up(lambda n, q: (n * q.ln()).exp(), Fraction(draws), rate), _LEAST)
    quotient = (draws - least) * rate / ((least + 1) * (1 - rate))
    largest = decimal_rounded_up(_one_term, Fraction(least), Fraction(draws), rate)
    return min(Fraction(1), max(largest, _LEAST) / (1 - quotient))


def _one_term(k: Decimal, n: Decimal, q: Decimal) -> Decimal:
    exponent = k * (n * q / k).ln() + (n - k) * (n * (1 - q) / (n - k)).ln()
    return max(exponent, Decimal(-1000)).exp() * (n / (2 * _PI * k * (n - k))).sqrt()
