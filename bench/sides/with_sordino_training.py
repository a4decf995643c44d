"""sordino's audits of training, on the reference DP-SGD of the tests."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from sordino import audit
from sordino.accounting import accountants, calibration
from sordino.accounting.events import Gaussian, PoissonSampled, Repeated
from sordino.audit.attacks.models import membership_from_logits
from sordino.audit.claim import Claim
from sordino.audit.training.canaries import ExampleCanaries, GradientCanaries

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "audit"))

import reference_sgd as reference

EPSILON, DELTA, CANARIES, GUESSES = 4, "1e-5", 1000, 128
NET = reference.TwoLayers(64, 32, 10)
Timing = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    return {"sordino": version("sordino"), "numpy": np.__version__, "scikit-learn": version("scikit-learn")}


def _digits() -> tuple[Any, Any]:
    rows, labels = load_digits(return_X_y=True)
    return rows / 16, labels


def _recipe(rate: float, steps: int) -> reference.Recipe:
    if rate == 1:
        noise = float(calibration.gaussian(EPSILON, DELTA)) * steps**0.5
    else:
        noise = float(calibration.sampled_gaussian(EPSILON, DELTA, rate=rate, steps=steps))
    return reference.Recipe(steps, rate, noise)


def _one_run_values(found: list[Any]) -> dict[str, Any]:
    bounds = [one.epsilon for one in found]
    return {
        "runs": len(found),
        "median": median(bounds),
        "least": min(bounds),
        "most": max(bounds),
        "above_one": sum(bound >= 1 for bound in bounds),
        "median_gaussian": median(one.epsilon_if_gaussian for one in found),
        "most_gaussian": max(one.epsilon_if_gaussian for one in found),
        "refuted": sum(one.refuted for one in found),
    }


def one_run(rate: float, steps: int, runs: int) -> Timing:
    recipe, (rows, labels) = _recipe(rate, steps), _digits()

    def audited(seed: int) -> Any:
        canaries, rng = GradientCanaries.draw(CANARIES, NET.dimension, 30, seed=seed), np.random.default_rng(seed)

        def white_box(included: Any) -> Any:
            _, seen = reference.train(NET, rows[:200], labels[:200], recipe, rng, canaries.gradients(included))
            return canaries.likelihoods(seen, noise=recipe.noise, rate=recipe.rate)

        return audit.one_run(white_box, CANARIES, (EPSILON, DELTA), guesses=GUESSES, seed=seed)

    started = perf_counter()
    found = [audited(seed) for seed in range(runs)]
    return perf_counter() - started, runs, _one_run_values(found)


def black_box(runs: int) -> Timing:
    recipe, (rows, labels) = _recipe(1.0, 10), _digits()
    model = reference.Logistic(64, 10)
    canaries = ExampleCanaries.mislabelled(rows[200:1200], labels[200:1200], seed=0)

    def audited(seed: int) -> Any:
        def fit(included: Any) -> Any:
            joined = canaries.join(rows[:200], labels[:200], included)
            return reference.train(model, *joined, recipe, np.random.default_rng(seed))[0]

        def confidence(weights: Any) -> Any:
            logits = model.logits(weights, canaries.rows)
            return logits[np.arange(CANARIES), canaries.labels] - np.logaddexp.reduce(logits, axis=1)

        return audit.one_run(fit, CANARIES, (EPSILON, DELTA), score=confidence, guesses=GUESSES, seed=seed)

    started = perf_counter()
    found = [audited(seed) for seed in range(runs)]
    return perf_counter() - started, runs, _one_run_values(found)


def broken(how: str, seeds: int) -> Timing:
    recipe = _recipe(0.5, 4)
    claim = Claim.of(recipe.event)
    if how == "shuffled":
        claim = Claim.of(Repeated(PoissonSampled(Gaussian(variance="0.25"), rate="0.01"), 100))
    others = np.full((4, 2), [-10.0, 0.0]) if how == "clipped_as_a_batch" else np.zeros((1, 2))

    def game(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        if how == "shuffled":
            return reference.shuffled_game(0.5, 100, rng)
        wrong = recipe.broken(getattr(reference, how))
        return reference.gradient_game(others, np.array([300.0, 0.0]), wrong, rng)

    started = perf_counter()
    found = [audit.many_runs(game(seed), claim, trainings=6000) for seed in range(seeds)]
    seconds = perf_counter() - started
    took = [one.trainings_to_refute for one in found if one.trainings_to_refute is not None]
    values = {"refuted": len(took), "seeds": seeds, "median": median(took or [0]), "most": max(took, default=0)}
    return seconds, seeds, values


def membership() -> Timing:
    rows, labels = (part[:200] for part in _digits())
    model = reference.Logistic(64, 10)
    by_heart = reference.Recipe(steps=200, rate=1.0, noise=0.0, clip=1e9, learning_rate=4.0)
    private = reference.Recipe(steps=30, rate=1.0, noise=12.0, learning_rate=2.0)
    started, found = perf_counter(), {}
    for name, recipe in (("raw", by_heart), ("private", private)):
        rng = np.random.default_rng(0)
        members = rng.random((64, len(rows))) < 0.5
        logits = model.logits(reference.fit_together(model, rows, labels, members, recipe, rng), rows)
        best = membership_from_logits(logits, labels, members).best
        found |= {name: best.found_at("0.01"), f"{name}_auc": best.auc}
    return perf_counter() - started, 2, found | {"epsilon": accountants.epsilon(private.event, DELTA)}
