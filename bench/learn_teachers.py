"""How good a student of a teacher ensemble is, at the ε that the labels were charged."""

from __future__ import annotations

from image_data import MISSING as MISSING
from image_data import are_there
from measure import Call, Case, Measured, Verdict

NOTES = """\
250 teachers, each a ridge regression on `image_features` of its own part of MNIST's training set. 400 of 9,000 public
images of the test set get a label by a noisy vote at σ = 40, declared with δ = 1e-5; the student learns from these and
from the 8,600 without a label, and is judged by the 1,000 other images. Means of ten random splits, each with an
ensemble of its own. What there is to choose was chosen on held-out images of the training set. Time is for one split.
"""
"""What the page of documentation says above this room's table."""

SPLITS, BAR, EPSILON = 10, 0.97, 2.95


def cases() -> list[Case]:
    """Return the cases of this room; none where the images are missing."""
    call = Call("sordino_teachers", "students", {"splits": SPLITS})
    what = "MNIST, 250 teachers, 400 answers at σ = 40"
    return [Case(what, call, None, taught, repeats=1, fresh=True)] if are_there() else []


def taught(ours: Measured, _theirs: Measured | None) -> Verdict:
    """The students reach the bar, and no account was charged more than 400 such answers cost."""
    seen = ours.values
    figure = (
        f"student {seen['accuracy']:.2%} ± {seen['deviation']:.2%} at ε = {seen['charged']:.3f} ({seen['labels']:.1%} "
        "of labels right)"
    )
    return Verdict(figure, f"≥ {BAR:.0%}", seen["accuracy"] >= BAR and seen["charged"] <= EPSILON)
