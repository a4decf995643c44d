"""Pooling with channels last returns torch's own numbers, bit for bit, and lies in memory as torch's own."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from sordino.learn.gradients import ClippedGradients, Field
from sordino.learn.gradients.pooling import FASTER

WAYS = [
    {"kernel_size": 2},
    {"kernel_size": 2, "stride": 1},
    {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    {"kernel_size": (2, 3), "stride": (1, 2), "padding": (1, 1)},
    {"kernel_size": 2, "dilation": 2},
]


def _values(channels: int) -> Tensor:
    """Return numbers with many ties, a NaN and infinities."""
    values = torch.randn(5, channels, 9, 11, generator=torch.Generator().manual_seed(0)).mul(2).round().relu()
    values[0, 0, 0, 0], values[1, 0] = torch.nan, -torch.inf
    return values


def _bits(values: Tensor) -> Tensor:
    return values.view(torch.int32)


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("channels", [1, 8, 19])
def test_outputs_and_gradients_are_those_of_torch(options: dict[str, object], channels: int) -> None:
    mine, theirs = _values(channels).requires_grad_(), _values(channels).requires_grad_()
    found, wanted = FASTER[F.max_pool2d](mine, **options), F.max_pool2d(theirs, **options)  # type: ignore[arg-type]
    assert torch.equal(_bits(found), _bits(wanted))
    assert found.is_contiguous()
    weights = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1))
    found.backward(weights)
    wanted.backward(weights)
    assert mine.grad is not None
    assert theirs.grad is not None
    assert torch.equal(mine.grad, theirs.grad)


def test_indices_single_images_and_other_layouts_are_left_to_torch() -> None:
    pool, values = FASTER[torch.max_pool2d], _values(8).nan_to_num()
    assert all(map(torch.equal, pool(values, 2, return_indices=True), F.max_pool2d(values, 2, return_indices=True)))
    assert torch.equal(pool(values[0], 2), F.max_pool2d(values[0], 2))
    turned = values.contiguous(memory_format=torch.channels_last)
    assert torch.equal(pool(turned, 2), F.max_pool2d(values, 2))


class Flattened(nn.Module):
    """A model that takes a view of what was pooled, and pools by function and by module."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.pool, self.last = nn.Conv2d(1, 8, 3), nn.MaxPool2d(2, 1), nn.Linear(8 * 2 * 2, 3)

    def forward(self, images: Tensor) -> Tensor:
        pooled = F.max_pool2d(self.pool(self.first(images)), 2)
        return self.last(pooled.view(len(images), -1))


def test_a_model_that_pools_has_the_sums_of_a_loop() -> None:
    torch.manual_seed(2)
    model, images, labels = Flattened(), torch.randn(6, 1, 8, 8), torch.arange(6) % 3
    each = nn.CrossEntropyLoss(reduction="none")
    clipped = ClippedGradients(
        model, each, inputs=Field((1, 8, 8)), targets=Field((), "int64", below=3), clip=100.0, micro_batch=4
    )
    found = clipped.sum(images, labels).gradients
    wanted = torch.autograd.grad(each(model(images), labels).sum(), list(model.parameters()))
    for (name, _), exact in zip(model.named_parameters(), wanted, strict=True):
        assert torch.allclose(found[name], exact, rtol=1e-5, atol=1e-6)
