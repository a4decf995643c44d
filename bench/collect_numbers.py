"""Numbers from devices: squared errors against theory, coverage of 95 % intervals, which way is chosen."""

from __future__ import annotations

from measure import Call, Case, Measured, Verdict

NOTES = """\
Squared errors of means are divided by what the formula tells before anybody answers (the figure's own standard error
beside it); those of distributions and variances by the mean of the squared standard errors that are told with them. The
same 500 people answer in every round (10,000 where shares are asked for), for variances others in each of 4,000 rounds,
so that their errors are known to 7 % and held to 8 %. Time is for one report, made in bulk. Bits do not tell how people
differ, so where ε is large the intervals of two values are wider than they need be.
"""
"""What the page of documentation says above this room's table."""

EPSILONS = ("0.5", "1", "2", "4", "8")
WAYS = ("two-values", "piecewise", "hybrid", "local-laplace")
SIDE = "sordino_numbers"
PEOPLE, ROUNDS = 500, 24_000  # so that three standard errors of a squared error are below 3 %


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = [_mean(way, epsilon) for way in WAYS for epsilon in EPSILONS]
    for epsilon in EPSILONS:
        found.append(Case(f"choice for a mean, ε = {epsilon}", Call(SIDE, "chosen", {"epsilon": epsilon}), None, _near))
        asked = {"epsilon": epsilon, "steps": 32, "people": 10_000, "rounds": ROUNDS}
        found.append(_case(f"shares up to each of 32 points, ε = {epsilon}", "distribution", asked))
        asked = {"epsilon": epsilon, "people": 10_000, "rounds": 4000}
        found.append(_case(f"variance, ε = {epsilon}", "variance", asked, ratio=0.08))
        asked = {"epsilon": epsilon, "dimension": 8, "people": PEOPLE, "rounds": ROUNDS // 8}
        found.append(_case(f"vectors of 8 numbers, ε = {epsilon}", "directions", asked))
    return found


def _mean(way: str, epsilon: str) -> Case:
    asked = {"way": way, "epsilon": epsilon, "people": PEOPLE, "rounds": ROUNDS}
    return _case(f"mean by {way}, ε = {epsilon}", "mean", asked, wide=way == "two-values")


def _case(name: str, function: str, asked: dict[str, object], *, ratio: float = 0.03, wide: bool = False) -> Case:
    def judge(ours: Measured, _: Measured | None) -> Verdict:
        off, within, covered = (ours.values[each] for each in ("ratio", "within", "covered"))
        figure = f"squared error {off:.3f} ± {within:.3f} × theory, {100 * covered:.1f} % covered, "
        figure += f"{1e9 * ours.seconds:.0f} ns a report"
        most = 1.0 if wide else 0.97
        bar = f"within {100 * ratio:.0f} %, 93 % {'or more' if wide else 'to 97 %'}"
        return Verdict(figure, bar, abs(off - 1) <= ratio and 0.93 <= covered <= most)

    return Case(name, Call(SIDE, function, asked), None, judge, repeats=1)


def _near(ours: Measured, _: Measured | None) -> Verdict:
    ratio = ours.values["ratio"]
    return Verdict(f"{WAYS[int(ours.values['way'])]}, {ratio:.4f} × the least variance", "≤ 1.02 ×", ratio <= 1.02)
