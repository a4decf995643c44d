"""Reconstruction from subset counts: it wins on exact and on nearly exact answers, and loses on private ones."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from sordino import mechanisms
from sordino.accounting.tradeoff import TradeOff
from sordino.audit.attacks.limits import most_correct
from sordino.audit.attacks.reconstruction import Asked, reconstruct, subset_counts
from sordino.audit.attacks.reconstruction_sweep import sweep_noise
from sordino.errors import ArgumentError, BudgetError

METHODS = ("least squares", "linear program")
EPSILON, DELTA = 1, 1e-6


def secret(people: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, people).astype(bool)


@pytest.mark.parametrize("method", METHODS)
def test_exact_answers_give_everybody_away(method: str) -> None:
    asked = subset_counts(secret(100), questions=300, seed=2)
    found = so.audit.reconstruct(asked, method=method)
    assert found.correct == 1.0
    assert found.baseline < 0.7
    assert np.abs(found.estimates - found.guess).max() < 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_noise_well_below_the_root_of_n_does_not_help(method: str) -> None:
    dice = np.random.default_rng(3)
    asked = subset_counts(secret(100), 500, lambda counts: counts + dice.integers(-2, 3, counts.shape), seed=2)
    assert reconstruct(asked, method=method).correct >= 0.95


def test_only_the_linear_program_bears_answers_that_are_plainly_wrong() -> None:
    dice = np.random.default_rng(3)

    def sometimes_nonsense(counts: np.ndarray) -> np.ndarray:
        return np.where(dice.random(counts.shape) < 0.15, dice.integers(0, 100, counts.shape), counts)

    asked = subset_counts(secret(100), 500, sometimes_nonsense, seed=2)
    assert reconstruct(asked, method="linear program").correct == 1.0
    assert reconstruct(asked).correct < 0.85


def test_the_attack_never_looks_at_the_secret() -> None:
    asked = subset_counts(secret(40), 200, seed=2)
    found = reconstruct(asked.questions, asked.answers)
    assert np.array_equal(found.guess, secret(40))
    with pytest.raises(ArgumentError, match="SRD-V010"):
        _ = found.correct
    lied = reconstruct(asked.questions, asked.answers, secret=~secret(40))
    assert lied.correct == 0.0


def test_fewer_questions_than_people_already_beat_guessing() -> None:
    # Dwork, Yekhanin 2008: a linear number suffices; with as many as half of the people the least norm helps already.
    found = [reconstruct(subset_counts(secret(200, seed), 100, seed=seed)) for seed in range(5)]
    assert np.mean([each.correct - each.baseline for each in found]) > 0.15


# ---- against our own releases ---------------------------------------------------------------------------------------


def private_counts(counts: np.ndarray) -> np.ndarray:
    """Answer all questions at once at (ε, δ) in all: one person moves each of them by one."""
    bound = so.Bound.vector(l0=counts.size, linf=1)
    gaussian = mechanisms.Gaussian.for_epsilon(EPSILON, DELTA, bound)
    return gaussian.release(counts, so.unlimited("a test").reserve(gaussian.event(bound), bound))


def pure_counts(counts: np.ndarray) -> np.ndarray:
    bound = so.Bound.vector(l0=counts.size, linf=1)
    laplace = mechanisms.Laplace.for_epsilon(EPSILON, bound)
    return laplace.release(counts, so.unlimited("a test").reserve(laplace.event(bound), bound))


@pytest.mark.parametrize("release", [private_counts, pure_counts])
def test_private_answers_to_many_questions_give_nobody_away(release: object) -> None:
    """200 people and 800 questions at ε = 1 in all: guessing is right in 1 of 2 cases, ε = 1 allows 0.731."""
    allowed = most_correct(TradeOff.approximate(EPSILON, DELTA))
    shares = []
    for seed in range(8):
        bits = secret(200, seed)
        assert reconstruct(subset_counts(bits, 800, seed=seed)).correct == 1.0
        asked = subset_counts(bits, 800, release, seed=seed)  # type: ignore[arg-type]
        shares.append(reconstruct(asked, noise=float(np.std(asked.answers))).correct)
    # A linear attack expects 0.53; 0.58 is four standard errors of 1,600 guesses above that.
    assert np.mean(shares) < 0.58 < allowed


def test_the_linear_program_does_no_better_on_private_answers() -> None:
    asked = subset_counts(secret(100), 400, private_counts, seed=5)
    assert reconstruct(asked, method="linear program").correct < 0.78


def test_answers_to_real_questions_in_sql() -> None:
    """The same attack through the front door: 25 questions at ε = 1 in all, then the budget is spent."""
    people = 20
    bits = secret(people)
    table = pa.table({"person": np.arange(people), "ill": bits.astype(np.int64)})
    data = so.dataset("people", table, unit="person", columns={"ill": so.bounds(0, 1)}, limits=so.limits(rows=1))
    budget = so.account(data, so.budget(epsilon=EPSILON))
    questions = np.random.default_rng(1).integers(0, 2, (25, people)).astype(bool)

    def ask(members: np.ndarray) -> float:
        listed = ", ".join(str(each) for each in np.flatnonzero(members))
        text = f"SELECT COUNT(*) AS ill FROM people WHERE ill = 1 AND person IN ({listed})"  # noqa: S608
        return float(budget.sql(text).run(epsilon="0.04").to_pandas().ill[0])

    answers = [ask(row) for row in questions]
    with pytest.raises(BudgetError):
        ask(questions[0])
    assert reconstruct(questions, questions @ bits.astype(int), secret=bits).correct == 1.0
    private = reconstruct(questions, answers, noise=math.sqrt(2) * 25, secret=bits)
    assert private.correct < 1.0  # all 20 by luck: less than one in 100,000


# ---- the phase change -----------------------------------------------------------------------------------------------


def test_the_phase_change_lies_at_the_root_of_n_whatever_n_is() -> None:
    sweep = sweep_noise((64, 256), (0.1, 1.0, 10.0), repeats=6, seed=1)
    assert np.all(sweep.correct[:, 0] > 0.99)
    assert np.all(np.abs(sweep.correct[:, 1] - 0.68) < 0.06)
    assert np.all(sweep.correct[:, 2] < 0.62)
    # At the root of n the least squares theory says Φ(√4/4) = 0.69 for four questions each.


def test_absolute_noise_is_no_protection_by_itself() -> None:
    """Noise that ruins a reconstruction of 36 people does little for 400, who were asked four questions each too."""
    few = sweep_noise((36,), (10 / 6,), repeats=8, seed=1).correct[0, 0]
    many = sweep_noise((400,), (10 / 20,), repeats=2, seed=1).correct[0, 0]
    assert few < 0.68 < 0.78 < many


# ---- limits, figures, arguments -------------------------------------------------------------------------------------


def test_what_epsilon_allows_is_the_known_formula() -> None:
    for epsilon in (0.1, 1.0, 3.0):
        exact = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert exact <= most_correct(TradeOff.approximate(epsilon)) < exact + 1e-3
    assert most_correct(TradeOff.approximate(0), prior=0.9) == pytest.approx(0.9, abs=1e-3)
    assert most_correct(TradeOff.approximate(0, 1)) == 1.0
    assert most_correct(TradeOff.approximate(1), prior=0.99) >= 0.99


def test_figures_are_drawn() -> None:
    asked = subset_counts(secret(30), 90, seed=1)
    assert reconstruct(asked).figure().axes[0].get_title(loc="left")
    assert len(reconstruct(asked).figure(beside=reconstruct(asked.questions, asked.answers)).axes) == 2
    assert sweep_noise((16,), (0.1, 1.0), repeats=1, seed=1).figure(released=2.0).axes


@pytest.mark.parametrize(
    "call",
    [
        lambda: reconstruct([[1, 0]]),
        lambda: reconstruct([[1, 2]], [1]),
        lambda: reconstruct([[1, 0]], [1, 2]),
        lambda: reconstruct([[1, 0]], [math.nan]),
        lambda: reconstruct([[1, 0]], [1], "guess"),
        lambda: reconstruct([[1, 0]], [1], secret=[1]),
        lambda: subset_counts([], 3),
        lambda: subset_counts([0, 3], 3),
        lambda: subset_counts([0, 1], 0),
        lambda: sweep_noise((10,), (-1.0,)),
    ],
)
def test_what_makes_no_sense_is_refused(call: object) -> None:
    with pytest.raises(ArgumentError):
        call()  # type: ignore[operator]


def test_the_same_seed_asks_the_same_questions() -> None:
    one, two = (subset_counts(secret(10), 5, seed=7) for _ in range(2))
    assert isinstance(one, Asked)
    assert np.array_equal(one.questions, two.questions)
    assert not np.array_equal(one.questions, subset_counts(secret(10), 5, seed=8).questions)
