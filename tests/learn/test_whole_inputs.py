"""Whole numbers as inputs: all that a model takes count, and what it does not take counts nothing and tells nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

import sordino as so
from sordino.learn.descent.task import fields_of
from sordino.learn.descent.train import train
from sordino.learn.descent.training import Training
from sordino.learn.gradients.made_up import Field
from sordino.learn.gradients.whole_inputs import with_what_it_takes
from sordino.learn.run.examples import Examples, examples

WORDS = 50
LOSS = nn.CrossEntropyLoss()
ASKED: dict[str, Any] = {"batch": 40, "clip": 1, "noise": 1, "steps": 2}


class Reader(nn.Module):
    """Looks words up, and takes the mean."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(WORDS, 4), nn.Linear(4, 2)

    def forward(self, words: Tensor) -> Tensor:
        found: Tensor = self.out(self.words(words).mean(1))
        return found


class Numbers(nn.Module):
    """Takes whole numbers as numbers."""

    def __init__(self, most: float) -> None:
        super().__init__()
        self.most, self.out = most, nn.Linear(6, 2)

    def forward(self, numbers: Tensor) -> Tensor:
        found: Tensor = self.out(numbers.float() / self.most)
        return found


class OneHot(nn.Module):
    """Takes classes as columns of zeros and ones."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(9, 2)

    def forward(self, classes: Tensor) -> Tensor:
        found: Tensor = self.out(F.one_hot(classes, 9).float())
        return found


def of(values: np.ndarray[Any, Any]) -> Examples:
    return examples("texts", values, np.arange(len(values)) % 2, size=len(values))


def norms_of(model: nn.Module, given: Examples) -> Tensor:
    training = Training(model, LOSS, given, budget=so.account(given, so.unlimited("a test")), **ASKED)
    people = given.people()
    (x, y), _ = people.take(np.arange(len(people)))
    kind = getattr(torch, training._sums._fields[0][0].kind)  # type: ignore[union-attr]
    return training._sums.gradients.sum(torch.from_numpy(x).to(kind), torch.from_numpy(y)).norms  # type: ignore[union-attr]


GIVEN: dict[str, tuple[nn.Module, np.ndarray[Any, Any]]] = {
    "words": (Reader(), np.random.default_rng(0).integers(2, WORDS, (40, 6))),
    "pixels": (Numbers(255), np.random.default_rng(0).integers(2, 256, (40, 6)).astype(np.uint8)),
    "numbers": (Numbers(2.0**33), np.random.default_rng(0).integers(-(2**33), 2**33, (40, 6))),
    "small numbers": (Numbers(100), np.random.default_rng(0).integers(-100, 100, (40, 6)).astype(np.int8)),
    "classes": (OneHot(), np.random.default_rng(0).integers(2, 9, 40)),
    "yes and no": (Numbers(1), np.random.default_rng(0).integers(0, 2, (40, 6)).astype(bool)),
}


@pytest.mark.parametrize(("model", "values"), GIVEN.values(), ids=GIVEN)
def test_all_that_a_model_takes_counts(model: nn.Module, values: np.ndarray[Any, Any]) -> None:
    assert bool((norms_of(model, of(values)) > 1e-3).all())


def test_words_that_a_model_does_not_know_count_nothing_and_stop_nothing() -> None:
    values = np.random.default_rng(0).integers(0, WORDS, (40, 6))
    values[3, 2], values[5, 0], values[7, 5] = WORDS, -1, 2**40
    found = norms_of(Reader(), of(values))
    assert (found > 1e-3).sum() == 37
    assert not (found[[3, 5, 7]] > 1e-3).any()
    given = of(values)
    run = train(Reader(), LOSS, given, budget=so.account(given, so.unlimited("a test")), **ASKED)
    assert len(run.settled) == 2
    assert 0 <= run.score(given, epsilon=1).accuracy <= 1


def test_a_model_learns_from_words() -> None:
    words = np.random.default_rng(0).integers(2, WORDS, (2000, 6))
    words[::2] = words[::2] // 2 // 2 * 2  # even words alone, below half
    given = examples("texts", words, np.arange(2000) % 2, size=2000)
    torch.manual_seed(0)
    asked = ASKED | {"batch": 200, "steps": 60}
    budget = so.account(given, so.unlimited("a test"))
    run = train(Reader(), LOSS, given, budget=budget, optimizer=lambda each: torch.optim.Adam(each, lr=0.1), **asked)
    with torch.no_grad():
        right = run.model(torch.from_numpy(words)).argmax(1) == torch.arange(2000) % 2
    assert float(right.double().mean()) > 0.9


def test_what_is_tried_changes_neither_the_model_nor_the_generator() -> None:
    torch.manual_seed(0)
    counting = nn.Sequential(nn.Embedding(WORDS, 4), nn.BatchNorm1d(3), nn.Dropout())
    before = {name: value.clone() for name, value in counting.state_dict().items()}
    state = torch.get_rng_state()
    (found,) = with_what_it_takes(counting, (Field((3,), "int64"),))
    assert (found.least, found.below) == (0, WORDS)
    assert all(torch.equal(value, before[name]) for name, value in counting.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)


def test_several_inputs_are_told_apart() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Embedding(7, 2), nn.Embedding(300, 2)

        def forward(self, one: Tensor, other: Tensor) -> Tensor:
            found: Tensor = self.first(one) + self.second(other - 1)

            return found

    one, other = np.zeros(10, np.int64), np.ones(10, np.int64)
    given = examples("pairs", one, other, np.zeros(10, np.int64), size=10, classes=2)
    fields, _ = fields_of(given, Two())
    assert [(each.least, each.below) for each in fields] == [(0, 7), (1, 301)]
