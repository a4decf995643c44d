"""Every rule against a loop over examples in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from learn.gradients.by_loop import CROSS_ENTROPY, clipped_sum, difference, drawn, middle_norm, norm, unit_gradients
from sordino.learn.gradients import ClippedGradients, Field
from sordino.learn.gradients.passing import ByRules, by_functions

CLASSES = 3
LABELS = Field((), "int64", below=CLASSES)
CLOSE = 1e-5


class Head(nn.Module):
    """A layer between smooth ones, so that every gradient is lively; whatever comes out is averaged into classes."""

    def __init__(self, layer: nn.Module, read: Callable[..., Tensor] = lambda found: found) -> None:
        super().__init__()
        self.layer = layer
        self.read = read

    def forward(self, *inputs: Tensor) -> Tensor:
        found = torch.tanh(self.read(self.layer(*inputs)).flatten(1))
        mixing = torch.cos(torch.arange(found.shape[1] * CLASSES).view(-1, CLASSES) ** 1.5)  # the same floats for both
        return found @ mixing.to(found.dtype) / found.shape[1] ** 0.5


class Attending(nn.Module):
    def __init__(self, size: int, **options: bool) -> None:
        super().__init__()
        self.first = options.get("batch_first", False)
        self.attention = nn.MultiheadAttention(size, 2, **options)

    def forward(self, values: Tensor) -> Tensor:
        given = values if self.first else values.transpose(0, 1)
        found = self.attention(given, given.flip(-1), given * 2)[0]
        return found if self.first else found.transpose(0, 1)


class CrossAttending(nn.Module):
    """Queries of one width meet keys and values of two others, behind a mask."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(2 * size, 2, kdim=3, vdim=size, batch_first=True)
        self.keys = nn.Linear(2 * size, 3)

    def forward(self, values: Tensor) -> Tensor:
        length = values.shape[1]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        given = values[..., : values.shape[-1] // 2]
        return self.attention(values, self.keys(values), given, attn_mask=later, need_weights=False)[0]


class PartlyFrozen(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(size, 4), nn.Linear(4, 3)
        self.first.weight.requires_grad_(False)
        self.second.bias.requires_grad_(False)

    def forward(self, values: Tensor) -> Tensor:
        return self.second(torch.tanh(self.first(values)))


class SelfAttending(nn.Module):
    def __init__(self, size: int, batch_first: bool) -> None:
        super().__init__()
        self.first = batch_first
        self.layer = nn.TransformerEncoderLayer(size, 2, 2 * size, dropout=0.0, batch_first=batch_first)

    def forward(self, values: Tensor) -> Tensor:
        return self.layer(values) if self.first else self.layer(values.transpose(0, 1)).transpose(0, 1)


class LowRank(nn.Module):
    """A frozen layer with an adapter beside it, as functions of its factors or merged into one weight."""

    def __init__(self, size: int, merged: bool) -> None:
        super().__init__()
        self.frozen = nn.Linear(size, size)
        self.frozen.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(2, size))
        self.up = nn.Parameter(torch.randn(size, 2) * 0.1)
        self.merged = merged

    def forward(self, values: Tensor) -> Tensor:
        if self.merged:
            return F.linear(values, self.frozen.weight + self.up @ self.down, self.frozen.bias)
        return self.frozen(values) + F.linear(F.linear(values, self.down), self.up)


class Tied(nn.Module):
    """Words that are looked up and predicted with the same weights."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.words = nn.Embedding(7, size)
        self.out = nn.Linear(size, 7)
        self.out.weight = self.words.weight

    def forward(self, words: Tensor) -> Tensor:
        return self.out(torch.tanh(self.words(words)))


class Bare(nn.Module):
    """Parameters without a layer: a place, a scale, a first token, a matrix."""

    def __init__(self, length: int, size: int) -> None:
        super().__init__()
        self.place = nn.Parameter(torch.randn(length + 3, size))
        self.scale = nn.Parameter(torch.randn(1, size))
        self.first = nn.Parameter(torch.randn(1, 1, size))
        self.matrix = nn.Parameter(torch.randn(size, 4))
        self.shift = nn.Parameter(torch.tensor(0.3))

    def forward(self, values: Tensor) -> Tensor:
        placed = values * self.scale + self.place[: values.shape[1]]
        return (torch.cat([self.first.expand(len(values), -1, -1), placed], 1) - self.shift) @ self.matrix


class GPTLinear(nn.Module):
    """A layer with its weight the other way round, over positions that are merged with the batch."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(size, 4)), nn.Parameter(torch.randn(4))

    def forward(self, values: Tensor) -> Tensor:
        return torch.addmm(self.bias, values.reshape(-1, values.shape[-1]), self.weight).view(*values.shape[:-1], 4)


class Positions(nn.Module):
    """Two embeddings, one of them by position, laid out for the batch or not."""

    def __init__(self, length: int, size: int, laid_out: bool) -> None:
        super().__init__()
        self.words = nn.Embedding(7, size, padding_idx=3)
        self.places = nn.Embedding(length, size)
        self.laid_out = laid_out

    def forward(self, words: Tensor) -> Tensor:
        places = torch.arange(words.shape[1])
        return self.words(words) + self.places(places.expand_as(words) if self.laid_out else places)


def first(found: tuple[Tensor, ...]) -> Tensor:
    return found[0]


@dataclass(frozen=True)
class Case:
    make: Callable[[int, int], nn.Module]  # of length and size
    field: Callable[[int, int], Field]
    read: Callable[..., Tensor] = lambda found: found


def rows(length: int, size: int) -> Field:
    return Field((length, size))


def words(length: int, size: int) -> Field:  # noqa: ARG001
    return Field((length,), "int64", below=7)


def image(length: int, size: int) -> Field:
    return Field((4, 5 + length, 4 + size))


CASES = {
    "linear": Case(lambda _, n: nn.Linear(n, 5), lambda _, n: Field((n,))),
    "linear_of_positions": Case(lambda _, n: nn.Linear(n, 5, bias=False), rows),
    "linear_of_few_positions": Case(lambda _, n: nn.Linear(n + 40, 50), lambda _, n: Field((2, n + 40))),
    "conv1d": Case(lambda t, n: nn.Conv1d(n, 3, 2, stride=t, padding=1), lambda t, n: Field((n, 5 + t))),
    "conv2d": Case(lambda _, n: nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, n), groups=2), image),
    "conv2d_same": Case(lambda t, _: nn.Conv2d(4, 4, (3, 4), padding="same", dilation=t, bias=False), image),
    "conv2d_circular": Case(lambda *_: nn.Conv2d(4, 2, 3, padding=1, padding_mode="circular"), image),
    "conv1d_groups": Case(lambda t, _: nn.Conv1d(4, 6, 2, dilation=t, groups=2), lambda t, n: Field((4, 4 + t + n))),
    "conv2d_long_rows": Case(lambda *_: nn.Conv2d(1, 2, 2, stride=(1, 2)), lambda t, n: Field((1, 2 + t, 9 + n))),
    "conv2d_dilated_groups": Case(lambda t, _: nn.Conv2d(4, 4, 2, dilation=(1, t), groups=4, padding=1), image),
    "conv3d_strided_groups": Case(
        lambda *_: nn.Conv3d(2, 4, 2, stride=(1, 2, 1), groups=2, padding=(0, 1, 0)),
        lambda t, n: Field((2, 2 + t, 3, 2 + n)),
    ),
    "conv3d": Case(lambda t, _: nn.Conv3d(1, 2, 2, dilation=t), lambda t, n: Field((1, 3 + t, 3 + t, 3 + n))),
    "conv_transpose1d": Case(
        lambda _, n: nn.ConvTranspose1d(n, 4, 3, stride=2, padding=1, output_padding=1), lambda t, n: Field((n, 2 + t))
    ),
    "conv_transpose2d": Case(lambda *_: nn.ConvTranspose2d(4, 6, 2, groups=2, dilation=2), image),
    "embedding": Case(lambda _, n: nn.Embedding(7, n), words),
    "embedding_padded": Case(lambda _, n: nn.Embedding(7, n, padding_idx=2), words),
    "embeddings_of_places": Case(lambda t, n: Positions(t, n, laid_out=False), words),
    "embeddings_of_places_laid_out": Case(lambda t, n: Positions(t, n, laid_out=True), words),
    "layer_norm": Case(lambda _, n: nn.Sequential(nn.Linear(n, n + 2), nn.LayerNorm(n + 2)), rows),
    "layer_norm_of_two": Case(lambda t, n: nn.LayerNorm((t, n + 2)), lambda t, n: Field((t, n + 2))),
    "rms_norm": Case(lambda _, n: nn.Sequential(nn.RMSNorm(n), nn.Linear(n, 2)), rows),
    "group_norm": Case(lambda *_: nn.Sequential(nn.Conv2d(4, 4, 1), nn.GroupNorm(2, 4)), image),
    "instance_norm": Case(lambda *_: nn.InstanceNorm2d(4, affine=True), image),
    "instance_norm_of_rows": Case(lambda t, _: nn.InstanceNorm1d(t, affine=True), lambda t, n: Field((t, 3 + n))),
    "rms_norm_of_two": Case(lambda t, n: nn.RMSNorm((t, n + 1)), lambda t, n: Field((t, n + 1))),
    "batch_norm_frozen": Case(lambda *_: nn.BatchNorm2d(4).eval(), image),
    "attention": Case(lambda _, n: Attending(2 * n, batch_first=True), lambda t, n: Field((t, 2 * n))),
    "attention_batch_second": Case(lambda _, n: Attending(2 * n), lambda t, n: Field((t, 2 * n))),
    "attention_with_extra_keys": Case(
        lambda _, n: Attending(2 * n, batch_first=True, add_bias_kv=True), lambda t, n: Field((t, 2 * n))
    ),
    "attention_across": Case(lambda _, n: CrossAttending(n), lambda t, n: Field((t, 2 * n))),
    "transformer": Case(lambda _, n: SelfAttending(2 * n, True), lambda t, n: Field((t, 2 * n))),
    "transformer_batch_second": Case(lambda _, n: SelfAttending(2 * n, False), lambda t, n: Field((t, 2 * n))),
    "lstm": Case(lambda _, n: nn.LSTM(n, 3, 2, batch_first=True, bidirectional=True), rows, first),
    "lstm_projected": Case(lambda _, n: nn.LSTM(n, 4, proj_size=2, batch_first=True), rows, first),
    "gru": Case(lambda _, n: nn.GRU(n, 3, 2, batch_first=True, bias=False), rows, first),
    "gru_both_ways": Case(lambda _, n: nn.GRU(n, 2, bidirectional=True, batch_first=True), rows, first),
    "partly_frozen": Case(lambda _, n: PartlyFrozen(n), rows),
    "rnn": Case(lambda _, n: nn.RNN(n, 3, batch_first=True), rows, first),
    "low_rank": Case(lambda _, n: LowRank(n, merged=False), rows),
    "low_rank_merged": Case(lambda _, n: LowRank(n, merged=True), rows),
    "tied": Case(lambda _, n: Tied(n), words),
    "bare": Case(Bare, rows),
    "merged_positions": Case(lambda _, n: GPTLinear(n), rows),
    "weight_norm": Case(lambda _, n: nn.utils.parametrizations.weight_norm(nn.Linear(n, 4)), rows),
}
BY_FUNCTIONS = {
    "prelu": Case(lambda _, n: nn.Sequential(nn.Linear(n, 4), nn.PReLU()), rows),
    "einsum": Case(lambda _, n: Einsum(n), rows),
}


class Einsum(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(size, 3))

    def forward(self, values: Tensor) -> Tensor:
        return torch.einsum("btn,nk->btk", values, self.weight)


def compare(case: Case, length: int, size: int, seed: int) -> ClippedGradients:
    torch.manual_seed(seed)
    model, field = Head(case.make(length, size), case.read), case.field(length, size)
    count = 7
    inputs, targets = drawn(field, count, seed), drawn(LABELS, count, seed + 1)
    units = unit_gradients(model, CROSS_ENTROPY, (inputs,), targets, [[row] for row in range(count)])
    clip = middle_norm(units)
    clipped = ClippedGradients(model, CROSS_ENTROPY, inputs=field, targets=LABELS, clip=clip, micro_batch=4)
    wanted = clipped_sum(units, clip)
    sums = clipped.sum(inputs, targets)
    assert difference(sums.gradients, wanted) / norm(wanted) <= CLOSE
    for found, unit in zip(sums.norms.tolist(), units, strict=True):
        assert found == pytest.approx(norm(unit), rel=2e-5, abs=1e-9)
    return clipped


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")
@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")
@pytest.mark.parametrize("name", CASES)
@given(length=st.integers(1, 4), size=st.integers(1, 4), seed=st.integers(0, 2**20))
@settings(max_examples=3, phases=(Phase.explicit, Phase.generate))
def test_a_rule_gives_what_a_loop_over_examples_gives(name: str, length: int, size: int, seed: int) -> None:
    clipped = compare(CASES[name], length, size, seed)
    assert isinstance(clipped._pass, ByRules), "there is a rule for it"


@pytest.mark.parametrize("name", BY_FUNCTIONS)
def test_what_has_no_rule_is_differentiated_example_by_example(name: str) -> None:
    assert compare(BY_FUNCTIONS[name], 3, 4, 0)._pass is by_functions
