"""Batches of one shape: the same bits whoever else is there; owners, views, seats, and every way of clipping."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from learn.gradients.by_loop import CROSS_ENTROPY, clipped_sum, difference, drawn, middle_norm, norm, unit_gradients
from sordino.learn.gradients import ClippedGradients, Field
from sordino.learn.gradients.batching import seated
from sordino.learn.gradients.place import Batch

LABELS = Field((), "int64", below=10)
IMAGE, WORDS = Field((1, 16, 16)), Field((16,), "int64", below=50)


class Reader(nn.Module):
    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=dropout, batch_first=True, activation="gelu")
        self.out = nn.Linear(32, 10)

    def forward(self, words: Tensor) -> Tensor:
        return self.out(self.layer(self.words(words)).mean(1))


def network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 4, 2),
        nn.ReLU(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(16 * 36, 32),
        nn.ReLU(),
        nn.Linear(32, 10),
    )


def dense() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


MODELS: dict[str, tuple[Callable[[], nn.Module], Field]] = {
    "network": (network, IMAGE), "dense": (dense, IMAGE), "reader": (Reader, WORDS)
}  # fmt: skip


def made(name: str, **options: object) -> tuple[ClippedGradients, nn.Module, Field]:
    torch.manual_seed(0)
    make, field = MODELS[name]
    model = make()
    settings = {"clip": 0.1, "micro_batch": 16, **options}
    return ClippedGradients(model, CROSS_ENTROPY, inputs=field, targets=LABELS, **settings), model, field  # type: ignore[arg-type]


def own_bits(clipped: ClippedGradients, inputs: Tensor, targets: Tensor, unit: int) -> list[Tensor]:
    """Return the floats that one unit's gradient is made of, in a batch."""
    batch = Batch(16)
    (seating,) = seated(len(inputs), batch)
    examples = clipped._examples((inputs,), targets, seating.places[0])
    forms = clipped._pass(clipped._task, examples, batch)
    return [own for name in sorted(forms) for own in forms[name].own(unit)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_each_units_numbers_are_the_same_bits_whoever_else_is_there(name: str, threads: int) -> None:
    torch.set_num_threads(threads)
    clipped, _, field = made(name)
    inputs, targets = drawn(field, 16, 1), drawn(LABELS, 16, 2)
    wanted = own_bits(clipped, inputs, targets, 3)
    others, labels = drawn(field, 16, 3), drawn(LABELS, 16, 4)
    others[3], labels[3] = inputs[3], targets[3]
    if field.is_float:
        others[5] = torch.nan
    alone = own_bits(clipped, others[:4], labels[:4], 3)  # the rest is padding
    for found in (own_bits(clipped, others, labels, 3), alone):
        assert all(torch.equal(one, two) for one, two in zip(found, wanted, strict=True))
    others[11], labels[11] = inputs[3], targets[3]
    moved = own_bits(clipped, others, labels, 11)
    assert clipped.movable == all(torch.equal(one, two) for one, two in zip(moved, wanted, strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_padding_weighs_exactly_nothing_and_an_empty_batch_is_exactly_zero(name: str) -> None:
    clipped, model, field = made(name)
    empty = clipped.sum(drawn(field, 0, 1), drawn(LABELS, 0, 1))
    assert all(not value.any() for value in empty.gradients.values())
    assert len(empty.norms) == 0
    inputs, targets = drawn(field, 1, 1), drawn(LABELS, 1, 1)
    (unit,) = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, [[0]])
    assert difference(clipped.sum(inputs, targets).gradients, clipped_sum([unit], 0.1)) <= 1e-5 * 0.1


@pytest.mark.parametrize("name", MODELS)
def test_seats_change_nothing_but_where_units_sit(name: str) -> None:
    clipped, _, field = made(name)
    inputs, targets = drawn(field, 20, 1), drawn(LABELS, 20, 2)
    seats = torch.randperm(48, generator=torch.Generator().manual_seed(0))[:20]
    plain, seated_ = clipped.sum(inputs, targets), clipped.sum(inputs, targets, seats=seats)
    assert difference(plain.gradients, seated_.gradients) <= 1e-5 * norm(plain.gradients)
    rest = [row for row in range(20) if row != 7]
    less = clipped.sum(inputs[rest], targets[rest], seats=seats[rest])
    assert difference(seated_.gradients, less.gradients) <= clipped.bound(20, seats=48)
    assert sorted(seated_.norms.tolist()) == pytest.approx(sorted(plain.norms.tolist()), rel=1e-5)


@pytest.mark.parametrize("per_owner", [1, 3])
def test_all_examples_of_an_owner_are_clipped_as_one(per_owner: int) -> None:
    clipped, model, field = made("network", per_owner=per_owner, micro_batch=4)
    inputs, targets = drawn(field, 40, 1), drawn(LABELS, 40, 2)
    owner = torch.tensor([9] * 25 + [3, 7, 3, 7, 3, 5, 5, 5, 5, 8, 9, 9, 1, 2, 3])
    rows = [[row for row in range(40) if owner[row] == who] for who in sorted(set(owner.tolist()))]
    units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, rows)
    clipped.clip = middle_norm(units)
    sums = clipped.sum(inputs, targets, owner=owner)
    wanted = clipped_sum(units, clipped.clip)
    assert difference(sums.gradients, wanted) <= 1e-5 * norm(wanted)
    assert len(sums.norms) == len(rows)
    gone = owner != 9  # whoever has most
    less = clipped.sum(inputs[gone], targets[gone], owner=owner[gone])
    assert difference(sums.gradients, less.gradients) <= clipped.bound(len(rows), owners=True)


def test_owners_in_seats() -> None:
    clipped, _, field = made("network", per_owner=2, micro_batch=4)
    inputs, targets = drawn(field, 9, 1), drawn(LABELS, 9, 2)
    owner = torch.tensor([1, 1, 2, 2, 2, 2, 3, 4, 4])
    plain = clipped.sum(inputs, targets, owner=owner)
    other = clipped.sum(inputs, targets, owner=owner, seats=torch.tensor([7, 1, 0, 4]))
    assert difference(plain.gradients, other.gradients) <= 1e-5 * norm(plain.gradients)


def test_views_are_averaged_before_clipping() -> None:
    clipped, model, field = made("dense", views=3, micro_batch=4)
    inputs, targets = drawn(field, 6 * 3, 1), drawn(LABELS, 6, 2)
    rows = [[3 * at, 3 * at + 1, 3 * at + 2] for at in range(6)]
    units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets.repeat_interleave(3), rows, weight=1 / 3)
    clipped.clip = middle_norm(units)
    sums = clipped.sum(inputs.view(6, 3, *field.shape), targets)
    wanted = clipped_sum(units, clipped.clip)
    assert difference(sums.gradients, wanted) <= 1e-5 * norm(wanted)


def by_layer(units: list[dict[str, Tensor]], clip: float) -> dict[str, Tensor]:
    layers = sorted({name.rpartition(".")[0] for name in units[0]})
    total: dict[str, Tensor] = {}
    for layer in layers:
        parts = [{name: value for name, value in unit.items() if name.rpartition(".")[0] == layer} for unit in units]
        total |= clipped_sum(parts, clip / math.sqrt(len(layers)))
    return total


def automatic(units: list[dict[str, Tensor]], clip: float) -> dict[str, Tensor]:
    scaled = [{name: value * clip / (norm(unit) + 0.01) for name, value in unit.items()} for unit in units]
    return {name: sum((each[name] for each in scaled), torch.zeros(())) for name in units[0]}


@pytest.mark.parametrize(
    ("clipping", "reference"), [("flat", clipped_sum), ("layer", by_layer), ("automatic", automatic)]
)
@pytest.mark.parametrize("name", MODELS)
def test_every_way_of_clipping(name: str, clipping: str, reference: Callable[..., dict[str, Tensor]]) -> None:
    clipped, model, field = made(name, clipping=clipping)
    inputs, targets = drawn(field, 18, 1), drawn(LABELS, 18, 2)
    units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, [[row] for row in range(18)])
    clipped.clip = middle_norm(units)
    wanted = reference(units, clipped.clip)
    sums = clipped.sum(inputs, targets)
    assert difference(sums.gradients, wanted) <= 1e-5 * norm(wanted)
    assert sums.within(clipped.clip * (1 + 1e-5)) >= 9
    assert sums.within(0) == 0


def test_dropout_is_drawn_for_each_example_and_stays_within_the_bound() -> None:
    torch.manual_seed(0)
    clipped = ClippedGradients(Reader(0.3), CROSS_ENTROPY, inputs=WORDS, targets=LABELS, clip=0.1, micro_batch=16)
    inputs, targets = drawn(WORDS, 20, 1), drawn(LABELS, 20, 2)
    one, two = clipped.sum(inputs, targets), clipped.sum(inputs, targets)
    assert difference(one.gradients, two.gradients) > 0
    assert norm(one.gradients) <= 20 * clipped.clip + clipped.allowance(20)
    assert len(clipped.sum(inputs[:1].repeat(16, 1), targets[:1].repeat(16)).norms.unique()) > 1


def test_bfloat16_has_norms_in_float32_and_sums_near_the_exact_ones() -> None:
    for name in MODELS:
        clipped, model, field = made(name, bfloat16=True)
        inputs, targets = drawn(field, 18, 1), drawn(LABELS, 18, 2)
        units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, [[row] for row in range(18)])
        sums = clipped.sum(inputs, targets)
        wanted = clipped_sum(units, clipped.clip)
        assert difference(sums.gradients, wanted) <= 0.1 * norm(wanted)
        assert all(value.dtype == torch.float32 for value in sums.gradients.values())
        assert norm(sums.gradients) <= 18 * clipped.clip + clipped.allowance(18)


def test_float64_models_keep_their_precision() -> None:
    torch.manual_seed(0)
    model, field = dense().double(), Field((1, 16, 16), "float64")
    clipped = ClippedGradients(model, CROSS_ENTROPY, inputs=field, targets=LABELS, clip=0.1, micro_batch=4)
    inputs, targets = drawn(field, 6, 1).double(), drawn(LABELS, 6, 2)
    units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, [[row] for row in range(6)])
    wanted = clipped_sum(units, 0.1)
    assert difference(clipped.sum(inputs, targets).gradients, wanted) <= 1e-11 * norm(wanted)
    assert clipped.allowance(512) < 1e-10


def test_several_inputs() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.Linear(4, 3), nn.Embedding(5, 3)

        def forward(self, values: Tensor, word: Tensor) -> Tensor:
            return self.one(values) * self.two(word)

    torch.manual_seed(0)
    fields, labels = (Field((4,)), Field((), "int64", below=5)), Field((), "int64", below=3)
    model = Two()
    clipped = ClippedGradients(model, CROSS_ENTROPY, inputs=fields, targets=labels, clip=0.3, micro_batch=4)
    inputs = (drawn(fields[0], 7, 1), drawn(fields[1], 7, 2))
    targets = drawn(labels, 7, 3)
    units = unit_gradients(model, CROSS_ENTROPY, inputs, targets, [[row] for row in range(7)])
    wanted = clipped_sum(units, 0.3)
    assert difference(clipped.sum(inputs, targets).gradients, wanted) <= 1e-5 * norm(wanted)


def test_models_may_be_changed_between_sums() -> None:
    clipped, model, field = made("dense")
    inputs, targets = drawn(field, 6, 1), drawn(LABELS, 6, 2)
    before = copy.deepcopy(clipped.sum(inputs, targets).gradients)
    with torch.no_grad():
        for value in model.parameters():
            value += 0.01
    units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, [[row] for row in range(6)])
    after = clipped.sum(inputs, targets).gradients
    assert difference(before, after) > 0
    assert difference(after, clipped_sum(units, 0.1)) <= 1e-5 * norm(after)
