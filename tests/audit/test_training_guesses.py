"""The two tests behind one-run audits: what the papers print, what is exact, and how often an honest run is accused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from sordino.accounting.tradeoff import TradeOff
from sordino.audit.training.guessing import chance_of_guesses, least_epsilon
from sordino.audit.training.guessing_curve import chance_of_guesses_on, least_epsilon_on_curve, least_mu


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "delta", "printed"),
    [(1000, 100, 75, 1e-4, 0.673), (100_000, 1510, 1439, 1e-5, 2.675)],
)
def test_the_bounds_that_the_paper_prints_are_found(
    canaries: int, guesses: int, correct: int, delta: float, printed: float
) -> None:
    # Steinke, Nasr, Jagielski 2023, appendix D and section 7; by their rule alone, so ours is never below.
    found = least_epsilon(correct, guesses, canaries, delta, 0.05)
    assert printed - 1e-3 <= found <= printed + 0.15


def test_without_delta_the_chance_is_the_binomial_tail() -> None:
    right = math.e / (1 + math.e)
    assert chance_of_guesses(60, 70, 100, 1.0, 0.0) == pytest.approx(float(binom.sf(59, 70, right)))


def test_delta_lets_all_be_given_away_with_its_chance() -> None:
    # Give everything away with a chance of δ and nothing else: (0, δ)-private, and all guesses are right that often.
    for delta in (1e-6, 1e-3):
        assert chance_of_guesses(100, 100, 100, 0.0, delta) >= delta
        assert chance_of_guesses_on(TradeOff.approximate(0, delta), 100, 100, 100) >= delta


def test_the_walk_allows_what_randomised_response_does() -> None:
    # Randomised response is on the curve of (1, 0), so the walk may not be below its binomial tail anywhere.
    right, curve = math.e / (1 + math.e), TradeOff.approximate(1)
    for correct in range(20, 41, 4):
        tail = float(binom.sf(correct - 1, 40, right))
        assert tail <= chance_of_guesses_on(curve, correct, 40, 40) <= min(4 * tail, 1.0)


def test_bounds_grow_with_correct_guesses_and_fall_with_doubt() -> None:
    corrects = range(50, 101, 10)
    for bound in (
        lambda v, doubt: least_epsilon(v, 100, 500, 1e-5, doubt),
        lambda v, doubt: least_epsilon_on_curve(v, 100, 500, 1e-5, doubt),
        lambda v, doubt: least_mu(v, 100, 500, doubt),
    ):
        found = [bound(v, 0.05) for v in corrects]
        assert found == sorted(found)
        assert found[-1] > 1
        assert all(bound(v, 0.001) <= high for v, high in zip(corrects, found, strict=True))


@pytest.mark.parametrize("mu", [0.3, 0.9249, 2.0])
def test_gaussian_runs_stay_below_their_mu_but_are_seen(mu: float) -> None:
    # 400 audits at 95 %: 20 may be above the truth, 41 would come by chance once in 10⁵ times if it were so.
    rng, canaries, guesses = np.random.default_rng(5), 400, 50
    coins = rng.random((400, canaries)) < 0.5
    scores = rng.normal(size=coins.shape) + mu * coins
    order = np.argsort(scores, axis=1)
    sorted_coins = np.take_along_axis(coins, order, axis=1)
    correct = sorted_coins[:, -25:].sum(1) + (~sorted_coins[:, :25]).sum(1)
    bounds = {int(v): least_mu(int(v), guesses, canaries, 0.05) for v in np.unique(correct)}
    found = np.array([bounds[int(v)] for v in correct])
    assert np.sum(found > mu) <= 40
    assert np.mean(found) > 0.2 * mu


def test_a_mechanism_with_one_shared_noise_is_not_accused() -> None:
    # All canaries share one Laplace draw: guesses rise and fall together, as badly as ε allows. Each is ε-private.
    rng, canaries, epsilon = np.random.default_rng(6), 30, 1.0
    coins = rng.random((20_000, canaries)) < 0.5
    answers = coins.sum(1) + rng.laplace(size=20_000) / epsilon
    guess_in = answers > canaries / 2  # the best guess from a noisy count: all in, or all out
    correct = np.where(guess_in, coins.sum(1), canaries - coins.sum(1))
    bounds = {int(v): least_epsilon(int(v), canaries, canaries, 0.0, 0.05) for v in np.unique(correct)}
    assert np.mean([bounds[int(v)] > epsilon for v in correct]) < 0.05


@pytest.mark.parametrize("delta", [1e-4, 1e-2])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_giving_all_away_sometimes_and_else_answering_at_random_is_allowed(epsilon: float, delta: float) -> None:
    # (ε, δ)-private: with a chance of δ all coins are shown, else each is answered by randomised response.
    right = 1 / (1 + math.exp(-epsilon))
    for guesses, canaries in ((30, 30), (30, 300)):
        for correct in range(15, 31, 3):
            truth = delta + (1 - delta) * float(binom.sf(correct - 1, guesses, right))
            assert truth <= chance_of_guesses(correct, guesses, canaries, epsilon, delta)
            assert truth <= chance_of_guesses_on(TradeOff.approximate(epsilon, delta), correct, guesses, canaries)


@pytest.mark.parametrize("mu", [0.2, 1.0, 3.0])
def test_one_gaussian_noise_on_the_count_of_all_is_allowed(mu: float) -> None:
    # μ-Gaussian private for each coin, and all guesses (all in if the noisy count is high, else out) share its luck.
    canaries = 20
    heads = np.arange(canaries + 1)
    chances = binom.pmf(heads, canaries, 0.5)
    said_in = ndtr(mu * (heads - canaries / 2))
    for correct in range(10, 21):
        truth = float(np.sum(chances * (said_in * (heads >= correct) + (1 - said_in) * (canaries - heads >= correct))))
        assert truth <= chance_of_guesses_on(TradeOff.gaussian(mu), correct, canaries, canaries)


@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_sure_guesses_of_gaussian_scores_are_allowed(mu: float) -> None:
    # 200,000 runs of 12 canaries, the three highest and the three lowest guessed.
    rng = np.random.default_rng(12)
    coins = rng.random((200_000, 12)) < 0.5
    order = np.argsort(rng.normal(size=coins.shape) + mu * coins, axis=1)
    ranked = np.take_along_axis(coins, order, axis=1)
    correct = ranked[:, -3:].sum(1) + (~ranked[:, :3]).sum(1)
    for least in range(3, 7):
        assert np.mean(correct >= least) <= chance_of_guesses_on(TradeOff.gaussian(mu), least, 6, 12) + 0.003
