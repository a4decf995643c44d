"""Federated trainings in one process: charged first, exact up to the noise, whole after crashes, mute about data."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from learn.federation.worlds import PARAMETERS, accuracy, patients, skewed, step
from sordino.accounting.neighbours import Neighbours
from sordino.errors import ArgumentError, BudgetError
from sordino.learn.federation.member import PHASES
from sordino.learn.federation.parties import Client, Patients, handed_in
from sordino.learn.federation.populations import population
from sordino.learn.federation.recipes import recipe_for
from sordino.learn.federation.roster import Quorum
from sordino.learn.federation.simulation import simulate
from sordino.learn.run.examples import examples

BUDGET = so.budget(epsilon=6, delta="1e-5")
START = np.zeros(PARAMETERS)
STUDY = population("study", members=5, unit="patient", size=1000)


def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the noise away, so that sums can be compared exactly."""
    for name in ("DiscreteGaussian", "Skellam", "RoundedGaussian"):
        law = getattr(so.noise, name)
        monkeypatch.setattr(law, "draw", lambda _, size=None: np.zeros(size, dtype=np.int64))


@pytest.mark.parametrize("shares", ["discrete-gaussian", "skellam"])
def test_hospitals_learn_what_none_could_alone(shares: str) -> None:
    world, account = skewed(), so.account(STUDY, BUDGET)
    run = simulate(
        patients(world),
        start=START,
        budget=account,
        rounds=30,
        clip=1,
        rate="0.2",
        epsilon=4,
        shares=shares,
        threshold=4,
        apply=lambda weights, mean: weights + 2 * mean,
    )
    assert accuracy(run.weights, world) > 0.85
    assert len(run.settled) == len(account.history) == 30
    assert run.failed == ()


def test_a_masked_sum_is_the_sum_of_all_patients(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    world = skewed()
    run = simulate(
        patients(world), start=START, budget=so.account(STUDY, BUDGET), rounds=1, clip=1, noise=1, threshold=4
    )
    total = np.zeros(PARAMETERS)
    for x, y in world:
        for row, label in zip(x, y, strict=True):
            vector = step(START, (row[None], np.array([label])))
            total += vector / max(1.0, float(np.linalg.norm(vector)))
    assert np.abs(run.weights * 1000 - total).max() < 1000 * 2.0**-10


@pytest.mark.parametrize("phase", PHASES)
def test_one_of_five_is_killed_in_any_phase_and_the_round_completes(phase: str) -> None:
    account = so.account(STUDY, BUDGET)
    run = simulate(
        patients(skewed(each=20)),
        start=START,
        budget=account,
        rounds=2,
        clip=1,
        noise=2,
        threshold=4,
        silent=lambda number, member: phase if (number, member) == (1, 2) else None,
    )
    assert (len(run.settled), run.failed) == (2, ())


@pytest.mark.parametrize("shares", ["discrete-gaussian", "skellam"])
@pytest.mark.parametrize("gone", [None, "masked"])
def test_an_opened_sum_has_the_noise_of_all_who_survive(shares: str, gone: str | None) -> None:
    """Nobody proposes anything, so what comes out is noise: of five shares, or of the four that are counted on."""
    length, deviation = 20_000, 3
    known = population("known", members=5, neighbours=Neighbours.ZERO_OUT)
    run = simulate(
        [Client(lambda _: np.zeros(length)) for _ in range(5)],
        start=np.zeros(length),
        budget=so.account(known, BUDGET),
        rounds=1,
        clip=1,
        noise=deviation,
        shares=shares,
        threshold=4,
        colluding=0,
        silent=lambda _, member: gone if member == 0 else None,
    )
    survivors = 5 if gone is None else 4
    ratio = float(np.mean(np.square(run.weights * 5))) / (deviation**2 * survivors / 4)

    def p(scale: float) -> float:
        return math.erfc(abs(ratio / scale**2 - 1) / math.sqrt(2 / length) / math.sqrt(2))

    assert p(1) > 1e-6, (length, ratio)
    assert p(0.7) < 1e-6
    assert p(1.3) < 1e-6


def test_below_the_threshold_the_round_comes_to_nothing_and_stays_charged() -> None:
    account = so.account(STUDY, BUDGET)
    run = simulate(
        patients(skewed(each=20)),
        start=START,
        budget=account,
        rounds=3,
        clip=1,
        noise=2,
        threshold=4,
        silent=lambda number, member: "masked" if number == 1 and member > 2 else None,
    )
    assert run.failed == (1,)
    assert [each.plan.number for each in run.settled] == [0, 2]
    assert len(account.history) == 3


def test_one_patient_more_moves_a_sum_by_no_more_than_the_clip(monkeypatch: pytest.MonkeyPatch) -> None:
    """The neighbour oracle, with the noise taken away: each of many odd patients against the data without them."""
    quiet(monkeypatch)
    recipe = recipe_for(STUDY, parameters=PARAMETERS, rounds=1, clip="0.7", noise=1, quorum=Quorum(5, 4))
    x, y = skewed(each=40)[0]
    odd = np.array([1e300, -5.0, 0.0, np.nan, np.inf, 5e-324])

    def update(_: np.ndarray, records: tuple[np.ndarray, ...]) -> Any:
        if records[0][0, 0] == 1e300:
            raise ValueError("patient 4711")
        return records[0][0] * 1e3

    whole = handed_in(Patients(examples("a", x, y, size=40), update), START, recipe)
    for value in odd:
        more = np.vstack([x, np.full(PARAMETERS, value)]), np.append(y, 1)
        with_one = handed_in(Patients(examples("a", *more, size=40), update), START, recipe)
        moved = [int(each) for each in with_one - whole]
        assert sum(each * each for each in moved) <= (Fraction("0.7") / recipe.steps.grid.step) ** 2
    assert np.any(whole)


@pytest.mark.parametrize(
    "answer",
    [np.full(3, np.nan), np.zeros(3), np.full(3, 1e300), np.zeros(7), None, "4711", np.array([np.inf, 0, 0])],
    ids=["nan", "zero", "huge", "misshapen", "nothing", "text", "infinite"],
)
def test_a_client_moves_an_open_round_by_one_clipped_update_at_most(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(monkeypatch)
    phones = population("phones", members=4)

    def run(last: Any) -> np.ndarray:
        clients = [*(Client(lambda _, k=k: np.eye(3)[k]) for k in range(3)), Client(last)]
        account = so.account(phones, BUDGET)
        return simulate(clients, start=np.zeros(3), budget=account, rounds=1, clip=1, noise=1).weights * 4

    def fails(_: np.ndarray) -> None:
        raise ValueError("client 4711")

    assert np.linalg.norm(run(lambda _: answer) - run(fails)) <= 1
    assert np.abs(run(fails) - 1).max() < 0.01


def test_clients_are_weighted_alike_and_drawn_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(monkeypatch)
    phones, calls = population("phones", members=400), []
    clients = [Client(lambda _, k=k: (calls.append(k), [1.0])[1]) for k in range(400)]
    simulate(clients, start=np.zeros(1), budget=so.account(phones, BUDGET), rounds=5, clip=1, rate="0.25", noise=9)
    assert 400 < len(calls) < 600  # 500 on average, deviation 19
    assert len(set(calls)) > 200


def test_clients_under_masks_keep_their_place() -> None:
    known = population("known", members=4, neighbours=Neighbours.ZERO_OUT)
    clients = [Client(lambda _: [1.0, 0.0]) for _ in range(4)]
    account = so.account(known, BUDGET)
    run = simulate(clients, start=np.zeros(2), budget=account, rounds=2, clip=1, epsilon=5, threshold=3)
    assert len(run.settled) == 2
    assert account.remaining is not None


def test_a_training_goes_on_from_its_checkpoint_and_pays_for_the_round_in_flight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    words: dict[str, Any] = {"start": START, "rounds": 6, "clip": 1, "noise": 3, "threshold": 4}
    hospitals, kept = patients(skewed(each=20)), tmp_path / "kept.npz"
    with so.open(tmp_path / "budget.db") as house:
        account = house.account(STUDY, BUDGET)
        calls = []

        def fall(terms: Any, members: Any, ask: Any) -> Any:
            calls.append(terms.session)
            if len(calls) == 3:
                raise Killed
            return real(terms, members, ask)

        real = simulate.__globals__["masked_sum"]
        monkeypatch.setitem(simulate.__globals__, "masked_sum", fall)
        with pytest.raises(Killed):
            simulate(hospitals, budget=account, checkpoint=kept, **words)
        assert len(account.history) == 3
        run = simulate(hospitals, budget=account, checkpoint=kept, **words)
        assert [each.plan.number for each in run.settled] == [2, 3, 4, 5]
        assert len(account.history) == 7  # six, and the one that was in flight
        assert len(set(calls)) == len(calls)  # no session is ever named twice
        assert house.verify().sound
        with pytest.raises(ArgumentError, match="another training"):
            simulate(hospitals, budget=account, checkpoint=kept, **(words | {"noise": 4}))


def test_a_budget_that_is_used_up_ends_the_training_before_anybody_is_asked() -> None:
    asked: list[int] = []
    phones = population("phones", members=2)
    clients = [Client(lambda _: (asked.append(1), [0.0])[1]) for _ in range(2)]
    account = so.account(phones, so.budget(epsilon=1, delta="1e-5"))
    with pytest.raises(BudgetError):
        simulate(clients, start=np.zeros(1), budget=account, rounds=50, clip=1, noise=10)
    assert len(asked) == 2 * len(account.history) < 100


def test_manifests_are_small_and_hold_no_data() -> None:
    account = so.account(STUDY, BUDGET)
    run = simulate(
        patients(skewed(each=20)), start=START, budget=account, rounds=1, clip=1, noise=2, rate="0.5", threshold=4
    )
    said = json.loads(run.settled[0].to_json())
    assert len(run.settled[0].to_json()) < 1000
    public = {"recipe", "round", "members", "honest members", "noise", "noise multiplier", "parameters", "clip", "rate"}
    assert set(said) == public | {"weights"}
    assert len(said["weights"]) == 64


def test_who_does_not_fit_the_population_is_refused_before_anything_is_charged() -> None:
    account = so.account(STUDY, BUDGET)
    hospitals = patients(skewed(each=5))
    words: dict[str, Any] = {"start": START, "budget": account, "rounds": 1, "clip": 1, "noise": 1, "threshold": 4}
    with pytest.raises(ArgumentError, match="protects each patient"):
        simulate([*hospitals[:4], Client(lambda _: START)], **words)
    with pytest.raises(ArgumentError, match="both must name all"):
        simulate(hospitals[:4], **words)
    with pytest.raises(ArgumentError, match="one after the other"):
        simulate(hospitals, **(words | {"start": np.zeros((2, 3))}))
    with pytest.raises(ArgumentError, match="needs a name"):
        population(" ", members=3)
    with pytest.raises(ArgumentError, match="size"):
        population("a", members=3, unit="patient")
    assert account.history == ()


def test_examples_of_visits_are_refused_where_patients_are_protected() -> None:
    """Each visit would be clipped by itself, and a patient who came ten times would move the sum ten times as far."""
    x, y = skewed(hospitals=1, each=6)[0]
    recipe = recipe_for(STUDY, parameters=PARAMETERS, rounds=1, clip=1, noise=1, quorum=Quorum(5, 4))
    owners = np.arange(6)
    with pytest.raises(ArgumentError, match="owners of these examples are each a visit"):
        Patients(examples("visits", x, y, size=6, unit="visit", owners=owners), step).check(recipe)
    Patients(examples("patients", x, y, size=6, unit="patient", owners=owners), step).check(recipe)


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("rate", [1, "0.1"])
def test_a_training_costs_what_was_said_under_every_relation(neighbours: Neighbours, rate: Any) -> None:
    study = population("study", members=5, unit="patient", size=1000, neighbours=neighbours)
    account = so.account(study, BUDGET)
    recipe = recipe_for(study, BUDGET, parameters=3, rounds=4, clip=1, epsilon=6, rate=rate, quorum=Quorum(5, 4))
    cost = account.account.price(recipe.event(), recipe.bound.neighbours)
    assert Fraction(99, 100) < cost.part <= 1


def test_a_callback_that_panics_counts_as_nothing() -> None:
    class Panic(BaseException):
        pass

    def panics(_: np.ndarray) -> None:
        raise Panic("patient 4711")

    recipe = recipe_for(population("phones", members=3), parameters=2, rounds=1, clip=1, noise=1)
    assert not Client(panics).summed(np.zeros(2), recipe).any()


def test_a_patient_whose_record_cannot_be_read_counts_as_nothing() -> None:
    """Else that patient alone would make a hospital drop out, and nobody is charged for telling so."""

    class Items:
        def __len__(self) -> int:
            return 3

        def __getitem__(self, place: int) -> tuple[np.ndarray, int]:
            return np.ones(2 if place != 1 else 5), 1

    hospital = Patients(
        examples("items", Items(), size=3, like=(np.zeros(2), 0)), lambda _, records: records[0][0] / 10
    )
    recipe = recipe_for(STUDY, parameters=2, rounds=1, clip=1, noise=1, quorum=Quorum(5, 4))
    found = recipe.steps.grid.from_steps(hospital.summed(np.zeros(2), recipe))
    assert np.abs(found - 0.2).max() < 2.0**-8


@pytest.mark.parametrize("spent", [{"epsilon": 1, "delta": "1e-5"}, {"epsilon": {"a": 1}}, {"rho": 1}])
def test_a_promise_beside_the_noise_is_refused(spent: dict[str, Any]) -> None:
    """The noise decides what is charged, so that the ε would be one that nobody keeps."""
    with pytest.raises(ArgumentError, match="passed over"):
        recipe_for(population("phones", members=3), parameters=2, rounds=1, clip=1, noise="0.1", **spent)
