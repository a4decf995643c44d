"""Audits of a training by one run: the bar, what is caught, what is not accused, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits

from audit.reference_sgd import Array, Logistic, Recipe, TwoLayers, sound, train, unclipped
from sordino import audit
from sordino.accounting import accountants
from sordino.accounting.events import Correlated
from sordino.audit.claim import Claim
from sordino.audit.dice import dice
from sordino.audit.training.canaries import ExampleCanaries, GradientCanaries
from sordino.audit.training.one_run import one_run
from sordino.audit.training.training_audit import TrainingAudit
from sordino.errors import ArgumentError

FOUR = Recipe(steps=4, rate=1.0, noise=2.1624)
"""Costs ε = 4 at δ = 1e-5."""
NET = TwoLayers(64, 32, 10)


def digits(count: int) -> tuple[Array, Array]:
    rows, labels = load_digits(return_X_y=True)
    return rows[:count] / 16, labels[:count]


def audited(recipe: Recipe, claim: object, seed: int, guesses: int | None = None) -> TrainingAudit:
    rows, labels = digits(200)
    canaries = GradientCanaries.draw(1000, NET.dimension, 30, seed=seed)

    def white_box(included: Array) -> Array:
        _, seen = train(NET, rows, labels, recipe, np.random.default_rng(seed), canaries.gradients(included))
        return canaries.scores(seen)

    return one_run(white_box, 1000, claim, guesses=guesses, seed=seed)


def test_the_recipe_costs_four() -> None:
    assert 3.99 < accountants.epsilon(FOUR.event, "1e-5") <= 4


def test_dp_sgd_at_four_shows_more_than_one_and_is_not_accused() -> None:
    found = [audited(FOUR, (4, 1e-5), seed, guesses=128) for seed in range(4)]
    assert np.median([one.epsilon for one in found]) >= 1
    assert np.median([one.epsilon_if_gaussian for one in found]) >= 1.5
    assert max(max(one.epsilon, one.epsilon_if_gaussian) for one in found) <= 4
    assert not any(one.refuted for one in found)
    assert all(one.delta == 1e-5 and one.trainings == 1 and one.guesses == 128 for one in found)


def test_dp_sgd_is_not_accused_by_its_whole_curve() -> None:
    found = audited(FOUR, Claim.of(FOUR.event), 7)
    assert not found.refuted
    assert found.chance is not None
    assert found.chance > 0.01
    assert found.trainings_to_refute is None


def test_dp_sgd_without_clipping_is_refuted_by_one_run() -> None:
    found = audited(FOUR.broken(unclipped), Claim.of(FOUR.event), 7)
    assert found.refuted
    assert found.trainings_to_refute == 1
    assert found.epsilon > 4


def noisy_sum(combine: object, size: float, noise: float, seed: int) -> object:
    """Return a training of nothing but canaries, one step."""
    recipe = Recipe(1, 1.0, noise, combine=combine)  # type: ignore[arg-type]
    canaries = GradientCanaries.draw(1000, 1000, size, seed=seed)
    rng = np.random.default_rng([seed, 1])
    return lambda included: canaries.scores(recipe.combine(canaries.gradients(included), recipe, rng))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_no_clipping_is_caught_in_twenty_of_twenty(seed: int) -> None:
    claim = Claim.gaussian(0.9249)
    assert one_run(noisy_sum(unclipped, 30, 1.0812, seed), 1000, claim, seed=seed).refuted  # type: ignore[arg-type]
    assert not one_run(noisy_sum(sound, 30, 1.0812, seed), 1000, claim, seed=seed).refuted  # type: ignore[arg-type]


@pytest.mark.long
def test_fifty_trainings_at_four_are_sound() -> None:
    found = [audited(FOUR, (4, 1e-5), seed, guesses=128) for seed in range(50)]
    bounds = np.array([one.epsilon for one in found])
    assert bounds.max() <= 4
    assert np.median(bounds) >= 1.2
    assert np.mean(bounds >= 1) >= 0.9
    assert max(one.epsilon_if_gaussian for one in found) <= 4
    assert not any(one.refuted for one in found)


def test_the_likelihood_of_sampled_canaries_says_more_than_their_sum() -> None:
    canaries = GradientCanaries.draw(1000, 1000, 5, seed=1)
    rng, right = np.random.default_rng(13), {"sum": 0, "likelihood": 0}
    for _ in range(10):
        included = rng.random(1000) < 0.5
        joined = included & (rng.random((40, 1000)) < 0.1)
        released = rng.normal(size=(40, 1000)) * 0.8
        released[:, canaries.coordinates] += joined
        for name, scores in (
            ("sum", canaries.scores(released)),
            ("likelihood", canaries.likelihoods(released, noise=0.8, rate=0.1)),
        ):
            right[name] += int(included[np.argsort(scores)[-100:]].sum())
    assert right["likelihood"] > right["sum"] + 20
    whole = released[:1]
    assert np.array_equal(np.argsort(canaries.scores(whole)), np.argsort(canaries.likelihoods(whole, noise=2)))


def test_black_box_canaries_are_learnt_by_heart_without_noise_only() -> None:
    # Labels are thrown, and there are more features than rows: whatever is learnt of an example is learnt by heart.
    rng = np.random.default_rng(3)
    rows, labels = rng.normal(size=(300, 400)), rng.integers(0, 2, 300)
    canaries = ExampleCanaries.mislabelled(rows[100:], labels[100:], seed=3)
    assert np.all(canaries.labels != labels[100:])
    model = Logistic(400, 2)

    def black_box(recipe: Recipe) -> TrainingAudit:
        def fit(included: Array) -> Array:
            joined = canaries.join(rows[:100], labels[:100], included)
            return train(model, *joined, recipe, rng)[0]

        def confidence(weights: Array) -> Array:
            logits = model.logits(weights, canaries.rows)
            return logits[np.arange(len(canaries)), canaries.labels] - np.logaddexp.reduce(logits, axis=1)

        return one_run(fit, len(canaries), score=confidence, delta=1e-5, seed=4)

    by_heart = black_box(Recipe(20, 1.0, 1e-9, clip=100.0))
    private = black_box(Recipe(4, 1.0, 8.65))  # ε = 0.85 at δ = 1e-5
    assert by_heart.epsilon > 1
    assert private.epsilon < 0.85


def test_guesses_may_be_given_as_a_pair_and_are_checked() -> None:
    def oracle(included: Array) -> Array:
        return included.astype(float)

    found = one_run(oracle, 100, guesses=(30, 0), seed=1)
    assert (found.correct, found.guesses) == (30, 30)
    assert one_run(oracle, 100, guesses=40, seed=1).correct == 40
    for wrong in (0, 101, (60, 60), True):
        with pytest.raises(ArgumentError):
            one_run(oracle, 100, guesses=wrong)
    for scores in ([1.0, 2.0], [np.nan] * 100, ["a"] * 100):
        with pytest.raises(ArgumentError):
            one_run(lambda _included, scores=scores: scores, 100)
    with pytest.raises(ArgumentError, match="SRD-V020"):
        GradientCanaries.draw(10, 9, 1)


def test_guessing_at_random_shows_nothing() -> None:
    rng = np.random.default_rng(8)
    found = [one_run(lambda _included: rng.normal(size=500), 500, 0, seed=seed) for seed in range(20)]
    assert sum(one.epsilon > 0 for one in found) <= 4
    assert not any(one.refuted for one in found)


def test_equal_scores_say_nothing() -> None:
    assert one_run(lambda included: np.zeros(len(included)), 500, 0.1, seed=2).epsilon < 0.5


def test_a_training_with_the_same_seed_does_not_share_the_coins() -> None:
    # Had both drawn from one stream, noise and coins would go together and an honest training would be accused.
    found = [
        one_run(lambda _included, seed=seed: np.random.default_rng(seed).normal(size=500), 500, 0, seed=seed)
        for seed in range(20)
    ]
    assert sum(one.epsilon > 0 for one in found) <= 4
    assert not any(one.refuted for one in found)


def test_the_same_seed_throws_the_same_coins() -> None:
    thrown = []
    for seed in (1, 1, 2):
        one_run(lambda included: thrown.append(included) or included.astype(float), 50, seed=seed)
    assert np.array_equal(thrown[0], thrown[1])
    assert not np.array_equal(thrown[0], thrown[2])


def test_the_audit_speaks_and_shows_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("rich.progress.get_console", lambda: Console(file=screen, force_terminal=True, width=80))
    found = audit.one_run(lambda included: included.astype(float), 400, Claim.gaussian(0.5), seed=1, progress=True)
    assert "training once" in screen.getvalue()
    assert str(found).startswith("refuted: 0.5-Gaussian DP (certain up to one in a million after 1 run)")
    said = found.to_json()
    assert said["verdict"] == "refuted"
    assert said["epsilon"] == found.epsilon
    assert said["epsilon_if_gaussian"] == found.epsilon_if_gaussian > found.epsilon
    assert "not refuted" in str(one_run(lambda included: np.zeros(len(included)), 50, 1, seed=1))
    assert found.verdict.exit_code == 1


def test_without_delta_a_gaussian_curve_has_no_epsilon() -> None:
    found = one_run(lambda included: included.astype(float), 100, seed=1)
    assert (found.delta, found.epsilon_if_gaussian) == (0, np.inf)
    assert found.to_json()["epsilon_if_gaussian"] is None
    assert one_run(lambda included: np.zeros(len(included)), 100, delta="1e-5", seed=1).epsilon_if_gaussian == 0


def test_correlated_likelihoods_are_those_of_the_decoded_noise() -> None:
    column, steps, spread = (2, 1), 4, 3.0
    encode = 2 * np.eye(steps) + np.eye(steps, k=-1)
    decode = np.linalg.inv(encode)
    canaries = GradientCanaries.draw(5, 9, 30, seed=1)
    released = dice(2).normal(size=(steps, 9))
    event = Correlated(column, steps, separation=2, participations=2, variance=9, sensitivity_squared=1)
    covariance = spread**2 * decode @ decode.T
    steps_of_canary = [np.array([1.0, 0, 1, 0]), np.array([0, 1.0, 0, 1])]
    expected = []
    for place in canaries.coordinates:
        inside = [multivariate_normal(mean, covariance).pdf(released[:, place]) for mean in steps_of_canary]
        expected.append(np.log(np.mean(inside) / multivariate_normal(cov=covariance).pdf(released[:, place])))
    assert canaries.correlated_likelihoods(released, event) == pytest.approx(expected)
    with pytest.raises(ArgumentError, match="4 steps"):
        canaries.correlated_likelihoods(released[:3], event)
