"""The bars of the query room: errors side by side, times beside a plain query, memory beside the engine's."""

from __future__ import annotations

from math import exp, log

from measure import Bar, Measured, Verdict, duration


def beside_plain(times: float, spare: float) -> Bar:
    """Ours takes at most `times` the plain query and `spare` seconds."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        allowed = times * theirs.seconds + spare
        bar = f"≤ {times:g} × plain + {duration(spare)}"
        return Verdict(f"{ours.seconds / theirs.seconds:.2f} ×", bar, ours.seconds <= allowed)

    return judge


def grows(times: float, memory_limit: float, beside: float) -> Bar:
    """The larger takes at most `times` the smaller, and its process at most `beside` GiB beside the engine's limit."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratio, peak = ours.seconds / theirs.seconds, ours.values["peak_bytes"] / 2**30
        passed = ratio <= times and peak - memory_limit <= beside
        figure = f"{ratio:.1f} ×, {peak:.1f} GiB in all"
        return Verdict(figure, f"≤ {times:g} ×, ≤ {beside:g} GiB beside the engine's {memory_limit:.1f}", passed)

    return judge


def errors_at_most(times: float | None) -> Bar:
    """The errors of count and of mean are at most `times` the peer's; None: shown only."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratios = {name: ours.values[name] / theirs.values[name] for name in ("count", "mean")}
        figure = ", ".join(
            f"{name} {ours.values[name]:.3g} : {theirs.values[name]:.3g} = {ratio:.2f}"
            for name, ratio in ratios.items()
        )
        if times is None:
            return Verdict(figure, "", passed=True)
        return Verdict(figure, f"both ≤ {times:g}", max(ratios.values()) <= times)

    return judge


def covers(share: float) -> Bar:
    """The intervals of count and of mean hold the truth at least so often."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        count, mean = ours.values["count_covered"], ours.values["mean_covered"]
        return Verdict(f"count {count:.1%}, mean {mean:.1%}", f"both ≥ {share:.0%}", min(count, mean) >= share)

    return judge


def medians_at_most(times: float | None) -> Bar:
    """The geometric mean over all settings of our error divided by theirs is at most `times`; None: shown only."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        ratios = {name: ours.values[name] / theirs.values[name] for name in ours.values}
        mean = exp(sum(log(ratio) for ratio in ratios.values()) / len(ratios))
        worst = max(ratios, key=lambda name: ratios[name])
        figure = f"{mean:.2f}, worst {ratios[worst]:.2f} ({worst})"
        if times is None:
            return Verdict(figure, "", passed=True)
        return Verdict(figure, f"geometric mean ≤ {times:g}", mean <= times)

    return judge


def keeps_at_least(times: float) -> Bar:
    """We keep at least `times` as many keys as the peer."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        kept, peer = ours.values["kept"], theirs.values["kept"]
        figure = f"{kept:,.0f} : {peer:,.0f} keys"
        if "count" in ours.values:
            figure += f", count errors {ours.values['count']:.3g} : {theirs.values['count']:.3g}"
        return Verdict(figure, f"≥ {times:g} × the peer's keys", kept >= times * peer)

    return judge
