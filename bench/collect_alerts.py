"""Alerts over many metrics and pan-private counts: what is found, what is told wrongly, what audits see."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict, duration

NOTES = """\
Alerts: 2,000 metrics over 50 steps at ε = 1 for three alarms, 100 runs. In each, three metrics are once beyond the
threshold by `error(0.95)`, all other values are below it by as much or more; a run is right if these three are found
and nothing else. Time is for one step; with a ledger each is recorded and synced before it leaves. The variant in
circulation has Lap(2/ε) on the threshold and Lap(4/(3ε)) on queries for any number of alarms, and claims ε = 1.
Pan-private: one unit's cell before a save, in the file and after it, with updates at moments that are drawn for each
audit; the claim is ε = 1 for all three. Errors are of the estimate of 80,000 units at ε = 1, in standard errors that
it states.
"""
"""What the page of documentation says above this room's table."""

RUNS, AUDITS = 100, 20


def cases() -> list[Case]:
    """Return the cases of this room."""
    return [
        _case("alerts: 2,000 metrics × 50 steps, 100 runs", "alerts", right(95), runs=RUNS, ledger=False),
        _case("alerts: the same, one run with a ledger", "alerts", right(1), runs=1, ledger=True),
        _case("audit: comparisons of an alert", "audited_alert", not_accused(1), audits=AUDITS),
        _case("audit: sparse vector in circulation", "audited_variant", caught, audits=AUDITS),
        _case("audit: pan-private states at random moments", "audited_states", not_accused(1), audits=AUDITS),
        _case("audit: states without noise", "audited_states", caught, audits=AUDITS, noise=False),
        _case("pan-private distinct, 80,000 units, ε = 1", "distinct_error", calibrated, runs=RUNS),
    ]


def _case(what: str, function: str, bar: Bar, **arguments: object) -> Case:
    return Case(what, Call("sordino_collect_alerts", function, arguments), None, bar, repeats=1, fresh=True)


def right(least: int) -> Bar:
    """At least so many runs found all shifts and nothing else."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = f"{seen['right']:g} of {seen['runs']:g} right; {duration(ours.seconds)} a step"
        return Verdict(figure, f"≥ {least}", seen["right"] >= least)

    return judge


def not_accused(claim: float) -> Bar:
    """No audit refutes, and no bound is above the claim."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = f"ε ≥ {seen['least']:.2f} to {seen['most']:.2f}; {seen['refuted']:g} of {seen['audits']:g} refuted"
        return Verdict(figure, f"none above {claim:g}", seen["most"] <= claim and not seen["refuted"])

    return judge


def caught(ours: Measured, _theirs: Measured | None) -> Verdict:
    """Every audit refutes."""
    seen = ours.values
    return Verdict(f"{seen['refuted']:g} of {seen['audits']:g} refuted", "all", seen["refuted"] == seen["audits"])


def calibrated(ours: Measured, _theirs: Measured | None) -> Verdict:
    """Estimates err as they say: the mean by less than 4 of its standard errors, and intervals cover."""
    seen = ours.values
    figure = f"error {seen['error']:.2%}, bias {seen['bias']:+.2f}, intervals cover {seen['covered']:.0%}"
    return Verdict(figure, "|bias| ≤ 0.4, ≥ 88 %", abs(seen["bias"]) <= 0.4 and seen["covered"] >= 0.88)
