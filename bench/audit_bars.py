"""The bars of the audit room: draws side by side, and bounds that are neither vacuous nor too high."""

from __future__ import annotations

from measure import Bar, Measured, Verdict, duration


def at_most_draws(times: float) -> Bar:
    """Ours refutes by at most `times` as many draws as the peer, in the median."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        mine, peer = ours.values["draws"], theirs.values["draws"]
        ratio = mine / peer
        return Verdict(f"{mine:,.0f} : {peer:,.0f} draws = {ratio:.2f}", f"≤ {times:g} × the peer", ratio <= times)

    return judge


def measured_between(least: float, most: float, seconds: float) -> Bar:
    """The bound on ε lies between the two, found within so many seconds."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        epsilon = ours.values["epsilon"]
        passed = least <= epsilon <= most and ours.seconds <= seconds
        return Verdict(f"ε ≥ {epsilon:.3f}", f"{least:g} – {most:g}, ≤ {duration(seconds)}", passed)

    return judge
