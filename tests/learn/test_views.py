"""Views of examples, averages of weights, bfloat16: what is added up, what is kept, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from learn.worlds import account, divided, model
from sordino.errors import ArgumentError, RunError
from sordino.learn.descent.averaging import averaging
from sordino.learn.descent.train import train
from sordino.learn.descent.training import Training

LOSS = nn.CrossEntropyLoss()
WORDS: dict[str, Any] = {"batch": 400, "clip": "0.1", "steps": 2, "epsilon": 2}


def total(training: Training) -> Tensor:
    """The sum of the first step: everybody is in it, as the batch is all there are."""
    return training._sums.sum(0).sum


def trainings(*words: dict[str, Any]) -> list[Training]:
    given = divided()
    return [Training(model(), LOSS, given, budget=account(given), **(WORDS | each)) for each in words]


def by_hand(given: Any, views: list[Any], clip: float) -> Tensor:
    """One example after another, in float64: the mean gradient over its views, clipped."""
    net = model().double()
    (x, y), _ = given.people().take(np.arange(len(given.people())))
    summed = torch.zeros(sum(each.numel() for each in net.parameters()), dtype=torch.float64)
    for row, label in zip(torch.from_numpy(x).double(), torch.from_numpy(y), strict=True):
        losses = torch.stack([LOSS(net(view(row))[None], label[None]) for view in views])
        gradient = torch.cat([each.flatten() for each in torch.autograd.grad(losses.mean(), list(net.parameters()))])
        summed += gradient * min(1.0, clip / float(gradient.norm()))
    return summed


def test_views_are_averaged_before_clipping() -> None:
    turn = iter(range(10**6))

    def every_other_flipped(x: Tensor) -> Tensor:
        assert x.shape == (4,)  # one example, never a batch
        return x.flip(0) if next(turn) % 2 else x

    (two,) = trainings({"augment": every_other_flipped, "views": 2})
    turn = iter(range(10**6))
    expected = by_hand(divided(), [lambda row: row, lambda row: row.flip(0)], 0.1)
    torch.testing.assert_close(total(two).double(), expected, rtol=1e-4, atol=1e-4)
    assert float((total(two).double() - by_hand(divided(), [lambda row: row], 0.1)).norm()) > 1
    once, plain = trainings({"augment": lambda x: x}, {})
    torch.testing.assert_close(total(once), total(plain))
    assert two.recipe.bound == plain.recipe.bound
    assert len({each.recipe.identity for each in (two, once, plain)}) == 3


def test_with_views_too_one_unit_moves_a_sum_by_no_more_than_the_bound() -> None:
    given = divided(40)
    words = WORDS | {"batch": 40}
    (whole, less) = (
        total(Training(model(), LOSS, each, budget=account(each), augment=lambda x: x * 1e6, views=3, **words))
        for each in (given, _without(given, 7))
    )
    moved = float((whole - less).double().norm())
    bound = Training(model(), LOSS, given, budget=account(given), **words).recipe.bound
    assert 0 < moved**2 <= float(bound.l2_squared)


def _without(given: Any, gone: int) -> Any:
    from dataclasses import replace

    from sordino.learn.run.rows import ArrayRows

    return replace(given, rows=ArrayRows(tuple(np.delete(each, gone, 0) for each in given.rows.arrays)))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"views": 2}, "augment"),
        ({"views": 0, "augment": lambda x: x}, "views"),
        ({"augment": lambda x: x[:2]}, "same shapes"),
        ({"augment": lambda x: x.double()}, "same shapes"),
        ({"augment": lambda x: (x, x)}, "same shapes"),
        ({"augment": lambda x, _: x}, "TypeError"),
        ({"average": "weighted"}, "uniform"),
        ({"average": 1}, "uniform"),
        ({"average": True}, "uniform"),
    ],
)
def test_what_cannot_be_is_refused_before_the_charge(words: Any, said: str) -> None:
    given = divided()
    data = account(given)
    with pytest.raises(ArgumentError, match=said):
        train(model(), LOSS, given, budget=data, **(WORDS | words))
    assert not data.history


def test_a_view_that_fails_on_data_says_nothing() -> None:
    given = divided()
    data = account(given)

    def picky(x: Tensor) -> Tensor:
        if float(x[0]) > 1:
            raise ValueError(f"canary {x}")
        return x

    with pytest.raises(RunError) as error:
        train(model(), LOSS, given, budget=data, augment=picky, **WORDS)
    assert "canary" not in str(error.value)
    assert error.value.__context__ is None
    assert len(data.history) == 1


def test_averages_are_those_of_the_released_weights() -> None:
    given = divided()
    for kind in ("uniform", 0.5):
        net = model()
        seen: list[Tensor] = []

        def note(*_: int, net: nn.Module = net, seen: list[Tensor] = seen) -> None:
            seen.append(torch.cat([each.detach().flatten().clone() for each in net.parameters()]))

        run = train(net, LOSS, given, budget=account(given), average=kind, tell=note, **(WORDS | {"steps": 5}))
        mean = seen[0]
        for number, weights in enumerate(seen[1:], 2):
            mean = mean + (weights - mean) * (1 / number if kind == "uniform" else 0.5)
        torch.testing.assert_close(torch.cat([each.flatten() for each in run.model.parameters()]), mean)
        assert run.last is net
        assert not run.model.training
        assert 0 <= run.score(given, epsilon=1).accuracy <= 1


def test_an_average_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    given = divided()
    words = WORDS | {"steps": 4, "tranche": 2, "checkpoint": tmp_path / "run.npz", "average": "uniform"}

    def stop(step: int, _: int) -> None:
        if step == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(model(), LOSS, given, budget=account(given), tell=stop, **words)
    first = averaging(model(), "uniform")
    second = train(model(), LOSS, given, budget=account(given), **words)
    assert second.settled[-1].plan.first == 2
    assert int(first.n_averaged) == 0
    kept = np.load(tmp_path / "run.npz")
    assert [int(kept[name]) for name in kept.files if name.endswith("n_averaged")] == [4]


def test_bfloat16_is_near_float32_and_part_of_the_recipe() -> None:
    plain, short = trainings({}, {"bfloat16": True})
    one, other = total(plain).double(), total(short).double()
    assert 0 < float((one - other).norm()) < 0.05 * float(one.norm())
    assert one.dtype == other.dtype
    assert plain.recipe.identity != short.recipe.identity
    given = divided()
    run = train(model(), LOSS, given, budget=account(given), bfloat16=True, **WORDS)
    assert all(each.dtype == torch.float32 for each in run.model.parameters())
