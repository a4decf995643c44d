"""What cannot be clipped by unit is refused on made-up data, with the fix; what can, passes."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from learn.gradients.by_loop import CROSS_ENTROPY
from sordino.errors import ArgumentError, RunError
from sordino.learn.gradients import ClippedGradients, Field, check
from sordino.learn.gradients.passing import one_by_one

VECTOR, IMAGE, WORDS = Field((6,)), Field((2, 4, 4)), Field((5,), "int64", below=9)
LABELS, NUMBER = Field((), "int64", below=3), Field(())


def contrastive(outputs: Tensor, targets: Tensor) -> Tensor:  # noqa: ARG001
    return F.cross_entropy(outputs @ outputs.t(), torch.arange(len(outputs)), reduction="none")


class Routed(nn.Module):
    """Experts with room for few examples each: who comes first gets in."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(6, 2), nn.ModuleList(nn.Linear(6, 3) for _ in range(2))

    def forward(self, values: Tensor) -> Tensor:
        scores = self.gate(values).softmax(-1)
        chosen = scores.argmax(-1)
        found = torch.zeros(len(values), 3)
        for number, expert in enumerate(self.experts):
            mine = (chosen == number) & ((chosen == number).cumsum(0) <= 1)
            found = found + torch.where(mine[:, None], expert(values) * scores[:, number, None], 0)
        return found


class First(nn.Module):
    """Every example is multiplied with the first."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.layer = nn.Parameter(torch.ones(6)), nn.Linear(6, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.layer(values * (values[0] * self.weight))


class Centred(nn.Module):
    """Takes the batch's mean away."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.layer(values - values.mean(0))


class Counting(nn.Module):
    """Keeps a running sum of what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 3)
        self.register_buffer("total", torch.zeros(6))

    def forward(self, values: Tensor) -> Tensor:
        self.total = self.total + values.detach().sum(0)
        return self.layer(values)


def squared(outputs: Tensor, targets: Tensor) -> Tensor:
    return F.mse_loss(outputs, targets, reduction="none")


torch.manual_seed(0)  # the same models every time
ONE = nn.Linear(6, 1)
REFUSED = {
    "batch norm": (nn.Sequential(nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(32, 3)), CROSS_ENTROPY, IMAGE, LABELS,
                   "replace BatchNorm by GroupNorm"),
    "batch norm without a memory": (nn.Sequential(nn.BatchNorm2d(2, track_running_stats=False), nn.Flatten(),
                                                  nn.Linear(32, 3)), CROSS_ENTROPY, IMAGE, LABELS, "GroupNorm"),
    "batch norm without scales": (nn.Sequential(nn.BatchNorm2d(2, affine=False, track_running_stats=False),
                                                nn.Flatten(), nn.Linear(32, 3)), CROSS_ENTROPY, IMAGE, LABELS,
                                  "GroupNorm"),
    "instance norm with a memory": (nn.Sequential(nn.InstanceNorm2d(2, affine=True, track_running_stats=True),
                                                  nn.Flatten(), nn.Linear(32, 3)), CROSS_ENTROPY, IMAGE, LABELS,
                                    "track_running_stats=False"),
    "contrastive": (nn.Linear(6, 3), contrastive, VECTOR, LABELS, "alone"),
    "routing": (Routed(), CROSS_ENTROPY, VECTOR, LABELS, "alone"),
    "times the first": (First(), CROSS_ENTROPY, VECTOR, LABELS, "alone"),
    "centred by the batch": (Centred(), CROSS_ENTROPY, VECTOR, LABELS, "alone"),
    "a running sum": (Counting(), CROSS_ENTROPY, VECTOR, LABELS, "buffer 'total'"),
    "a mean": (nn.Linear(6, 3), nn.CrossEntropyLoss(), VECTOR, LABELS, "reduction='none'"),
    "squares of columns": (ONE, squared, VECTOR, Field((1,)), "one for each"),
    "squares of columns and numbers": (ONE, squared, VECTOR, NUMBER, "one for each"),
    "a loss for each position": (nn.Linear(6, 6), squared, VECTOR, VECTOR, "average what is left"),
    "words that are renormed": (nn.Sequential(nn.Embedding(9, 3, max_norm=1.0), nn.Flatten(), nn.Linear(15, 3)),
                                CROSS_ENTROPY, WORDS, LABELS, "max_norm"),
    "words scaled by counts": (nn.Sequential(nn.Embedding(9, 3, scale_grad_by_freq=True), nn.Flatten(),
                                             nn.Linear(15, 3)), CROSS_ENTROPY, WORDS, LABELS, "scale_grad_by_freq"),
    "words of few rows": (nn.Sequential(nn.Embedding(9, 3, sparse=True), nn.Flatten(), nn.Linear(15, 3)),
                          CROSS_ENTROPY, WORDS, LABELS, "sparse"),
    "half precision": (nn.Linear(6, 3).half(), CROSS_ENTROPY, VECTOR, LABELS, r"model\.float\(\)"),
    "bfloat16": (nn.Linear(6, 3).bfloat16(), CROSS_ENTROPY, VECTOR, LABELS, "bfloat16=True"),
    "all frozen": (nn.Linear(6, 3).requires_grad_(False), CROSS_ENTROPY, VECTOR, LABELS, "unfreeze"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using a target size:UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_clipped_by_unit_is_refused_with_the_fix(name: str) -> None:
    model, loss, inputs, targets, fix = REFUSED[name]
    before = copy.deepcopy(model.state_dict())
    with pytest.raises(ArgumentError, match=fix):
        check(model, loss, inputs=inputs, targets=targets, micro_batch=4)
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items()), "only a copy was tried"


PASSING: dict[str, tuple[Callable[[], nn.Module], Field]] = {
    "dropout": (lambda: nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3)), VECTOR),
    "dropout without a rule": (
        lambda: nn.Sequential(nn.Linear(6, 8), nn.PReLU(), nn.Dropout(0.5), nn.Linear(8, 3)),
        VECTOR,
    ),
    "in place": (lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(inplace=True), nn.Linear(8, 3)), VECTOR),
    "frozen below": (lambda: nn.Sequential(nn.Linear(6, 8).requires_grad_(False), nn.ReLU(), nn.Linear(8, 3)), VECTOR),
    "starts at zero": (lambda: _zeroed(nn.Linear(6, 3)), VECTOR),
    "group norm": (lambda: nn.Sequential(nn.GroupNorm(1, 2), nn.Flatten(), nn.Linear(32, 3)), IMAGE),
    "words": (lambda: nn.Sequential(nn.Embedding(9, 4), nn.Flatten(), nn.Linear(20, 3)), WORDS),
}


def _zeroed(layer: nn.Linear) -> nn.Linear:
    nn.init.zeros_(layer.weight)
    return layer


@pytest.mark.parametrize("name", PASSING)
def test_what_can_be_clipped_passes(name: str) -> None:
    make, field = PASSING[name]
    check(make(), CROSS_ENTROPY, inputs=field, targets=LABELS, micro_batch=4)


def test_the_check_leaves_the_generator_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    state = torch.random.get_rng_state()
    check(model, CROSS_ENTROPY, inputs=VECTOR, targets=LABELS, micro_batch=4)
    assert torch.equal(state, torch.random.get_rng_state())


@pytest.mark.parametrize("seed", range(12))
def test_routing_is_found_whatever_the_weights(seed: int) -> None:
    torch.manual_seed(seed)
    with pytest.raises(ArgumentError, match="not independent"):
        check(Routed(), CROSS_ENTROPY, inputs=VECTOR, targets=LABELS, micro_batch=4)


class Wilful(nn.Module):
    """Looks at each example's values to decide, which neither rules nor torch.func can follow."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(6, 3))

    def forward(self, values: Tensor) -> Tensor:
        return torch.stack([each @ self.weight if bool(each.sum() > 0) else -each @ self.weight for each in values])


def test_what_nothing_else_can_take_goes_one_by_one() -> None:
    clipped = ClippedGradients(Wilful(), CROSS_ENTROPY, inputs=VECTOR, targets=LABELS, clip=1.0, micro_batch=2)
    assert clipped._pass is one_by_one
    assert clipped.sum(torch.ones(3, 6), torch.zeros(3, dtype=torch.int64)).norms.isfinite().all()


class Moody(nn.Module):
    """Does something else for some data."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.first(values) + self.second(values) if bool(values.max() > 1e6) else self.first(values)


def test_a_model_that_does_something_unrehearsed_fails_without_a_word_of_the_data() -> None:
    model = Moody()
    model.second.requires_grad_(True)
    clipped = ClippedGradients(model, CROSS_ENTROPY, inputs=VECTOR, targets=LABELS, clip=1.0, micro_batch=2)
    with pytest.raises(RunError) as caught:
        clipped.sum(torch.full((1, 6), 1234567.0), torch.zeros(1, dtype=torch.int64))
    assert "1234567" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("options", "fix"),
    [
        ({"clip": 0}, "greater than 0"),
        ({"clip": -1}, "greater than 0"),
        ({"clip": float("nan")}, "finite"),
        ({"clip": 1e-30}, "2\\^-60"),
        ({"clip": 1, "clipping": "soft"}, "one of"),
        ({"clip": 1, "micro_batch": 0}, "at least 1"),
        ({"clip": 1, "views": 2, "per_owner": 2}, "not both"),
    ],
)
def test_bad_options_are_refused(options: dict[str, float], fix: str) -> None:
    with pytest.raises(ArgumentError, match=fix):
        ClippedGradients(nn.Linear(6, 3), CROSS_ENTROPY, inputs=VECTOR, targets=LABELS, **options)


def test_made_up_examples_lie_in_their_field() -> None:
    for field in (
        Field((3, 2)),
        Field((4,), "int64", below=9, least=-3),
        Field((), "uint8", below=5),
        Field((2,), "bool"),
    ):
        values = field.made_up(100)
        assert values.shape == (100, *field.shape)
        assert not field.outside(values).any()
        assert len(values.reshape(100, -1).unique(dim=0)) > 1
    with pytest.raises(ArgumentError):
        Field((2,), "complex64")
