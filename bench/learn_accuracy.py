"""How good private models of images are, at the ε that their accounts were charged."""

from __future__ import annotations

from image_data import MISSING as MISSING
from image_data import are_there
from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
One recipe for both sets, chosen on held-out parts of the training sets and then left alone: `image_features`
(scattering, decorrelated on made-up images) and a linear layer; 100 steps of SGD, batches of 8,192 by Poisson sampling,
clip 0.1, learning rate 80, momentum 0.5, paid whole. Accounts have δ = 1e-5, all of it set aside for events with a δ of
their own; ε is as charged. Means of five trainings on the whole training set, judged by the whole test set;
Fashion-MNIST has 59,160 and 9,680 of its images here. Time is for one training with its features.
"""
"""What the page of documentation says above this room's table."""

BARS = {"mnist": {1: 0.980, 3: 0.986}, "fashion": {1: 0.875, 3: 0.890}}
NAMES = {"mnist": "MNIST", "fashion": "Fashion-MNIST"}
SEEDS = 5
_LONGEST = 15 * 60


def cases() -> list[Case]:
    """Return the cases of this room; none where the images are missing."""
    if not are_there():
        return []
    return [
        Case(
            f"{NAMES[name]}, linear on image features, ε = {' and '.join(map(str, bars))}",
            Call("sordino_accuracy", "trained", {"name": name, "epsilons": list(bars), "seeds": SEEDS}),
            None,
            accurate(bars),
            repeats=1,
            fresh=True,
        )
        for name, bars in BARS.items()
    ]


def accurate(bars: dict[int, float]) -> Bar:
    """The mean accuracy reaches each ε's bar, no account was charged more, and a training takes 15 minutes at most."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        seen = ours.values
        figure = ", ".join(
            f"{seen[f'accuracy at {each}']:.2%} ± {seen[f'deviation at {each}']:.2%} at ε = "
            f"{seen[f'charged at {each}']:.3f}"
            for each in bars
        )
        reached = all(seen[f"accuracy at {each}"] >= bar for each, bar in bars.items())
        within = all(seen[f"charged at {each}"] <= each for each in bars)
        words = ", ".join(f"≥ {bar:.1%} at {each}" for each, bar in bars.items())
        return Verdict(figure, f"{words}; ≤ 15 min", reached and within and ours.seconds <= _LONGEST)

    return judge
