"""The bars of the audit room: draws side by side, and bounds that are neither vacuous nor too high."""

from __future__ import annotations

from typing import Any

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


_NO_BOUND = 0.05


def caught_and_close(many: int, seeds: int, part: float) -> Bar:
    """So many claims are refuted with every seed, no other with any; each bound is at least that part of the peer's."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        mine: dict[str, Any] = dict(ours.values)
        peer: dict[str, Any] = dict(theirs.values)
        caught = sum(each["caught"] == seeds for each in mine.values())
        partly = sum(0 < each["caught"] < seeds for each in mine.values())
        ratios = {
            name: each["epsilon"] / peer[name][each["delta"]]
            for name, each in mine.items()
            if peer[name][each["delta"]] >= _NO_BOUND
        }
        least = min(ratios, key=ratios.__getitem__)
        figure = f"{caught} caught; bounds ≥ {ratios[least]:.2f} ({least})"
        bar = f"{many} with every seed, bounds ≥ {part:g} × the peer's"
        return Verdict(figure, bar, caught == many and not partly and ratios[least] >= part)

    return judge
