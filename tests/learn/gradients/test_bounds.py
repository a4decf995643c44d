"""No unit moves the sum by more than the bound, whatever it holds; rounding stays within its allowance."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from learn.gradients.by_loop import CROSS_ENTROPY, difference, norm
from sordino.learn.gradients import ClippedGradients, Field, linear
from sordino.learn.gradients.clipping import Clipping
from sordino.learn.gradients.forms import Form, Product, Products, Rows, Stacked, roundings
from sordino.learn.gradients.rounding import BLOCK, rounded_down, roundoff, squared_norms

LABELS = Field((), "int64", below=2)


class Cancelling(nn.Module):
    """Output gradients that sum to zero over a sequence: what is common to all positions cancels in the gradient."""

    def __init__(self, length: int, size: int, outputs: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        fixed = torch.randn(length, outputs, generator=generator)
        self.register_buffer("fixed", 10 * (fixed - fixed.mean(0)))
        self.layer = nn.Linear(size, outputs, bias=False)

    def forward(self, values: Tensor) -> Tensor:
        found = (self.layer(values) * self.fixed).sum((1, 2))
        return torch.stack([found, -found], 1)


def with_common_part(common: float, length: int, size: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    way = torch.randn(size, generator=generator)
    return common * way / way.norm() + torch.randn(length, size, generator=generator)


def moved_by(clipped: ClippedGradients, inputs: Tensor, targets: Tensor, unit: int) -> float:
    """Return how far the sum moves when a unit leaves."""
    rest = [row for row in range(len(inputs)) if row != unit]
    whole, less = clipped.sum(inputs, targets), clipped.sum(inputs[rest], targets[rest])
    return difference(whole.gradients, less.gradients)


SHAPES = {"few terms": (3, 60, 60), "many terms": (30, 16, 4), "one term": (1, 16, 4)}


@pytest.mark.parametrize("common", [1.0, 1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_norm_that_cancels_is_not_under_estimated(shape: tuple[int, int, int], common: float) -> None:
    length, size, outputs = shape
    for seed in range(4):
        torch.manual_seed(seed)
        model = Cancelling(length, size, outputs, seed)
        clipped = ClippedGradients(
            model, CROSS_ENTROPY, inputs=Field((length, size)), targets=LABELS, clip=1.0, micro_batch=2
        )
        odd = with_common_part(common, length, size, seed)
        inputs = torch.stack([odd, torch.zeros_like(odd)])
        for target in (0, 1):
            targets = torch.full((2,), target)
            assert moved_by(clipped, inputs, targets, 0) <= clipped.bound(2)


def plain_gram_norms(left: Tensor, right: Tensor) -> Tensor:
    """Return squared norms as others take them: Gram matrices in float32, with nothing added."""
    return (torch.bmm(left, left.transpose(1, 2)) * torch.bmm(right, right.transpose(1, 2))).sum((1, 2))


@pytest.mark.parametrize("common", [1e3, 1e4, 1e5, 1e6, 1e7])
def test_gram_norms_are_never_too_small_and_the_same_test_refutes_plain_ones(common: float) -> None:
    worst = 0.0
    for seed in range(50):
        generator = torch.Generator().manual_seed(seed)
        left = torch.randn(1, 8, 4, generator=generator)
        left -= left.mean(1, keepdim=True)
        right = with_common_part(common, 8, 16, seed)[None]
        exact = float((left.double().transpose(1, 2) @ right.double()).square().sum())
        assert float(Products(left, right).squared_norms()) >= exact
        worst = max(worst, exact / max(float(plain_gram_norms(left, right)), 1e-12))
    assert worst > 1.001, "plain Gram norms are too small here"


BROKEN: dict[str, Callable[[Tensor], Tensor]] = {
    "NaN": lambda values: torch.full_like(values, torch.nan),
    "one NaN": lambda values: torch.where(torch.arange(values.numel()).view_as(values) == 3, torch.nan, values),
    "infinity": lambda values: torch.full_like(values, torch.inf),
    "huge": lambda values: values * 1e30,
    "largest": lambda values: torch.full_like(values, 3e38),
    "denormal": lambda values: values * 1e-41,
    "tiny": lambda values: values * 1e-25,
    "zero": torch.zeros_like,
}


@pytest.mark.parametrize("clipping", ["flat", "layer", "automatic"])
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_broken_examples_move_the_sum_by_no_more_than_the_bound(
    broken: Callable[[Tensor], Tensor], clipping: str
) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv1d(2, 3, 2), nn.GELU(), nn.Flatten(), nn.Linear(9, 2))
    clipped = ClippedGradients(
        model, CROSS_ENTROPY, inputs=Field((2, 4)), targets=LABELS, clip=0.5, clipping=clipping, micro_batch=4
    )
    inputs, targets = torch.randn(6, 2, 4), torch.tensor([0, 1, 0, 1, 1, 0])
    inputs[2] = broken(inputs[2])
    sums = clipped.sum(inputs, targets)
    assert all(value.isfinite().all() for value in sums.gradients.values())
    assert moved_by(clipped, inputs, targets, 2) <= clipped.bound(6)


def test_a_nan_counts_exactly_nothing() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 16))
    clipped = ClippedGradients(
        model, CROSS_ENTROPY, inputs=Field((16,)), targets=Field((), "int64", below=16), clip=0.5, micro_batch=16
    )
    inputs, targets = torch.randn(16, 16), torch.arange(16)
    broken = inputs.clone()
    broken[5] = torch.nan
    rest = [row for row in range(16) if row != 5]
    assert clipped.movable
    one, two = clipped.sum(broken, targets), clipped.sum(inputs[rest], targets[rest])
    assert difference(one.gradients, two.gradients) <= clipped.allowance(16)
    assert one.norms[5] == torch.inf
    assert one.within(1e30) == 15


def test_labels_outside_of_their_field_count_nothing() -> None:
    torch.manual_seed(0)
    clipped = ClippedGradients(
        nn.Linear(3, 2), CROSS_ENTROPY, inputs=Field((3,)), targets=LABELS, clip=1, micro_batch=2
    )
    alone = clipped.sum(torch.ones(1, 3), torch.tensor([1]))
    for label in (2, -1, -100, 2**40):
        both = clipped.sum(torch.ones(2, 3), torch.tensor([1, label]))
        assert difference(alone.gradients, both.gradients) == 0


def test_mean_squared_error_of_columns_is_clipped() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 1)

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        return F.mse_loss(outputs, targets, reduction="none").flatten()

    clipped = ClippedGradients(model, loss, inputs=Field((3,)), targets=Field((1,)), clip=1.0, micro_batch=2)
    sums = clipped.sum(100 * torch.ones(2, 3), 1e4 * torch.ones(2, 1))
    assert norm(sums.gradients) <= 2 + clipped.allowance(2)


def exact_sum(form: Form, factors: Tensor) -> Tensor:
    wide = copy.deepcopy(form)
    for name, value in vars(wide).items():
        if isinstance(value, Tensor) and value.is_floating_point():
            setattr(wide, name, value.double())
    return torch.einsum("u,u...->...", factors.double(), wide.stacked())


def form_of(kind: str, units: int, generator: torch.Generator) -> tuple[Form, tuple[int, ...]]:
    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator) * 10.0 ** torch.randint(-3, 4, shape, generator=generator)

    if kind == "stacked":
        return Stacked(normal(units, 5, 7)), (5, 7)
    if kind == "product":
        return Product(normal(units, 5), normal(units, 7)), (5, 7)
    if kind == "products":
        return Products(normal(units, 3, 5), normal(units, 3, 7)), (5, 7)
    keys = torch.randperm(units * 5, generator=generator)[: units * 2].sort().values
    return Rows(keys // 5, keys % 5, normal(len(keys), 7), units, 5), (5, 7)


@pytest.mark.parametrize("kind", ["stacked", "product", "products", "rows"])
@pytest.mark.parametrize("units", [1, 3, 64, 65, 300])
def test_forms_say_norms_that_are_never_too_small_and_sums_within_the_allowance(kind: str, units: int) -> None:
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        form, shape = form_of(kind, units, generator)
        wide = copy.deepcopy(form)
        whole = exact_sum(form, torch.ones(units))  # in float64, the floats as they are
        assert whole.shape == shape
        squares = form.squared_norms()
        stacks = torch.stack([exact_sum(form, row) for row in torch.eye(units)])
        exact = stacks.flatten(1).square().sum(1)
        off_by = [(form.one(at) - stacked).norm() / stacked.norm() for at, stacked in enumerate(form.stacked())]
        assert not any(each > 1e-5 for each in off_by)  # a unit of Rows may have no rows: 0/0
        assert (squares >= exact * (1 - 1e-12)).all()
        assert (squares <= exact * (1 + 1e-5) + 1e-30).all()
        factors = rounded_down(Clipping(1.0).factors([squares])[0], torch.float32)
        total = torch.zeros(shape)
        wide.add_to(total, factors)
        off = float((total.double() - exact_sum(form, factors)).norm())
        assert off <= (roundings(units) + math.ceil(units / BLOCK)) * roundoff(torch.float32) * units


@pytest.mark.parametrize("size", [1, 31, 32, 33, 1000])
@pytest.mark.parametrize("scale", [1.0, 1e-18, 1e-22, 1e-30, 1e-44, 1e18])
def test_squared_norms_are_above_the_exact_ones(size: int, scale: float) -> None:
    generator = torch.Generator().manual_seed(size)
    values = torch.randn(4, size, generator=generator) * scale
    exact = values.double().square().sum(1)
    found = squared_norms(values)
    assert (found >= exact * (1 - 1e-13)).all()
    assert (found <= exact * (1 + 4e-6) + size * 3e-38).all()


def test_rounding_down_never_rounds_up() -> None:
    values = torch.rand(10_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) ** 8
    found = rounded_down(values, torch.float32)
    assert (found.double() <= values).all()
    assert (found.double() >= values * (1 - 2e-7)).all()


def test_the_allowance_grows_with_units_and_is_small() -> None:
    clipped = ClippedGradients(nn.Linear(3, 2), CROSS_ENTROPY, inputs=Field((3,)), targets=LABELS, clip=2.0)
    assert 0 < clipped.allowance(1) < clipped.allowance(512) < 0.01 * clipped.clip
    assert clipped.bound(512) >= clipped.clip + clipped.allowance(512)
    assert clipped.allowance(512) < clipped.allowance(512, seats=1024) < clipped.allowance(512, owners=True)
    assert clipped.allowance(0) < 1e-30


class Watched(Product):
    """Remembers how exactly torch multiplies while it is added up."""

    seen: ClassVar[list[str]] = []

    def add_to(self, total: Tensor, factors: Tensor) -> None:
        backend: Any = torch.backends.mkldnn
        type(self).seen.append(backend.matmul.fp32_precision)
        super().add_to(total, factors)


def test_sums_are_added_in_full_precision_whatever_torch_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products in bfloat16 would round a unit's part of a sum by 2⁻⁸, far more than the allowance."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    clipped = ClippedGradients(model, CROSS_ENTROPY, inputs=Field((3,)), targets=LABELS, clip=1.0, micro_batch=2)
    monkeypatch.setattr(linear, "Product", Watched)
    monkeypatch.setattr(Watched, "seen", [])
    torch.set_float32_matmul_precision("medium")
    try:
        clipped.sum(torch.ones(2, 3), torch.tensor([0, 1]))
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert Watched.seen == ["ieee"]
