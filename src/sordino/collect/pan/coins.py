"""The coins of pan-private cells, and what they give away.

A unit has one cell. A cell holds a number from 0 to d, at first a uniform one. When the unit comes with item i (from
1 to d; 0 is nobody's), the cell is overwritten: by i with probability τ, else by a uniform number. Whenever a state is
kept or was seen, all cells are *randomised anew*: each stays with probability λ, else becomes uniform. After n
randomisations τ is τ₀λⁿ, so every cell whose unit ever came holds its last item with *strength* τ₀λⁿ, whenever it came:
with that probability beyond a uniform number.

**Guarantee**: let V states be seen (files, every version that was kept of them, looks into memory), between any two of
which the cells were randomised anew at least once, and R outputs, each a count of cells with noise of its own. All of
it together is ε differentially private for one unit that is there with all its updates or with none, as many as they
may be, for ε = ln `loss` + what R outputs cost. Streams, and moments to look, may be chosen by what was seen so far.
**Assumes**: a unit has one id, so one cell. A state is seen between updates, not while one is made. Of looks that
nobody announced there is at most one between two randomisations: against two, no such counting is private at all
(Dwork et al. 2010, Section 5).
**Source**: Dwork, Naor, Pitassi, Rothblum & Yekhanin 2010, Section 3 (density: d = 1, V = 1); Mir, Muthukrishnan,
Nikolov & Wright 2011. Items, randomisation by λ and the price of several views are ours, with the proof below.

**Proof.** Let S and S′ be streams that differ in all updates of one unit, which S′ lacks. Only its cell has another
law; others may share the cell. *Views.* Given all views so far, of which v is the last in this cell, the next view w
has in each world one of these laws: if somebody came to the cell since v, strength a on the last item, where a ≤ t =
τ₀λʲ if w is the view after j others, as there were at least j randomisations; else strength b ≤ λ on v (for the first
view: uniform). If the unit did not come since v, or somebody came after it, both worlds have the same law; also if it
came last, and somebody before it had the same item. Else S has strength a on an item i, and S′ has strength b on v or,
if d > 1, strength a on another's item. Put D = d+1 and m = max(λ, t), or t for the first view. A number has at least
(1−a)/D and at most a+(1−a)/D, so that for d > 1
    P_S[w]/P_S′[w] ≤ (Dt + 1−t)/(1−m)   and   P_S′[w]/P_S[w] ≤ (Dm + 1−m)/(1−t);
the product over all views bounds both. For d = 1 the ratio depends on v and w, with i = 1 alone and b in [0, λ]:
    S/S′:   1+t for w = 1, 1 for w = 0, and 1/(1−λ) times that if w ≠ v
    S′/S:   1/(1−t) for w = 0, 1 for w = 1, and 1+λ times that if w = v
(the first view has no v), and the largest product over all ways from view to view bounds it.
*Outputs.* Fix all views. An output adds noise to counts that the cell moves by a bounded amount, whatever it holds;
so exchanging the values that it had at the R outputs for any others changes the outputs' probability by a factor of
e^(R·ε₂) at most, ε₂ the price of one. P_S[views, outputs] = P_S[views]·E[outputs | its values], the mean over values
in S given the views, which is at most e^(R·ε₂) times the mean over values in S′ given the views. And P_S[views] ≤
`loss`·P_S′[views]. The other direction is the same. ∎
A state that is randomised anew twice from one file (a work that is resumed twice) makes the views a tree instead of a
line, each given the one that it came from; the product is over its edges, and the bound is the same.

τ₀ and λ are whole multiples of 2⁻⁶⁴, rounded down, which is towards privacy; `loss` is of the rounded ones, in
fractions. A coin of τ₀λⁿ is tossed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

N = TypeVar("N", float, Fraction)

ONE = 2**64
_SMALLEST = Decimal("1e-12")
_DIGITS = 60
_ROUNDS = 60
"""Of a search by parts: more than floats can tell apart."""


@dataclass(frozen=True)
class Coins:
    """`truth` and `keep` are τ₀ and λ in units of 2⁻⁶⁴; `items` is d, `views` V."""

    items: int
    views: int
    truth: int
    keep: int

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, items: int, views: int, randomisations: int) -> Coins:
        """Return the coins that cost at most `epsilon` and leave most strength after so many randomisations."""
        truth, keep = _best(float(epsilon), items, views, randomisations)
        while True:  # floats found it, fractions judge it
            found = cls(items, views, math.floor(truth * ONE), math.floor(keep * ONE))
            if found.epsilon <= epsilon or not found.truth:
                return found
            truth *= 1 - 2.0**-40

    @property
    def loss(self) -> Fraction:
        """The largest ratio of probabilities of all views together, with and without a unit."""
        return _loss(Fraction(self.truth, ONE), Fraction(self.keep, ONE), self.items, self.views)

    @property
    def epsilon(self) -> Fraction:
        """The logarithm of `loss`, rounded up to 10⁻¹²."""
        loss = self.loss
        with localcontext() as context:
            context.prec = _DIGITS
            exact = (Decimal(loss.numerator) / Decimal(loss.denominator)).ln() + Decimal(10) ** (10 - _DIGITS)
            return Fraction(exact.quantize(_SMALLEST, rounding=ROUND_CEILING))

    def strength(self, randomised: int) -> Fraction:
        """Return with which strength a cell is overwritten, and holds its item, after so many randomisations."""
        return Fraction(self.truth, ONE) * Fraction(self.keep, ONE) ** randomised


def _loss(truth: N, keep: N, items: int, views: int) -> N:
    """Return the bound of the proof; exact in fractions."""
    strengths = [truth * keep**view for view in range(views)]
    if items == 1:
        return max(_walk(strengths, keep, _more), _walk(strengths, keep, _less))
    values = items + 1
    pairs = [(t, max(keep, t) if view else t) for view, t in enumerate(strengths)]
    up, down = 1 + 0 * truth, 1 + 0 * truth
    for t, m in pairs:
        up, down = up * (values * t + 1 - t) / (1 - m), down * (values * m + 1 - m) / (1 - t)
    return max(up, down)


def _walk(strengths: list[N], keep: N, ratio: Callable[[int | None, int, N, N], N]) -> N:
    """Return the largest product of ratios along any way through the views."""
    best = [ratio(None, value, strengths[0], keep) for value in (0, 1)]
    for t in strengths[1:]:
        best = [max(best[last] * ratio(last, value, t, keep) for last in (0, 1)) for value in (0, 1)]
    return max(best)


def _more(last: int | None, value: int, t: N, keep: N) -> N:
    """Return P_S/P_S′ of one view."""
    own = 1 + t * value
    return own / (1 - keep) if last is not None and last != value else own


def _less(last: int | None, value: int, t: N, keep: N) -> N:
    """Return P_S′/P_S of one view."""
    own = 1 / (1 - t * (1 - value))
    return own * (1 + keep) if last == value else own


@lru_cache(maxsize=64)
def _best(epsilon: float, items: int, views: int, randomisations: int) -> tuple[float, float]:
    """Return τ₀ and λ, to float precision."""
    if views == 1:
        return _truth(epsilon, 0.0, items, views), 0.0
    keep = _peak(lambda each: _truth(epsilon, each, items, views) * each**randomisations)
    return _truth(epsilon, keep, items, views), keep


def _truth(epsilon: float, keep: float, items: int, views: int) -> float:
    """Return the largest τ₀ at which the loss is e^ε, to float precision; 0 if there is none."""
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        try:
            fits = math.log(_loss(middle, keep, items, views)) <= epsilon
        except (ZeroDivisionError, OverflowError):
            fits = False
        low, high = (middle, high) if fits else (low, middle)
    return low


def _peak(height: Callable[[float], float]) -> float:
    """Return where a function on (0, 1) that rises and then falls is highest."""
    low, high = 0.0, 1.0
    for _ in range(_ROUNDS):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        # On the flat part at the end, where nothing fits, go down.
        low, high = (first, high) if height(first) < height(second) else (low, second)
    return low
