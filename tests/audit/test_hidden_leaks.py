"""Thirty leaks where nobody looks are found, and twenty honest mechanisms of the same forms are not accused.

At length with five seeds at the default draws; and no bound is much below that of a test in the style of DP-Sniper.
"""

from __future__ import annotations

import pytest

from audit.classifier_test import shown_by_a_classifier
from audit.hidden_leaks import LEAKS, Leak
from audit.honest_outputs import HONEST
from sordino.audit import measure
from sordino.audit.measured import Measured
from sordino.audit.subject import Subject

DRAWS = 200_000
SEEDS = range(5)
CAUGHT = 27
"""Of thirty, with every seed."""
NEARLY = 0.9
"""The part of another's bound that ours must reach."""
UNSEEN = 0.05
"""A bound below this is none, and has no parts."""

QUICK = {
    "tree with noise for three of four levels": 150_000,
    "Laplace noise whose scale is local": 60_000,
    "the 58th of 100 counts has half the noise": 4_000,
    "one count inside has half the noise": 4_000,
    "keys in the order of true counts": 4_000,
    "zeros at the end tell": 4_000,
    "JSON with half the noise": 4_000,
    "2⁸⁰ and two thirds of the noise": 10_000,
    "single precision": 4_000,
    "doubles, low bits judged": 8_000,
    "pairs of equals, one doubled": 10_000,
    "no noise where nobody is left": 10_000,
}
"""Leaks that take seconds, and draws that suffice."""
QUICK_HONEST = ("cents", "JSON", "10¹⁸ and noise", "groups above a threshold", "two counts in a dictionary")


def found(leak: Leak, draws: int, seed: int) -> Measured:
    return measure(leak.subject, draws=draws, seed=seed, low_bits=leak.low_bits)


def test_there_are_as_many_as_are_said() -> None:
    assert len({leak.subject.name for leak in LEAKS}) == 30
    assert len({subject.name for subject in HONEST}) == 20
    assert set(QUICK) <= {leak.subject.name for leak in LEAKS}


@pytest.mark.parametrize(
    "leak", [leak for leak in LEAKS if leak.subject.name in QUICK], ids=lambda leak: leak.subject.name
)
def test_caught(leak: Leak) -> None:
    assert found(leak, QUICK[leak.subject.name], seed=1).refuted


@pytest.mark.parametrize("subject", [each for each in HONEST if each.name in QUICK_HONEST], ids=lambda each: each.name)
def test_not_accused(subject: Subject) -> None:
    assert not measure(subject, draws=4_000, seed=1).refuted


@pytest.mark.long
def test_leaks_are_caught_with_every_seed() -> None:
    missed = {leak.subject.name for leak in LEAKS if not all(found(leak, DRAWS, seed).refuted for seed in SEEDS)}
    assert len(LEAKS) - len(missed) >= CAUGHT, missed


@pytest.mark.long
def test_nobody_honest_is_accused_with_any_seed() -> None:
    accused = [(each.name, seed) for each in HONEST for seed in SEEDS if measure(each, draws=DRAWS, seed=seed).refuted]
    assert not accused


@pytest.mark.long
@pytest.mark.parametrize("subject", [*(leak.subject for leak in LEAKS), *HONEST], ids=lambda each: each.name)
def test_bounds_are_not_much_below_those_of_a_classifier(subject: Subject) -> None:
    ours = measure(subject, draws=DRAWS, seed=7)
    theirs = shown_by_a_classifier(subject, DRAWS, ours.delta, seed=8)
    assert theirs < UNSEEN or ours.epsilon >= NEARLY * theirs, (ours.epsilon, theirs)
