"""Audits of federated training under masks: patients of hospitals as canaries, by one run and by many."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import sordino as so
from sordino.accounting import accountants
from sordino.accounting.event import Event
from sordino.audit.training.canaries import GradientCanaries
from sordino.audit.training.many_runs import many_runs
from sordino.audit.training.one_run import one_run
from sordino.learn.federation.noise_shares import DiscreteGaussianShares, SkellamShares
from sordino.learn.federation.parties import Patients
from sordino.learn.federation.populations import population
from sordino.learn.federation.recipes import recipe_for
from sordino.learn.federation.roster import Quorum
from sordino.learn.federation.simulation import simulate

HOSPITALS, ROUNDS = 5, 4
UNITS, RUNS = 60, 12_000
BUDGET = so.budget(epsilon=4, delta="1e-5")
SHARES = {"discrete-gaussian": DiscreteGaussianShares, "skellam": SkellamShares}
Floats = np.ndarray[Any, np.dtype[np.float64]]


def itself(_weights: Floats, records: Any) -> Floats:
    """What a patient proposes: the record itself, clipped by whoever adds it up."""
    row: Floats = records[0][0]
    return row


def hospitals(rows: Floats) -> list[Patients]:
    """Deal the patients out."""
    dealt = [rows[place::HOSPITALS] for place in range(HOSPITALS)]
    return [Patients(so.learn.examples(f"hospital {n}", each, size=100), itself) for n, each in enumerate(dealt)]


def released(rows: Floats, rounds: int, noise: Any, shares: str) -> Floats:
    """Return the sum that the server opens in every round."""
    study = population("study", members=HOSPITALS, unit="patient", size=HOSPITALS * 200)
    seen: list[Floats] = []

    def apply(weights: Floats, mean: Floats) -> Floats:
        seen.append(mean * study.size)
        return weights + mean

    run = simulate(
        hospitals(rows),
        start=np.zeros(rows.shape[1]),
        budget=so.account(study, so.unlimited("an audit")),
        rounds=rounds,
        clip=1,
        noise=noise,
        shares=shares,
        threshold=HOSPITALS,
        colluding=0,  # all survive and all are honest, so there is as much noise as is priced, and no more
        apply=apply,
    )
    assert run.failed == ()
    return np.array(seen)


@lru_cache(maxsize=4)
def priced(parameters: int, rounds: int, shares: str) -> tuple[Any, Event]:
    """Return the noise at which so many rounds cost ε = 4, and what they claim to be."""
    recipe = recipe_for(
        population("study", members=HOSPITALS, unit="patient", size=HOSPITALS * 200),
        BUDGET,
        parameters=parameters,
        rounds=rounds,
        clip=1,
        epsilon=4,
        shares=shares,
        quorum=Quorum(HOSPITALS, HOSPITALS, 0),
    )
    return recipe.multiplier, recipe.event()


def lessen(monkeypatch: pytest.MonkeyPatch, shares: str, times: int) -> None:
    """Let every hospital add a part of its share."""
    law = SHARES[shares]
    draw = law.draw
    monkeypatch.setattr(law, "draw", lambda self, length: draw(self, length) // times)


def audited(seed: int, shares: str, claim: Any, guesses: int | None) -> Any:
    count = 1000
    canaries = GradientCanaries.draw(count, count, 30, seed=seed)
    noise = priced(count, ROUNDS, shares)[0]
    return one_run(
        lambda included: canaries.scores(released(canaries.gradients(included), ROUNDS, noise, shares)),
        count,
        claim,
        guesses=guesses,
        seed=seed,
    )


@pytest.mark.long
@pytest.mark.parametrize("shares", SHARES)
def test_one_run_of_hospitals_shows_more_than_one_and_accuses_nobody(shares: str) -> None:
    found = [audited(seed, shares, (4, "1e-5"), 128) for seed in range(20)]
    assert not any(one.refuted for one in found)
    assert max(one.epsilon for one in found) <= 4
    assert np.median([one.epsilon for one in found]) >= 1


@pytest.mark.slow
def test_hospitals_that_add_too_little_noise_are_caught_by_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = priced(1000, ROUNDS, "discrete-gaussian")[1]
    assert not audited(1, "discrete-gaussian", claim, None).refuted
    lessen(monkeypatch, "discrete-gaussian", 8)
    assert audited(1, "discrete-gaussian", claim, None).refuted


def of_rounds(shares: str) -> Any:
    """Return the trainings of one patient, in or out: a coordinate of a round each, with a patient of its own."""
    noise = priced(UNITS, 1, shares)[0]
    canaries = GradientCanaries.draw(UNITS, UNITS, 30, seed=0)

    def train(included: bool, count: int) -> Floats:
        rows = np.concatenate([canaries.gradients(np.full(UNITS, included)), np.zeros((HOSPITALS, UNITS))])
        rounds = released(rows, -(-count // UNITS), noise, shares)
        return rounds[:, canaries.coordinates].ravel()[:count]

    return train


@pytest.mark.long
@pytest.mark.parametrize("shares", SHARES)
def test_many_runs_of_hospitals_show_more_than_one_and_accuse_nobody(shares: str) -> None:
    event = priced(UNITS, 1, shares)[1]
    assert accountants.epsilon(event, "1e-5") <= 4
    found = many_runs(of_rounds(shares), event, trainings=RUNS, delta="1e-5", seed=3)
    assert not found.refuted
    assert 1 <= found.epsilon <= 4
    assert found.epsilon_if_gaussian <= 4


@pytest.mark.long
@pytest.mark.parametrize("shares", SHARES)
def test_many_runs_notice_that_hospitals_add_too_little(shares: str, monkeypatch: pytest.MonkeyPatch) -> None:
    event = priced(UNITS, 1, shares)[1]
    lessen(monkeypatch, shares, 2)
    assert many_runs(of_rounds(shares), event, trainings=RUNS, delta="1e-5", seed=4).refuted
