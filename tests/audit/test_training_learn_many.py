"""Audits of `learn` by many runs: one unit, in or out of every training; `train`, one's own loop, users, DP-FTRL.

A run is one coordinate of one tranche of a long training. A tranche is reserved, drawn and noised by itself, and as a
gradient here is the row itself, whatever the weights, tranches know nothing of each other. Nor do coordinates: each has
a unit of its own, and all of these units are in, or all are out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sordino as so
from sordino.accounting import accountants
from sordino.accounting.events import Correlated
from sordino.audit.training.canaries import GradientCanaries
from sordino.audit.training.many_runs import many_runs
from sordino.learn.descent.noise_ahead import NoiseAhead

UNITS, OTHERS, RUNS = 60, 4, 12_000
SIZE = UNITS + OTHERS
BUDGET = so.budget(epsilon=4, delta="1e-5")
ALL: dict[str, Any] = {"batch": SIZE, "steps": 4}
APART: dict[str, Any] = {"batch": SIZE // 2, "steps": 8, "sampling": "separated", "correlation": so.learn.banded(4)}
CANARIES = GradientCanaries.draw(UNITS, UNITS, 30, seed=0)
Floats = np.ndarray[Any, np.dtype[np.float64]]


def along(outputs: Tensor, targets: Tensor) -> Tensor:
    """A loss whose gradient is the row itself."""
    return outputs[:, 0] + 0 * targets


def examples(included: bool, owned: int = 1) -> Any:
    canaries = CANARIES.gradients(np.full(UNITS, included))
    rows = np.repeat(np.concatenate([canaries, np.zeros((OTHERS, UNITS))]), owned, axis=0).astype(np.float32)
    words: dict[str, Any] = {"size": SIZE}
    if owned > 1:
        words |= {"unit": "user", "owners": np.repeat(np.arange(len(rows) // owned), owned)}
    return so.learn.examples("one", rows, np.zeros(len(rows), dtype=np.float32), **words)


def model() -> nn.Linear:
    found = nn.Linear(UNITS, 1, bias=False)
    nn.init.zeros_(found.weight)
    return found


@lru_cache(maxsize=2)
def priced(apart: bool) -> tuple[Any, Any]:
    """Return the noise at which one run costs ε = 4, and the event that it claims to be."""
    given = examples(False)
    words = APART if apart else ALL
    budget = so.account(given, BUDGET)
    recipe = so.learn.Training(
        model(), along, given, budget=budget, epsilon=4, clip=1, micro_batch=SIZE, **words
    ).recipe
    return recipe.multiplier, recipe.whole().event()


def many(given: Any, count: int, apart: bool) -> dict[str, Any]:
    """Return the words of so many tranches one after another."""
    words = APART if apart else ALL
    steps = words["steps"]
    own: dict[str, Any] = {"steps": count * steps, "tranche": steps, "clip": 1, "micro_batch": SIZE}
    return words | own | {"noise": priced(apart)[0], "budget": so.account(given, so.unlimited("an audit"))}


def by_own_loop(included: bool, count: int, owned: int = 1, apart: bool = False) -> Floats:
    """Return the noisy sums of so many tranches, step by step, as one's own loop is shown them."""
    given, net, seen = examples(included, owned), model(), []
    words = many(given, count, apart)
    with so.learn.Training(net, along, given, **words) as steps:
        for step in steps:
            step.gradient()
            assert net.weight.grad is not None
            seen.append(net.weight.grad[0].double().numpy() * words["batch"])
    return np.array(seen).reshape(count, -1, UNITS)


def of_loop(included: bool, count: int) -> Floats:
    return np.array([CANARIES.scores(sums) for sums in by_own_loop(included, count)])


def of_users(included: bool, count: int) -> Floats:
    return np.array([CANARIES.scores(sums) for sums in by_own_loop(included, count, owned=3)])


def of_blocks(included: bool, count: int) -> Floats:
    event = priced(True)[1]
    assert isinstance(event, Correlated)
    tranches = by_own_loop(included, count, apart=True)
    return np.array([CANARIES.correlated_likelihoods(sums, event) for sums in tranches])


def of_train(included: bool, count: int) -> Floats:
    """Return how far the weights went in each tranche, as `train` is watched from outside, by plain descent."""
    given, net, seen = examples(included), model(), [np.zeros(UNITS)]
    words = many(given, count, apart=False)

    def descent(parameters: Any) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=1.0)

    def watch(step: int, _of: int) -> None:
        if step % ALL["steps"] == 0:
            seen.append(-net.weight.detach()[0].double().numpy())

    so.learn.train(net, along, given, optimizer=descent, tell=watch, **words)
    return np.array([CANARIES.scores(moved) for moved in np.diff(seen, axis=0)])


TRAININGS: dict[str, tuple[Callable[[bool, int], Floats], bool]] = {
    "train": (of_train, False),
    "own loop": (of_loop, False),
    "users": (of_users, False),
    "correlated": (of_blocks, True),
}


def runs(scores: Callable[[bool, int], Floats]) -> Callable[[bool, int], Floats]:
    """Return as many scores as are asked for."""
    return lambda included, count: scores(included, -(-count // UNITS)).ravel()[:count]


@pytest.mark.long
@pytest.mark.parametrize("name", TRAININGS)
def test_many_runs_show_more_than_one_and_accuse_nobody(name: str) -> None:
    scores, apart = TRAININGS[name]
    event = priced(apart)[1]
    assert accountants.epsilon(event, "1e-5") <= 4
    found = many_runs(runs(scores), event, trainings=RUNS, delta="1e-5", seed=3)
    assert not found.refuted
    assert 1 <= found.epsilon <= 4
    assert found.epsilon_if_gaussian <= 4


@pytest.mark.long
@pytest.mark.parametrize("name", TRAININGS)
def test_many_runs_notice_that_half_of_the_noise_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, apart = TRAININGS[name]
    event, draw = priced(apart)[1], NoiseAhead._draw
    monkeypatch.setattr(NoiseAhead, "_draw", lambda self, size: draw(self, size) // 2)
    assert many_runs(runs(scores), event, trainings=RUNS, delta="1e-5", seed=4).refuted
