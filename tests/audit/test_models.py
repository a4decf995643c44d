"""Membership inference on models wins where a model has learnt by heart and loses where it was trained privately."""

from __future__ import annotations

import functools
import io

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from audit.reference_sgd import Array, Logistic, Recipe, TwoLayers, clipped, fit_together
from sordino import audit
from sordino.accounting import accountants
from sordino.audit.attacks.limits import most_found
from sordino.audit.attacks.models import ModelMembership, membership_from_logits
from sordino.errors import ArgumentError

MODEL = Logistic(64, 10)
BY_HEART = Recipe(steps=200, rate=1.0, noise=0.0, clip=1e9, learning_rate=4.0)
PRIVATE = Recipe(steps=30, rate=1.0, noise=12.0, clip=1.0, learning_rate=2.0)
RATES = ("0.01", "0.001")


def digits(count: int) -> tuple[Array, Array]:
    rows, labels = load_digits(return_X_y=True)
    return rows[:count] / 16, labels[:count]


@functools.cache
def attacked(recipe: Recipe, models: int = 64, seed: int = 0) -> ModelMembership:
    rows, labels = digits(200)
    rng = np.random.default_rng(seed)
    members = rng.random((models, len(rows))) < 0.5
    logits = MODEL.logits(fit_together(MODEL, rows, labels, members, recipe, rng), rows)
    claim = (accountants.epsilon(recipe.event, "1e-5"), "1e-5") if recipe.noise else None
    return membership_from_logits(logits, labels, members, claim=claim)


# ---- the reference --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [Logistic(4, 3), TwoLayers(4, 5, 3)], ids=["logistic", "two layers"])
def test_gradients_are_those_of_the_loss(model: Logistic | TwoLayers) -> None:
    rng = np.random.default_rng(1)
    rows, labels, weights = rng.normal(size=(6, 4)), rng.integers(0, 3, 6), rng.normal(size=model.dimension)

    def losses(at: Array) -> Array:
        logits = model.logits(at, rows)
        return np.logaddexp.reduce(logits, axis=-1) - logits[np.arange(6), labels]

    small = 1e-6 * np.eye(model.dimension)
    slopes = np.array([(losses(weights + step) - losses(weights - step)) / 2e-6 for step in small]).T
    assert np.allclose(model.gradients(weights, rows, labels), slopes, atol=1e-6)
    several = model.gradients(np.stack([weights, -weights]), rows, labels)
    assert np.allclose(several[1], model.gradients(-weights, rows, labels))


def test_models_trained_together_are_those_trained_alone() -> None:
    rows, labels = digits(20)
    members = np.ones((2, 20), dtype=bool)
    recipe = Recipe(steps=1, rate=1.0, noise=0.0, clip=0.3, learning_rate=1.0)
    found = fit_together(MODEL, rows, labels, members, recipe, np.random.default_rng(2))
    expected = -clipped(MODEL.gradients(np.zeros(MODEL.dimension), rows, labels), 0.3).sum(0) / 10
    assert np.allclose(found, expected)


# ---- both halves ----------------------------------------------------------------------------------------------------


def test_the_likelihood_ratio_wins_on_a_model_that_learnt_by_heart() -> None:
    found = attacked(BY_HEART)
    assert found.best.auc > 0.75
    assert found.best.found_at("0.01") > 0.1
    assert found.best.interval_at("0.01")[0] > 0.1
    assert found.best.found_at("0.001") > 0.04
    assert found.attacks["shadow models"].auc > found.attacks["loss threshold"].auc > 0.58


def test_every_attack_loses_on_a_private_training() -> None:
    found = attacked(PRIVATE)
    assert found.claim is not None
    for roc in found.attacks.values():
        assert abs(roc.auc - 0.5) < 0.08
        assert roc.found_at("0.01") < 0.03
        for rate in RATES:
            allowed = float(most_found(found.claim.trade_off, float(rate)))
            assert roc.interval_at(rate)[0] <= allowed


def test_few_models_share_one_spread_and_still_win() -> None:
    found = attacked(BY_HEART, models=16)
    assert found.best.auc > 0.65
    assert found.best.found_at("0.01") > 0.04


def test_members_drawn_anew_are_not_found() -> None:
    rows, labels = digits(200)
    rng = np.random.default_rng(3)
    members, others = rng.random((2, 32, 200)) < 0.5
    logits = MODEL.logits(fit_together(MODEL, rows, labels, members, BY_HEART, rng), rows)
    for roc in membership_from_logits(logits, labels, others).attacks.values():
        assert abs(roc.auc - 0.5) < 0.03
        assert roc.interval_at("0.01")[0] <= 0.015


# ---- any model ------------------------------------------------------------------------------------------------------


def test_models_of_scikit_learn_are_attacked_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("rich.progress.get_console", lambda: Console(file=screen, force_terminal=True, width=80))
    rows, labels = load_breast_cancer(return_X_y=True)

    def tree(examples: Array, own: Array, seed: int) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(random_state=seed).fit(examples, own)

    def stump(examples: Array, own: Array, seed: int) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=1, random_state=seed).fit(examples, own)

    deep = audit.membership_of_models(tree, rows, labels, models=32, seed=4, progress=True)
    shallow = audit.membership_of_models(stump, rows, labels, models=32, seed=4)
    assert "training models" in screen.getvalue()
    assert deep.attacks["loss threshold"].auc > 0.53
    assert deep.best.auc > shallow.best.auc > 0.45
    again = audit.membership_of_models(stump, rows, labels, models=32, seed=4)
    assert np.array_equal(again.best.scores, shallow.best.scores)


def test_a_class_that_a_model_never_saw_and_labels_of_any_kind_are_taken() -> None:
    rng = np.random.default_rng(5)
    rows, labels = rng.normal(size=(40, 3)), np.array(["a", "b"] * 19 + ["rare", "rare"])

    def logistic(examples: Array, own: Array, _seed: int) -> LogisticRegression:
        return LogisticRegression().fit(examples, own)

    assert len(audit.membership_of_models(logistic, rows, labels, models=8, seed=1).attacks) == 3
    known = audit.membership_of_models(
        lambda _rows, _labels, _seed: lambda examples: np.zeros((len(examples), 3)), rows, labels, models=4, seed=1
    )
    assert all(roc.auc == 0.5 for name, roc in known.attacks.items() if name == "loss threshold")


def test_arrays_that_do_not_fit_are_refused() -> None:
    logits, labels, members = np.zeros((4, 5, 2)), np.zeros(5, dtype=int), np.ones((4, 5), dtype=bool)
    wrong = [
        (logits[0], labels, members),
        (logits, labels[:3], members),
        (logits, labels, members[:2]),
        (logits[:2], labels, members[:2]),
        (logits, labels + 7, members),
        (logits, labels - 1, members),
        (logits, labels, members.astype(int)),
    ]
    for arguments in wrong:
        with pytest.raises(ArgumentError):
            membership_from_logits(*arguments)
    with pytest.raises(ArgumentError, match="SRD-V022"):
        audit.membership_of_models(
            lambda _rows, _labels, _seed: lambda examples: np.zeros(len(examples)), np.zeros((8, 1)), [0, 1] * 4
        )


# ---- what is shown --------------------------------------------------------------------------------------------------


def test_the_figure_shows_both_trainings_and_the_limit() -> None:
    figure = attacked(BY_HEART).figure(attacked(PRIVATE))
    raw, private = figure.axes
    assert raw.get_xscale() == raw.get_yscale() == "log"
    assert "the most that is allowed" in private.get_legend_handles_labels()[1]
    assert "the most that is allowed" not in raw.get_legend_handles_labels()[1]
    (alone,) = attacked(PRIVATE).figure().axes
    assert len(alone.lines) == 5


def test_the_numbers_are_said_in_words() -> None:
    text = str(attacked(BY_HEART))
    assert "likelihood ratio: AUC 0.7" in text or "likelihood ratio: AUC 0.8" in text
    assert "at 0.1 % false alarms" in text


def test_intervals_hold_the_share_and_shrink_with_models() -> None:
    few, many = attacked(BY_HEART, models=16).best, attacked(BY_HEART).best
    for roc in (few, many):
        low, high = roc.interval_at("0.01")
        assert low <= roc.found_at("0.01") <= high
    widths = [np.diff(roc.interval_at("0.01"))[0] for roc in (few, many)]
    assert widths[1] < widths[0]
    assert many.interval_at(1) == pytest.approx((1, 1), abs=1e-3)
