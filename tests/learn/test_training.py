"""Training in torch, from its price to its weights: what leaves, what it costs, what goes wrong, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

import sordino as so
from learn.worlds import BUDGET, account, divided, model
from sordino.errors import ArgumentError, BudgetError, GrantError, RunError
from sordino.learn.descent.train import train
from sordino.learn.descent.training import Training
from sordino.learn.descent.unit_sums import UnitSums
from sordino.learn.run.examples import Examples, examples

LOSS = nn.CrossEntropyLoss()
WORDS: dict[str, Any] = {"batch": 100, "clip": 1, "epsilon": 2}


class Flat(nn.Module):
    """A model whose gradient is zero, so that all that is left is noise."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x.sum(1) * 0, x.sum(1) * 0], 1) + self.weight.sum() * 0


def descend(training: Training, rate: float = 0.5) -> None:
    optimizer = torch.optim.SGD(training.model.parameters(), lr=rate)
    with training as steps:
        for step in steps:
            step.gradient()
            optimizer.step()


def break_off(training: Training, optimizer: torch.optim.Optimizer, at: int) -> None:
    with training as steps:
        for step in steps:
            step.gradient()
            optimizer.step()
            if step.number == at:
                raise ZeroDivisionError


def right(trained: nn.Module, given: Examples) -> float:
    (x, y), _ = given.people().take(np.arange(len(given.people())))
    with torch.no_grad():
        return float((trained(torch.from_numpy(x)).argmax(1).numpy() == y).mean())


def test_a_model_learns_and_its_cost_is_what_was_said() -> None:
    given = divided(2000)
    data = account(given)
    run = train(model(), LOSS, given, budget=data, epochs=4, **WORDS)
    assert right(run.model, given) > 0.9
    assert [each.plan.steps for each in run.settled] == [20] * 4
    whole = so.account(given, so.budget(epsilon=2, delta="1e-5")).price(run.recipe.whole())
    assert whole.fits
    assert float(whole.part or 0) > 0.98  # ε given is ε spent


def test_the_noise_is_what_the_recipe_says() -> None:
    given = divided()
    training = Training(Flat(20_000), LOSS, given, budget=account(given), batch=40, steps=2, clip=3, epsilon=2)
    with training as steps:
        next(iter(steps)).gradient()
    noise = training.model.weight.grad.double().numpy() * 40  # type: ignore[union-attr,operator]
    deviation = float(training.recipe.multiplier) * float(training.recipe.bound.l2_squared) ** 0.5
    assert stats.kstest(noise / deviation, "norm").pvalue > 1e-4
    for wrong in (0.7, 1.3):
        assert stats.kstest(noise / deviation / wrong, "norm").pvalue < 1e-9


def test_without_anybody_noise_is_released() -> None:
    nobody = examples("marks", np.zeros((0, 4), np.float32), np.zeros(0, np.int64), size=400)
    run = train(model(), LOSS, nobody, budget=account(nobody), epochs=1, **WORDS)
    assert run.settled[0].steps == 4


def test_one_unit_moves_a_sum_by_no_more_than_the_bound() -> None:
    given = divided(60)
    training = Training(model(), LOSS, given, budget=account(given), batch=60, steps=1, clip="0.5", epsilon=2)
    (x, y), _ = given.people().take(np.arange(60))
    x[0] *= 1e6
    x[1] = np.nan
    tensors = torch.from_numpy(x), torch.from_numpy(y)
    whole = training._sums.gradients.sum(*tensors).gradients
    for gone in range(60):
        kept = torch.arange(60) != gone
        less = training._sums.gradients.sum(tensors[0][kept], tensors[1][kept]).gradients
        moved = torch.cat([(whole[name] - less[name]).double().flatten() for name in whole])
        assert float(moved.square().sum()) <= float(training.recipe.bound.l2_squared)


def test_a_user_counts_as_one_however_many_examples_are_theirs() -> None:
    x = np.tile(np.array([[3.0, -2, 5, 1]], np.float32), (200, 1))
    owners = np.where(np.arange(200) < 150, "a", "b")
    given = examples("marks", x, np.ones(200, np.int64), size=2, unit="user", owners=owners)
    training = Training(model(), LOSS, given, budget=account(given), batch=2, steps=1, clip=1, epsilon=2)
    sums = training._sums.gradients.sum(
        torch.from_numpy(x), torch.ones(200, dtype=torch.int64), torch.from_numpy(owners == "a")
    )
    total = torch.cat([each.flatten() for each in sums.gradients.values()])
    assert float(total.norm()) <= 2 * (1 + float(training.recipe.allowance))
    with training as steps:
        for step in steps:
            step.gradient()
    assert training.settled[0].plan.bound.unit == so.Unit("user")


def test_where_numbers_depend_on_the_seat_units_are_seated_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    given = divided()
    training = Training(model(), LOSS, given, budget=account(given), steps=3, **WORDS)
    training._sums.seats, seen = 150, []
    taken = training._sums.gradients.sum

    def watched(inputs: Any, targets: Any, owner: Any, seats: torch.Tensor) -> Any:
        seen.append(seats)
        return taken(inputs, targets, owner, seats)

    monkeypatch.setattr(training._sums.gradients, "sum", watched)
    with training as steps:
        for step in steps:
            step.gradient()
    assert all(len(set(each.tolist())) == len(each) <= 150 and int(each.max()) < 150 for each in seen)
    assert seen[0].tolist() != sorted(seen[0].tolist())


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_whoever_leaves_lets_nobody_else_in_however_many_there_are(size: int) -> None:
    rows = np.array([[0.5, 0], [0, 0.5], [-0.5, 0]], np.float32)

    def sum_of(rows: np.ndarray[Any, Any]) -> torch.Tensor:
        given = examples("marks", rows, np.zeros(len(rows), np.float32), size=size)
        training = Training(
            nn.Linear(2, 1, bias=False),
            lambda outputs, targets: outputs[:, 0] + 0 * targets,
            given,
            budget=so.account(given, so.unlimited("a test")),
            batch=size,
            steps=1,
            clip=1,
            noise=2,
        )
        assert isinstance(training._sums, UnitSums)
        training._sums.seats = training._sums.most  # as if numbers depended on the seat
        return training._sums.sum(0).sum

    for gone in range(3):
        moved = sum_of(rows) - sum_of(np.delete(rows, gone, axis=0))
        assert moved.tolist() == rows[gone].tolist()


def test_one_step_is_one_gradient() -> None:
    given = divided()
    training = Training(model(), LOSS, given, budget=account(given), steps=3, **WORDS)
    with pytest.raises(ArgumentError, match="open the training first"):
        next(iter(training))
    with training as steps:
        first = next(iter(steps))
        first.gradient()
        with pytest.raises(GrantError):
            first.gradient()
    assert training.settled[0].steps == 1
    with pytest.raises(ArgumentError, match="entered once"), training:
        pass
    careless = Training(model(), LOSS, given, budget=account(given), steps=3, **WORDS)
    with pytest.raises(ArgumentError, match="once in every step"), careless as steps:
        for _ in steps:
            pass
    assert careless.settled == ()


def test_it_goes_on_from_its_checkpoint_and_pays_for_what_it_runs(tmp_path: Path) -> None:
    given, path = divided(), tmp_path / "run.npz"
    data = account(given)
    words = {"budget": data, "epochs": 3, "checkpoint": path, **WORDS}

    def adam(trained: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(trained.parameters(), lr=0.01)

    first = model()
    optimizer = adam(first)
    with pytest.raises(ZeroDivisionError):
        break_off(Training(first, LOSS, given, kept=[optimizer], **words), optimizer, at=5)
    assert len(data.history) == 2  # the tranche in flight stays charged
    second = model()
    later = adam(second)
    again = Training(second, LOSS, given, kept=[later], **words)
    with again as steps:
        assert again.step == 4
        assert later.state_dict()["state"][0]["step"] == 4
        for step in steps:
            step.gradient()
            later.step()
    assert len(data.history) == 4
    assert again.step == 12
    assert [each.plan.first for each in again.settled] == [4, 8]
    with (
        pytest.raises(ArgumentError, match="another training"),
        Training(model(), LOSS, given, **(words | {"epochs": 4})),
    ):
        pass
    assert len(data.history) == 4


def test_a_ledger_keeps_the_recipe_and_no_weights(tmp_path: Path) -> None:
    given = divided()
    with so.open(tmp_path / "budget.db") as house:
        data = house.account(given, BUDGET)
        run = train(model(), LOSS, given, budget=data, epochs=2, **WORDS)
        scored = run.score(given, epsilon="0.5")
        assert house.verify().sound
        assert run.receipt is not None
        assert scored.receipt is not None
        assert set(json.loads(run.settled[-1].to_json())) >= {"recipe", "weights", "steps run"}
        assert 0 <= scored.low <= scored.accuracy <= scored.high <= 1
        assert len(data.history) == 3


def test_a_score_tells_the_share_and_costs_its_epsilon() -> None:
    given = divided(3000)
    data = account(given)
    run = train(model(), LOSS, given, budget=data, epochs=1, **WORDS)
    used = data.account.used  # type: ignore[attr-defined]
    scored = run.score(given, epsilon=1)
    assert scored.accuracy == pytest.approx(right(run.model, given), abs=0.02)
    assert scored.low <= right(run.model, given) <= scored.high or scored.high - scored.low < 0.01
    assert data.account.used > used  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"batch": 401}, "must not exceed size"),
        ({"batch": 0}, "batch"),
        ({"clip": 0}, "clip"),
        ({"clip": float("nan")}, "clip"),
        ({"epsilon": None}, "say what the training may spend"),
        ({"epochs": None}, "how long to train"),
        ({"steps": 5}, "one of the two"),
        ({"sampling": "shuffled"}, "sampling"),
        ({"clipping": "soft"}, "clipping"),
        ({"sampling": "one-pass", "tranche": 3}, "multiple of 4"),
        ({"noise": -1, "epsilon": None}, "noise"),
        ({"noise": 2}, "say one of them"),
    ],
)
def test_bad_words_are_refused_before_anything_is_charged(words: dict[str, Any], said: str) -> None:
    given = divided()
    data = account(given)
    with pytest.raises(ArgumentError, match=said):
        train(model(), LOSS, given, **({"budget": data, "epochs": 1} | WORDS | words))
    assert data.history == ()


@pytest.mark.parametrize(
    ("made", "given", "said"),
    [
        (nn.Linear(5, 2), {}, "RuntimeError"),
        (nn.Linear(4, 2), {"classes": 5}, "below 5"),
        (nn.Linear(4, 2), {"labels": "f4"}, "labels of float32"),
    ],
    ids=["inputs", "classes", "labels"],
)
def test_a_model_that_does_not_fit_is_refused_with_what_to_do(
    made: nn.Module, given: dict[str, Any], said: str
) -> None:
    labels = np.zeros(40, given.pop("labels", "i8"))
    shown = examples("marks", np.zeros((40, 4), np.float32), labels, size=40, **given)
    data = account(shown)
    with pytest.raises(ArgumentError, match=rf"fails on made-up examples.*{said}.*SRD-T109"):
        train(made, LOSS, shown, budget=data, steps=2, batch=10, clip=1, noise=2)
    assert data.history == ()


def test_an_account_of_something_else_is_refused() -> None:
    given = divided()
    other = examples("others", np.zeros((9, 4)), np.zeros(9, int), size=9)
    users = examples("marks", np.zeros((9, 4)), np.zeros(9, int), size=9, unit="user", owners=range(9))
    cases: list[tuple[Any, Any]] = [
        (other, account(given)),
        (users, account(given)),
        (given, BUDGET),
        (np.zeros(3), account(given)),
    ]
    for trained, data in cases:
        with pytest.raises(ArgumentError):
            Training(model(), LOSS, trained, budget=data, epochs=1, **WORDS)
    fixed = account(given)
    with pytest.raises(ArgumentError, match="replace-one"):
        train(model(), LOSS, given, budget=fixed, epochs=1, sampling="fixed-size", **WORDS)
    assert fixed.history == ()


def test_under_replace_one_both_ways_of_sampling_have_a_price() -> None:
    given = divided(neighbours=so.Neighbours.REPLACE_ONE)
    for way in ("poisson", "fixed-size"):
        data = account(given)
        run = train(model(), LOSS, given, budget=data, steps=4, batch=100, clip=1, noise=4, sampling=way)
        assert run.settled[0].steps == 4
        assert data.account.used > 0  # type: ignore[attr-defined]


class Shy:
    """Items that fail when they are read, with words that must not leave."""

    def __len__(self) -> int:
        return 400

    def __getitem__(self, place: int) -> Any:
        raise ValueError("patient 4711")


@pytest.mark.parametrize("own_loop", [False, True])
def test_whatever_goes_wrong_with_data_is_mute_and_charged(own_loop: bool, caplog: pytest.LogCaptureFixture) -> None:
    given = examples("marks", Shy(), size=400, like=(np.zeros(4, np.float32), 0))
    data = account(given)
    training = Training(model(), LOSS, given, budget=data, epochs=1, **WORDS)
    with pytest.raises(RunError) as told:
        descend(training) if own_loop else train(model(), LOSS, given, budget=data, epochs=1, **WORDS)
    assert "4711" not in str(told.value) + repr(told.value.__context__) + caplog.text
    assert len(data.history) == 1


def test_too_much_is_refused_and_told() -> None:
    given = divided()
    data = account(given, so.budget(epsilon=1, delta="1e-5"))
    with pytest.raises(BudgetError):
        train(model(), LOSS, given, budget=data, epochs=1, batch=100, clip=1, noise="0.5")
    assert data.history == ()


def test_progress_is_steps_alone() -> None:
    given, seen = divided(), []
    train(model(), LOSS, given, budget=account(given), epochs=1, tell=lambda *step: seen.append(step), **WORDS)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_numbers_have_no_score_of_this_kind() -> None:
    given = examples("marks", np.zeros((40, 4), np.float32), np.zeros((40, 1), np.float32), size=40)
    data = account(given)

    def squares(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return (outputs - targets).square().mean(1)

    run = train(nn.Linear(4, 1), squares, given, budget=data, steps=1, batch=10, clip=1, epsilon=1)
    with pytest.raises(ArgumentError, match="whole-numbered labels"):
        run.score(given, epsilon=1)
    assert len(data.history) == 1
