"""A score's shares: one unit more or less changes nobody else's, and labels that do not fit are refused in time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sordino as so
from learn.worlds import account, divided, model
from sordino.errors import ArgumentError
from sordino.learn.descent import shares_right
from sordino.learn.descent.ran import Run
from sordino.learn.descent.shares_right import Judge
from sordino.learn.descent.task import fields_of
from sordino.learn.descent.train import train
from sordino.learn.run.examples import Examples, examples

LOSS = nn.CrossEntropyLoss()


def judge(given: Examples, judged: nn.Module) -> Judge:
    return Judge(judged, fields_of(given, judged))


class ByPlace(nn.Module):
    """What comes out for a row hangs on its place and on how many there are, as the last bits of products do."""

    def forward(self, rows: Tensor) -> Tensor:
        places = torch.arange(len(rows)) + len(rows)
        return torch.stack([rows[:, 0] * 0 + places % 2, rows[:, 0] * 0 + 0.5], 1)


def test_whoever_leaves_changes_nobody_elses_share(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = divided(600)
    (x, y), _ = whole.people().take(np.arange(600))
    seats = np.random.default_rng(0).permutation(600)
    for gone in (0, 17, 599):
        kept = np.delete(np.arange(600), gone)
        monkeypatch.setattr(shares_right, "seats_for", lambda *_: seats)
        shares = judge(whole, ByPlace()).shares(whole)
        monkeypatch.setattr(shares_right, "seats_for", lambda *_, kept=kept: seats[kept])
        less = examples("marks", x[kept], y[kept], size=600)
        assert np.array_equal(judge(less, ByPlace()).shares(less), shares[kept])


def test_seats_are_drawn_anew() -> None:
    given = divided(600)
    one, other = (judge(given, ByPlace()).shares(given) for _ in range(2))
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("size", [50, 300, 5000])
def test_everybody_is_judged_however_many_were_declared(size: int) -> None:
    given = divided(300, size=size)
    (x, y), _ = given.people().take(np.arange(300))
    torch.manual_seed(0)
    judged = model()
    with torch.no_grad():
        right = judged(torch.from_numpy(x)).argmax(1).numpy() == y
    assert np.array_equal(judge(given, judged).shares(given), right)


def test_an_owner_with_many_examples_has_the_mean_of_theirs() -> None:
    (x, y), _ = divided(600).people().take(np.arange(600))
    owners = np.repeat([0, 1, 2, 3], [1, 5, 8, 586])
    given = examples("marks", x, y, size=4, unit="user", owners=owners)
    judged = model()
    with torch.no_grad():
        right = judged(torch.from_numpy(x)).argmax(1).numpy() == y
    wanted = [right[owners == owner].mean() for owner in range(4)]
    assert judge(given, judged).shares(given) == pytest.approx(wanted)


def test_labels_that_do_not_fit_are_refused_before_anything_is_charged() -> None:
    given = divided()
    data = account(given)
    run = train(model(), LOSS, given, budget=data, batch=100, clip=1, epsilon=2, steps=1)
    x, _ = given.people().take(np.arange(400))[0]
    several = examples("marks", x, np.zeros((400, 3), np.int64), size=400, classes=2)
    used = data.account.used  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="made-up"):
        run.score(several, epsilon=1)
    assert data.account.used == used  # type: ignore[attr-defined]


def test_a_score_leaves_torchs_generator_as_it_was() -> None:
    given = divided()
    budget: Any = so.account(given, so.unlimited("a test"))
    unsure: Any = nn.Sequential(nn.Linear(4, 2), nn.Dropout())
    run = Run(unsure, budget, recipe=unsure, settled=(), last=unsure)
    state = torch.get_rng_state()
    run.score(given, epsilon=1)
    assert torch.equal(torch.get_rng_state(), state)
