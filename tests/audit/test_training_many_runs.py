"""Audits of a training by many runs: four broken ways to train, each caught in 20 of 20 seeds, and the sound one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from audit.reference_sgd import (
    Array,
    Logistic,
    Recipe,
    clipped_as_a_batch,
    gradient_game,
    noised_by_microbatch,
    shuffled_game,
    sound,
    train,
    unclipped,
)
from sordino import audit
from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
from sordino.accounting.pld import accountant as pld
from sordino.audit.claim import Claim
from sordino.audit.subject import each
from sordino.errors import ArgumentError

SAMPLED = Recipe(steps=4, rate=0.5, noise=1.43)
"""Costs ε = 4 at δ = 1e-5."""
CLAIM = Claim.of(SAMPLED.event)
ONE_EPOCH = Repeated(PoissonSampled(Gaussian(variance="0.25"), rate="0.01"), 100)

NOBODY, AGAINST = np.zeros((1, 2)), np.full((4, 2), [-10.0, 0.0])
"""What the others bring: nothing, or a gradient that the canary can turn round."""


def game(combine: object, others: Array, seed: int) -> Callable[..., Array]:
    recipe = SAMPLED.broken(combine)  # type: ignore[arg-type]
    return gradient_game(others, np.array([300.0, 0.0]), recipe, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("combine", "others"),
    [(unclipped, NOBODY), (clipped_as_a_batch, AGAINST), (noised_by_microbatch, NOBODY)],
    ids=["unclipped", "batch", "microbatch"],
)
def test_broken_trainings_are_caught_in_twenty_of_twenty(combine: object, others: Array) -> None:
    took = [
        audit.many_runs(game(combine, others, seed), CLAIM, trainings=6000).trainings_to_refute for seed in range(20)
    ]
    assert None not in took
    print(f"{combine.__name__}: refuted after {min(took)} to {max(took)} trainings")  # type: ignore[attr-defined, type-var]  # noqa: T201


@pytest.mark.parametrize("others", [NOBODY, AGAINST], ids=["nobody", "against"])
def test_sound_trainings_are_not_accused(others: Array) -> None:
    found = [audit.many_runs(game(sound, others, seed), CLAIM, trainings=1000) for seed in range(10)]
    assert not any(one.refuted for one in found)
    assert np.mean([one.epsilon <= CLAIM.epsilon_at(one.delta) for one in found]) >= 0.8


@pytest.mark.long
@pytest.mark.parametrize("others", [NOBODY, AGAINST], ids=["nobody", "against"])
def test_sound_trainings_are_accused_in_none_of_three_hundred(others: Array) -> None:
    for seed in range(300):
        assert not audit.many_runs(game(sound, others, seed), CLAIM, trainings=3000).refuted


def test_shuffled_batches_priced_as_poisson_are_caught_in_twenty_of_twenty() -> None:
    price = pld.epsilon_bracket(ONE_EPOCH, "0.05").upper
    assert price == pytest.approx(0.739, abs=1e-3)
    claim = Claim.approximate(price, "0.05")
    took = [
        audit.many_runs(shuffled_game(0.5, 100, np.random.default_rng(seed)), claim, trainings=6000).trainings_to_refute
        for seed in range(20)
    ]
    assert None not in took
    print(f"shuffled: refuted after {min(took)} to {max(took)} trainings")  # type: ignore[type-var]  # noqa: T201


def test_shuffled_batches_lose_more_than_four() -> None:
    play = shuffled_game(0.5, 100, np.random.default_rng(9))
    found = audit.many_runs(play, delta="0.05", trainings=60_000)
    assert 3.8 <= found.epsilon <= 5.2


def test_poisson_sampling_keeps_its_price_in_the_same_game() -> None:
    # The same gradients, but everyone joins each batch by a coin; the sum of the others is known, so it is left out.
    rng = np.random.default_rng(10)

    def poisson(included: bool, count: int) -> Array:
        sums = 0.5 * rng.normal(size=(count, 100))
        return (sums + included * (rng.random(sums.shape) < 0.01)).max(-1)

    found = audit.many_runs(poisson, Claim.approximate(0.7391, "0.05"), trainings=20_000)
    assert not found.refuted
    assert found.epsilon <= 0.7391


def test_mu_is_close_to_the_truth_and_below_it() -> None:
    found = [
        audit.many_runs(
            gradient_game(NOBODY, np.array([9.0, 0.0]), Recipe(1, 1.0, 1.0), np.random.default_rng(seed)),
            Claim.gaussian(1),
            trainings=4000,
        )
        for seed in range(8)
    ]
    distances = np.array([one.mu for one in found])
    assert np.sum(distances > 1) <= 3
    assert np.median(distances) > 0.75
    assert not any(one.refuted for one in found)
    assert all(one.canaries == 1 and one.trainings == 8000 for one in found)


def test_a_training_that_runs_one_by_one_is_audited_by_its_loss() -> None:
    rng = np.random.default_rng(11)
    rows, labels = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    canary, label, model = np.full((1, 3), 4.0), np.array([1]), Logistic(3, 2)

    def once(recipe: Recipe) -> Callable[[bool], float]:
        def fit(included: bool) -> float:
            joined = np.concatenate([rows, canary[:included]]), np.concatenate([labels, label[:included]])
            weights, _ = train(model, *joined, recipe, rng)
            return float(model.logits(weights, canary)[0, 1] - model.logits(weights, canary)[0, 0])

        return fit

    recipe = Recipe(3, 1.0, 3.0)
    claim = Claim.of(recipe.event)
    assert audit.many_runs(each(once(recipe.broken(unclipped))), claim, trainings=400).trainings == 800
    assert not audit.many_runs(each(once(recipe)), claim, trainings=400).refuted


def test_a_seed_is_handed_on_to_a_training_that_takes_one() -> None:
    def seeded(included: bool, count: int, seed: int) -> Array:
        return included + np.random.default_rng(seed).normal(size=count)

    first, again = (audit.many_runs(seeded, 4, trainings=400, seed=3) for _ in range(2))
    assert first == again


def test_scores_are_checked() -> None:
    for wrong in ([1.0], [np.nan] * 100, "no"):
        with pytest.raises(ArgumentError):
            audit.many_runs(lambda _included, _count, wrong=wrong: wrong, 1)
    with pytest.raises(ArgumentError):
        audit.many_runs(lambda _included, count: np.zeros(count), 1, trainings=10)
