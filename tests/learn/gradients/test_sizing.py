"""How many units sit together: as many as suits memory and speed, in equal passes over the likely number."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from learn.gradients.by_loop import CROSS_ENTROPY, clipped_sum, difference, drawn, middle_norm, norm, unit_gradients
from sordino.learn.gradients import ClippedGradients, Field, sizing
from sordino.learn.gradients.passing import Task
from sordino.learn.gradients.rehearsal import made_up

LABELS = Field((), "int64", below=3)
ROWS = Field((8,))


def chosen(likely: int, **options: int) -> ClippedGradients:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
    return ClippedGradients(model, CROSS_ENTROPY, inputs=ROWS, targets=LABELS, clip=1.0, likely=likely, **options)  # type: ignore[arg-type]


def test_small_models_take_the_likely_number_at_once() -> None:
    assert chosen(100).micro_batch == 100
    assert chosen(100, micro_batch=7).micro_batch == 7


@pytest.mark.parametrize(("limit", "units"), [(1, 8), (20_000, 50), (1 << 20, 100)])
def test_less_memory_means_more_passes_that_are_equal(monkeypatch: pytest.MonkeyPatch, limit: int, units: int) -> None:
    monkeypatch.setattr(sizing, "_LIMIT", limit)
    found = chosen(100).micro_batch
    assert found == units
    passes = -(-100 // found)
    assert (found - 1) * passes < 100 <= found * passes, "no pass could be smaller by one"


def test_what_autograd_keeps_is_counted_whole() -> None:
    """Where memory that was let go and taken again counted once, a model was given another number in each process.

    Then no checkpoint was good for the next one: how sums round, which is part of a recipe, goes by passes.
    """

    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(1000))

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            values = values * self.scale
            for _ in range(10):
                values = torch.tanh(values)
            return values[:, :3]

    kept = sizing._kept_bytes(Task(Deep(), CROSS_ENTROPY), made_up((Field((1000,)),), LABELS, 4))
    assert kept >= 10 * 4 * 1000 * 4


def test_rows_of_one_owner_count_as_often_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizing, "_LIMIT", 20_000)
    assert chosen(100, per_owner=4).micro_batch < chosen(100).micro_batch


def test_sums_by_the_chosen_number_are_those_of_a_loop() -> None:
    clipped = chosen(20)
    inputs, targets = drawn(ROWS, 45, 1), drawn(LABELS, 45, 2)
    units = unit_gradients(clipped._task.model, CROSS_ENTROPY, (inputs,), targets, [[row] for row in range(45)])
    clipped.clip = middle_norm(units)
    wanted = clipped_sum(units, clipped.clip)
    found = clipped.sum(inputs, targets)
    assert difference(found.gradients, wanted) <= 1e-5 * norm(wanted)
    assert torch.equal(found.flat(), torch.cat([each.flatten() for each in found.gradients.values()]))


def test_parameters_of_two_types_have_a_flat_sum_too() -> None:
    torch.manual_seed(0)

    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(8, 4), nn.Linear(4, 3).double()

        def forward(self, values: torch.Tensor) -> torch.Tensor:
            return self.second(torch.tanh(self.first(values)).double())

    clipped = ClippedGradients(Mixed(), CROSS_ENTROPY, inputs=ROWS, targets=LABELS, clip=1.0, micro_batch=4)
    sums = clipped.sum(drawn(ROWS, 6, 1), drawn(LABELS, 6, 2))
    assert len(sums.flat()) == 8 * 4 + 4 + 4 * 3 + 3
    assert sums.flat().dtype == torch.float64
