"""A run that is fixed beforehand, charged as a whole: its (ε, δ) with that δ as its own.

A filter that must hold under any choice along the way pays for it: a Rényi filter needs more noise than the privacy
loss distribution of the same run proves to be enough. Who fixes the run, every step of it, before it begins may claim
the latter, and be charged like any other event that is (ε, δ)-private.

**Guarantee**: a `Declared` event that is priced is (ε, δ)-differentially private for its own ε and δ, so an account
pays ε outside of a failure of probability δ. Steps may be chosen along the way, as long as each stays within its event.
**Proof**: dominating pairs compose adaptively (Zhu, Dong, Wang 2022, Theorem 10), so the run is (ε, δ)-private. Then it
is, also as an interactive mechanism, a post-processing of one that fails with probability δ and otherwise is binary
randomized response of ε (Kairouz, Oh, Viswanath 2015, Theorem 2.5; Lyu 2022 for interaction). An account may therefore
add δ to the failures and the divergences of that response to its other columns, whatever else runs meanwhile
(Vadhan, Zhang 2023; Haney et al. 2023 for filters).

**Why the event carries ε.** Ledgers price events again years later, on other computers, where a computation in floats
may come out otherwise in the last digits, or stop one refinement earlier. What is charged is the ε in the event, exact;
what is computed only decides whether the claim is proven. `declare` lifts ε by more than a bracket is wide (0.03 %), so
that a bracket found elsewhere proves it, too.

**For a unit that is replaced** the claim is found anew from what the run costs then: (2ε, (1+e^ε)δ), which holds for
anything, would be far more than that.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING
from fractions import Fraction
from functools import lru_cache

from sordino.arguments import Number, probability
from sordino.errors import ArgumentError, UnsupportedError

from .approximate import remaining
from .event import Event
from .events import Declared
from .units import significant

_DIGITS = 5
_LIFT = 1 + Fraction(1, 2048)


def declare(event: Event, delta: Number) -> Declared:
    """Return `event` as it may be charged as a whole at `delta`, with the least ε that is proven, rounded up.

    >>> from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
    >>> run = Repeated(PoissonSampled(Gaussian(variance=16), rate="0.01"), 10_000)
    >>> round(float(declare(run, "1e-5").epsilon), 3)
    0.947
    """
    exact = probability("delta", delta)
    lifted = Fraction(_proven(event, exact)) * _LIFT
    return Declared(event, exact, Fraction(significant(lifted, _DIGITS, ROUND_CEILING)))


def claimed(event: Declared) -> Fraction:
    """Return the ε that `event` claims; refuse a claim that is not proven."""
    least = _proven(event.event, event.delta)
    if least > event.epsilon:
        raise UnsupportedError(
            f"this run is declared to cost ε = {float(event.epsilon):.6g} at δ = {float(event.delta):.3g}, but no less "
            f"than {least:.6g} is proven for it; describe it with the ε that declare(event, delta) finds",
            "SRD-C015",
        )
    return event.epsilon


@lru_cache(maxsize=1024)
def _proven(event: Event, delta: Fraction) -> float:
    """Return the least ε known at δ: by the privacy loss distribution, or by Rényi where that does not know the run."""
    from . import pld, renyi  # they price events, this one among them

    remaining(event, delta)
    try:
        epsilon = pld.epsilon(event, delta)
    except UnsupportedError:
        epsilon = renyi.epsilon(event, delta)
    if math.isinf(epsilon):
        raise ArgumentError(
            f"at delta = {float(delta):.3g} no finite ε is proven for this run; declare it with a larger delta",
            "SRD-A003",
        )
    return epsilon
