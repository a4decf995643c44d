"""Laws about what comes out: the noise is as large as claimed, and neighbours are as hard to tell apart as claimed.

One threshold for all: a test that should pass fails by chance once in a million.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any

from scipy.stats import beta, chi2

from .case import Case, FailedCheckError
from .prices import every_accountant

CHANCE = 1e-6
LEAST_EXPECTED = 10.0
OTHER_LEVELS = (0.7, 1.3)
LOOKS = 4
"""How often an audit looks before it says that too little could be shown: one look misses once in a hundred times."""
_EACH = CHANCE / (4 * LOOKS)  # for two bounds in two directions, at each look
_TRIAL_CHANCE = 1e-3  # how far a trial is trusted; it only steers, so it need not be safe


def power_check(case: Case) -> None:
    """The outcomes fit the law of the claimed noise, and do not fit that of 0.7 or 1.3 times as much."""
    if case.law is None:
        return
    seen = Counter(case.sample(case.value, case.draws))
    claimed = fit(seen, case.law(case.value, 1.0))
    if claimed < CHANCE:
        raise FailedCheckError(
            f"power check: n = {case.draws}, k = {len(seen)}, p = {claimed:.3g} for the noise claimed"
        )
    for level in OTHER_LEVELS:
        p = fit(seen, case.law(case.value, level))
        if p >= CHANCE:
            raise FailedCheckError(
                f"power check: n = {case.draws}, k = {len(seen)}, p = {p:.3g} for {level} × the noise claimed, "
                "so this case could not tell them apart; give it more draws or another value"
            )


def audit_check(case: Case) -> None:
    """What an attacker measures on two neighbours is never above the claim, and not far below it where feasible.

    A trial now and then picks outcomes that were only lucky, and then little can be shown of an honest mechanism. So
    the attacker may look `LOOKS` times; the bounds of all looks together hold up to `CHANCE`.
    """
    promised = claim(case)
    if promised is None:
        return
    epsilon, delta = promised
    shown = 0.0
    for _ in range(LOOKS):
        measured = audit(case, delta)
        if measured > epsilon:
            raise FailedCheckError(
                f"audit check: n = {case.draws}, ε ≥ {measured:.4g} is certain up to {CHANCE}, "
                f"but only {epsilon:.4g} is claimed at δ = {delta}"
            )
        shown = max(shown, measured)
        if shown >= case.tightness * epsilon:
            return
    raise FailedCheckError(
        f"audit check: n = {case.draws}, only ε ≥ {shown:.4g} of the claimed {epsilon:.4g} could be shown "
        f"in {LOOKS} looks; this case promised {case.tightness} of it"
    )


def claim(case: Case) -> tuple[float, float] | None:
    """Return (ε, δ) that the case's event promises: pure where that is known, else the best accountant's."""
    if case.claim is not None:
        return float(case.claim), 0.0
    prices = every_accountant(case.event, case.delta)
    if "pure" in prices:
        return prices["pure"], 0.0
    return (min(prices.values()), case.delta) if prices else None


def audit(case: Case, delta: float = 0.0) -> float:
    """Return a lower bound on ε at `delta` that holds up to a chance of `CHANCE` over `LOOKS` calls.

    A first sample picks the set of outcomes that tells the two inputs apart best, a second one measures it, so the
    choice costs no confidence. Clopper–Pearson bounds, both directions, so a quarter of one look's chance each.
    """
    pair = (case.value, case.neighbour)
    trial = [Counter(case.sample(value, max(1, case.draws // 4))) for value in pair]
    seen = [Counter(case.sample(value, case.draws)) for value in pair]
    best = 0.0
    for first, second in ((0, 1), (1, 0)):
        chosen = _telling_set(trial[first], trial[second])
        hits = sum(seen[first][label] for label in chosen)
        misses = sum(seen[second][label] for label in chosen)
        low = _at_least(hits, case.draws) - delta
        if low > 0:
            best = max(best, math.log(low / _at_most(misses, case.draws)))
    return best


def fit(seen: Counter[Hashable], law: Mapping[Any, float]) -> float:
    """Return the p-value of chi-square for the labels seen under `law`; rare labels are put together."""
    draws = sum(seen.values())
    impossible = sum(count for label, count in seen.items() if label not in law)
    cells, rest_seen, rest_expected = [], 0, 0.0
    for label, share in law.items():
        if share * draws >= LEAST_EXPECTED:
            cells.append((seen[label], share * draws))
        else:
            rest_seen, rest_expected = rest_seen + seen[label], rest_expected + share * draws
    rest_seen, rest_expected = rest_seen + impossible, max(rest_expected, draws - sum(e for _, e in cells))
    if rest_expected >= LEAST_EXPECTED:
        cells.append((rest_seen, rest_expected))
    elif rest_seen > 0:
        # Too few expected for chi-square, and yet so many seen: Markov's inequality is crude but never wrong.
        cells.append((rest_seen, max(rest_expected, 1.0)))
    statistic = sum((count - expected) ** 2 / expected for count, expected in cells)
    return float(chi2.sf(statistic, max(len(cells) - 1, 1)))


def _telling_set(likely: Counter[Hashable], unlikely: Counter[Hashable]) -> set[Hashable]:
    """Return the labels above the cut of likelihood ratios that promises the best bound."""
    draws = sum(likely.values())
    ranked = sorted(likely, key=lambda label: likely[label] / (unlikely[label] + 1), reverse=True)
    best, chosen, hits, misses = -math.inf, set[Hashable](), 0, 0
    for place, label in enumerate(ranked):
        hits, misses = hits + likely[label], misses + unlikely[label]
        bound = math.log(_at_least(hits, draws, _TRIAL_CHANCE) / _at_most(misses, draws, _TRIAL_CHANCE))
        if bound > best:
            best, chosen = bound, set(ranked[: place + 1])
    return chosen


def _at_least(hits: int, draws: int, chance: float = _EACH) -> float:
    return 0.0 if hits == 0 else float(beta.ppf(chance, hits, draws - hits + 1))


def _at_most(hits: int, draws: int, chance: float = _EACH) -> float:
    return 1.0 if hits == draws else float(beta.ppf(1 - chance, hits + 1, draws - hits))
