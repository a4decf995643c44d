"""Audits of training: how much of ε one run shows, how many trainings it takes to catch a broken one, who was in it."""

from __future__ import annotations

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
Trainings are those of the reference DP-SGD of the tests, with noise priced by sordino at ε = 4 and δ = 1e-5. One run:
1,000 canaries, each along a parameter of its own in a net of 2,410 parameters on 200 of scikit-learn's digits, 128
guesses fixed beforehand, 95 % confidence, 50 runs of the audit; bounds hold without any assumption, those "if
Gaussian" for trainings with Gaussian curves, such as the first. Black box: 1,000 mislabelled digits, scored by the loss
of the finished model. Broken trainings are claimed to cost what the sound one does, by its whole curve; each is
audited with 20 seeds, at most 12,000 trainings each. Time is for one audit with all its trainings.
"""
"""What the page of documentation says above this room's table."""

RUNS, SEEDS, SOUND_SEEDS = 50, 20, 300
SCHEDULES = {
    "all in every step, 10 steps": (1.0, 10),
    "rate 0.5, 32 steps": (0.5, 32),
    "rate 0.1, 100 steps": (0.1, 100),
}
BROKEN = {
    "without clipping": "unclipped",
    "batch clipped, not each example": "clipped_as_a_batch",
    "noise by microbatch": "noised_by_microbatch",
    "shuffled, priced as Poisson": "shuffled",
}


def cases() -> list[Case]:
    """Return the cases of this room."""
    found = [
        _case(f"one run at ε = 4, white box: {words}", "one_run", shows(1, 4), rate=rate, steps=steps, runs=RUNS)
        for words, (rate, steps) in SCHEDULES.items()
    ]
    found.append(_case("one run at ε = 4, black box", "black_box", shows(0, 4), runs=RUNS))
    for words, how in BROKEN.items():
        found.append(_case(f"many runs: DP-SGD {words}", "broken", caught(SEEDS), how=how, seeds=SEEDS))
    found.append(_case("many runs: sound DP-SGD", "broken", not_accused, how="sound", seeds=SOUND_SEEDS))
    found.append(_case("likelihood ratio on 64 models of digits", "membership", tells(0.1, 0.03)))
    return found


def _case(what: str, function: str, bar: Bar, **arguments: object) -> Case:
    return Case(what, Call("sordino_training", function, arguments), None, bar, repeats=1, fresh=True)


def shows(median: float, truth: float) -> Bar:
    """The median bound is at least `median`, and none is above the truth."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = (
            f"ε ≥ {seen['median']:.2f} ({seen['least']:.2f} to {seen['most']:.2f}; {seen['above_one']} of "
            f"{seen['runs']} above 1), if Gaussian {seen['median_gaussian']:.2f} ({seen['most_gaussian']:.2f} at most)"
        )
        passed = seen["median"] >= median and seen["most"] <= truth and not seen["refuted"]
        return Verdict(figure, f"median ≥ {median:g}, none above {truth:g}", passed)

    return judge


def caught(seeds: int) -> Bar:
    """The claim is refuted with every seed."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = f"{seen['refuted']} of {seeds}, after {seen['median']:,.0f} trainings ({seen['most']:,.0f} at most)"
        return Verdict(figure, f"{seeds} of {seeds}", seen["refuted"] == seeds)

    return judge


def not_accused(ours: Measured, _theirs: Measured | None) -> Verdict:
    """The claim is refuted with no seed."""
    return Verdict(f"{ours.values['refuted']} of {ours.values['seeds']} accused", "none", ours.values["refuted"] == 0)


def tells(raw: float, private: float) -> Bar:
    """At 1 % false alarms at least a share `raw` of members is found without protection, at most `private` with it."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = (
            f"finds {seen['raw']:.1%} of members at 1 % false alarms (AUC {seen['raw_auc']:.3f}), "
            f"{seen['private']:.1%} at ε = {seen['epsilon']:.2f} (AUC {seen['private_auc']:.3f})"
        )
        bar = f"≥ {raw:.0%} unprotected, ≤ {private:.0%} private"
        return Verdict(figure, bar, seen["raw"] >= raw and seen["private"] <= private)

    return judge
