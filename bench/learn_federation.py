"""Five hospitals against one that holds all patients: what masks, shared noise and a lost member cost in accuracy."""

from __future__ import annotations

import os
from pathlib import Path

from measure import Bar, Call, Case, Measured, Verdict

NOTES = """\
MNIST's 60,000 training images as patients of five hospitals of unequal size, each with four fifths of its patients in
two of the ten classes; softmax regression, 1,000 patients a round on average, 120 rounds, ε as charged at δ = 1e-5,
patient unit. Hospitals mask their sums, and each adds its share of discrete Gaussian noise for four honest survivors
of five; central training is `so.learn.train` on all images with the same clip, batch, steps and rate. Accuracy on the
10,000 test images, mean of the seeds. Time is for one round (one step), masks and exact noise included.
"""
"""What the page of documentation says above this room's table."""

SEEDS = 2


IMAGES = Path(os.environ.get("SORDINO_IMAGES", Path(__file__).parents[2] / "shared" / "data" / "images"))


def cases() -> list[Case]:
    """Return the cases of this room; none where there are no images."""
    if not (IMAGES / "mnist_train.npz").exists():
        print(f"skipped: no images in {IMAGES}; say where they are by SORDINO_IMAGES")
        return []
    found = [
        _case(f"five skewed hospitals at ε = {epsilon:g}, against central training", epsilon, "nobody")
        for epsilon in (1, 3)
    ]
    return [*found, _case("the same at ε = 1, one of five killed in every tenth round", 1, "one")]


def _case(what: str, epsilon: float, killed: str) -> Case:
    words = {"epsilon": epsilon, "seeds": SEEDS}
    ours = Call("sordino_federation", "hospitals", {**words, "killed": killed})
    return Case(what, ours, Call("sordino_federation", "central", words), within(0.5), repeats=1)


def within(points: float) -> Bar:
    """At most so many points below, and no round came to nothing."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        found, wanted = ours.values["accuracy"], theirs.values["accuracy"]
        figure = f"{found:.2f} % against {wanted:.2f} %, {ours.values['failed']:.0f} rounds lost"
        passed = found >= wanted - points and ours.values["failed"] == 0
        return Verdict(figure, f"at most {points:g} points below, no round lost", passed)

    return judge
