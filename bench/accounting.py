"""Accounting: values against the truth, times against dp_accounting, and a filter after a million events."""

from __future__ import annotations

from measure import Call, Case, at_most_seconds, at_most_times, brackets, information, value_at_most

DELTA = 1e-5
# noise multiplier, sampling rate, steps, true ε at δ = 1e-5 (known to 1e-5)
SETTINGS = (
    (4.0, 0.01, 10_000, 0.94687),
    (4.0, 0.01, 40_000, 2.03307),
    (0.8, 0.001, 100_000, 2.57496),
    (1.0, 0.01, 1_000, 1.828237),
    (0.6, 0.02, 5_000, 33.89336),
)
RENYI = ((4.0, 0.01, 10_000, 1.0355), (4.0, 0.01, 40_000, 2.2098))
MANY = 10_000
EARLIER = 1_000_000

GROUPS = {"loss distribution, time": 0.5}
"""Cases judged together: the geometric mean of their ratios must be at most this."""


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = []
    for noise, rate, steps, truth in SETTINGS:
        setting = {"noise": noise, "rate": rate, "steps": steps, "delta": DELTA}
        words = f"σ = {noise:g}, q = {rate:g}, {steps:,} steps"
        ours = Call("sordino", "training_run", setting)
        theirs = Call("dp_accounting", "training_run", setting)
        found.append(Case(f"loss distribution, value: {words}", ours, None, brackets(truth), repeats=1, fresh=True))
        found.append(
            Case(
                f"loss distribution, time: {words}",
                ours,
                theirs,
                information,
                fresh=True,
                repeats=5,
                group="loss distribution, time",
            )
        )
    for noise, rate, steps, limit in RENYI:
        setting = {"noise": noise, "rate": rate, "steps": steps, "delta": DELTA}
        words = f"Rényi, value: σ = {noise:g}, q = {rate:g}, {steps:,} steps"
        found.append(Case(words, Call("sordino", "renyi_value", setting), None, value_at_most(limit), repeats=1))
    found.append(_many_events())
    admit = Call("sordino", "admit_one_more", {"earlier": EARLIER})
    found.append(Case(f"filter: one more after {EARLIER:,} events", admit, None, at_most_seconds(1e-3), 1, fresh=True))
    return found


def _many_events() -> Case:
    """All different: scales spread evenly, Laplace and Gaussian in turn; noisy enough that the whole costs a few ε."""
    scales = [
        ("laplace", 400 + number / 50) if number % 2 else ("gaussian", 200 + number / 50) for number in range(MANY)
    ]
    workload = {"scales": scales, "delta": DELTA}
    ours, theirs = Call("sordino", "many_events", workload), Call("dp_accounting", "many_events", workload)
    words = f"loss distribution of {MANY:,} different events, the same for both"
    return Case(words, ours, theirs, at_most_times(0.2), repeats=1, fresh=True)
