"""Audits of `learn`: the trainings of the house, attacked by canaries, and broken on purpose to see that it shows."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sordino as so
from sordino.accounting.event import Event
from sordino.accounting.events import Correlated, Declared, Gaussian, PoissonSampled, Repeated
from sordino.audit import subject
from sordino.audit.training.canaries import GradientCanaries
from sordino.audit.training.many_runs import many_runs
from sordino.audit.training.one_run import one_run
from sordino.audit.training.training_audit import TrainingAudit
from sordino.learn.descent.noisy_sum import NoisyMean
from sordino.learn.descent.unit_sums import UnitSums
from sordino.learn.gradients.clipping import Clipping
from sordino.learn.run.sampling import OnePass, Poisson

CANARIES, OTHERS = 1000, 100
CLAIM = (4, 1e-5)
Floats = np.ndarray[Any, np.dtype[np.float64]]
Words = dict[str, Any]

EVERYBODY: Words = {"batch": CANARIES + OTHERS, "steps": 4, "epsilon": 4}
"""All units in every step: what a white box sees best."""


def along(outputs: Tensor, targets: Tensor) -> Tensor:
    """A loss whose gradient is the row itself."""
    return outputs[:, 0] + 0 * targets


def examples(rows: Floats, owned: int) -> Any:
    """Return the rows and a crowd that says nothing, each of them `owned` times by one owner."""
    everybody = np.concatenate([rows, np.zeros((OTHERS, rows.shape[1]))]).astype(np.float32)
    words: Words = {"size": CANARIES + OTHERS}
    if owned > 1:
        words |= {"unit": "user", "owners": np.repeat(np.arange(len(everybody)), owned)}
        everybody = np.repeat(everybody, owned, axis=0)
    return so.learn.examples("canaries", everybody, np.zeros(len(everybody), dtype=np.float32), **words)


def own_loop(rows: Floats, owned: int = 1, **words: Any) -> Floats:
    """Return all that one's own loop is shown: the gradient of every step, as a sum."""
    given = examples(rows, owned)
    model = nn.Linear(rows.shape[1], 1, bias=False)
    budget = so.account(given, so.budget(epsilon=4, delta="1e-5"))
    training = so.learn.Training(model, along, given, budget=budget, clip=1, micro_batch=256, **words)
    seen = []
    with training as steps:
        for step in steps:
            step.gradient()
            assert model.weight.grad is not None
            seen.append(model.weight.grad[0].double().numpy() * words["batch"])
    return np.array(seen)


def whole_training(rows: Floats, **words: Any) -> Floats:
    """Return what `train` hands over: how far the weights moved, by plain descent."""
    given = examples(rows, 1)
    model = nn.Linear(rows.shape[1], 1, bias=False)
    nn.init.zeros_(model.weight)
    budget = so.account(given, so.budget(epsilon=4, delta="1e-5"))

    def descent(parameters: Any) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=1.0)

    run = so.learn.train(model, along, given, budget=budget, clip=1, optimizer=descent, micro_batch=256, **words)
    return -run.model.weight.detach().double().numpy() * words["batch"]


def audited(
    train: Callable[..., Floats], seed: int, claim: Any = CLAIM, guesses: int | None = 128, **words: Any
) -> TrainingAudit:
    canaries = GradientCanaries.draw(CANARIES, CANARIES, 30, seed=seed)

    event = claimed(**words) if "correlation" in words else None
    event = event.event if isinstance(event, Declared) else event

    def scores(included: Any) -> Floats:
        released = train(canaries.gradients(included), **words)
        if isinstance(event, Correlated):
            return canaries.correlated_likelihoods(released, event)
        return canaries.scores(released)

    return one_run(scores, CANARIES, claim, guesses=guesses, seed=seed)


TRAININGS: dict[str, tuple[Callable[..., Floats], Words]] = {
    "train": (whole_training, EVERYBODY),
    "own loop": (own_loop, EVERYBODY),
    "users": (own_loop, EVERYBODY | {"owned": 3, "pay": "whole"}),
    "paid whole": (own_loop, EVERYBODY | {"pay": "whole"}),
    "correlated": (
        own_loop,
        EVERYBODY
        | {"batch": 550, "steps": 8, "sampling": "separated", "correlation": so.learn.banded(4), "pay": "whole"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAININGS)
def test_one_run_shows_more_than_one_and_accuses_nobody(name: str) -> None:
    train, words = TRAININGS[name]
    found = [audited(train, seed, **words) for seed in range(9)]
    assert not any(one.refuted for one in found)
    assert max(one.epsilon for one in found) <= 4
    assert np.median([one.epsilon for one in found]) >= 0.8  # of nine runs; of twenty it is 1 at least


@pytest.mark.long
@pytest.mark.parametrize("name", TRAININGS)
def test_twenty_runs_show_more_than_one_and_accuse_nobody(name: str) -> None:
    train, words = TRAININGS[name]
    found = [audited(train, seed, **words) for seed in range(20)]
    assert not any(one.refuted for one in found)
    assert np.median([one.epsilon for one in found]) >= 1


# ---- broken on purpose ----------------------------------------------------------------------------------------------


def under_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Norms that come out too small, as those that cancel in float32 do."""
    factors = Clipping.factors
    monkeypatch.setattr(Clipping, "factors", lambda self, squares: factors(self, [each / 100 for each in squares]))


def clipped_as_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum is clipped to what a crowd of the usual size could reach, and nobody by himself."""
    monkeypatch.setattr(Clipping, "factors", lambda _self, squares: torch.ones(len(squares), len(squares[0])))
    sum_of = UnitSums.sum

    def clipped(self: UnitSums, within: int) -> Any:
        found = sum_of(self, within)
        found.sum.mul_(min(1.0, CANARIES / float(found.sum.norm())))
        return found

    monkeypatch.setattr(UnitSums, "sum", clipped)


def noise_by_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 64 parts adds a 64th of the deviation, as if deviations added up."""
    release = NoisyMean.release

    def shared(self: NoisyMean, total: Tensor, *rest: Any) -> Tensor:
        whole = release(self, torch.zeros_like(total), *rest)
        return whole / 8 + (total * 2.0**-self._mechanism.grid.exponent * self._mean_of_step).float()

    monkeypatch.setattr(NoisyMean, "release", shared)


SPECIMENS = [under_estimated, clipped_as_a_batch, noise_by_rank]


ONE: Words = EVERYBODY | {"epsilon": 1}


def claimed(**words: Any) -> Event:
    """Return what the ledger is told of such a training, which claims by every δ."""
    given = examples(np.zeros((1, CANARIES)), 1)
    budget = so.account(given, so.budget(epsilon=4, delta="1e-5"))
    model = nn.Linear(CANARIES, 1, bias=False)
    return (
        so.learn.Training(model, along, given, budget=budget, clip=1, micro_batch=256, **words).recipe.whole().event()
    )


@pytest.mark.parametrize("broken", SPECIMENS)
def test_what_is_broken_is_caught_by_one_run(broken: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    claim = claimed(**ONE)
    assert not audited(own_loop, 1, claim, None, **ONE).refuted
    broken(monkeypatch)
    assert audited(own_loop, 1, claim, None, **ONE).refuted


# ---- many runs: one unit, in or out ---------------------------------------------------------------------------------


class Watched:
    """Trainings of one unit, in or out, among three that say nothing; a run is one training, its score what is seen."""

    def __init__(self, see: Callable[[list[float]], float], **words: Any) -> None:
        self._see = see
        self._words = words

    def __call__(self, included: bool) -> float:
        rows = np.array([[1.0]] * included + [[0.0]] * 3, dtype=np.float32)
        given = so.learn.examples("one", rows, np.zeros(len(rows), dtype=np.float32), size=4)
        model = nn.Linear(1, 1, bias=False)
        budget = so.account(given, so.unlimited("an audit"))
        training = so.learn.Training(model, along, given, budget=budget, clip=1, **self._words)
        seen = []
        with training as steps:
            for step in steps:
                step.gradient()
                assert model.weight.grad is not None
                seen.append(float(model.weight.grad[0, 0]) * self._words["batch"])
        return self._see(seen)


def divided_by_those_who_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """The noisy sum is divided by the number of units in the batch, which is data, and not by the public batch."""
    sum_of, release = UnitSums.sum, NoisyMean.release
    came = [0]

    def counted(self: UnitSums, *rest: Any) -> Any:
        found = sum_of(self, *rest)
        came[0] = len(found.norms)
        return found

    def divided(self: NoisyMean, *rest: Any) -> Tensor:
        return release(self, *rest) * 4 / max(came[0], 1)

    monkeypatch.setattr(UnitSums, "sum", counted)
    monkeypatch.setattr(NoisyMean, "release", divided)


def shuffled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first unit comes in a step of every pass, while Poisson samples are priced."""
    monkeypatch.setattr(Poisson, "draws", lambda self, units: OnePass(self.batch, self.size).draws(units))


@pytest.mark.long
@pytest.mark.parametrize("broken", [None, divided_by_those_who_came])
def test_a_divisor_that_is_data_is_caught_by_many_runs(
    broken: Callable[..., None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken is not None:
        broken(monkeypatch)
    train = subject.each(Watched(lambda seen: abs(seen[0]), batch=4, steps=1, noise=40))
    found = many_runs(train, Gaussian(1600), trainings=600, delta="1e-3", seed=5)
    assert found.refuted is (broken is not None)


@pytest.mark.long
@pytest.mark.parametrize("broken", [None, shuffled])
def test_passes_priced_as_samples_are_caught_by_many_runs(
    broken: Callable[..., None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken is not None:
        broken(monkeypatch)
    noise = Fraction("0.3")
    train = subject.each(Watched(max, batch=1, steps=4, noise=noise))
    event = Repeated(PoissonSampled(Gaussian(noise**2), "0.25"), 4)
    found = many_runs(train, event, trainings=600, delta="1e-2", seed=5)
    assert found.refuted is (broken is not None)
