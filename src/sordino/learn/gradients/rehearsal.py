"""The rehearsal: a model and its loss are tried on made-up data, before anything is charged and any data is touched.

It finds the way to the gradients (`passing`), and refuses what cannot be clipped by unit:
- a loss that is not one number for each example;
- buffers that change with what passes through (running means): they would carry data past the noise;
- examples that are not independent: another example in the batch, be it of NaN, changes a loss or a gradient.
It also finds whether a unit's numbers stay the same bits wherever it sits in a batch of the very shape that will be
used. Often they do not, as processors round the ends of arrays otherwise than their middles. Then whoever leaves must
leave an empty seat, for if all others moved up, everybody's gradient would change in its last bits.

Everything happens on a copy whose parameters are nudged, so that what starts at zero hides nothing, and torch's
generator is put back. Made-up data cannot show everything: a model that mixes examples only for some data gets through.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from sordino.errors import ArgumentError

from .forms import Form
from .listening import Listener
from .made_up import Field
from .passing import ByRules, Examples, Loss, Pass, Task, by_functions, one_by_one, run_backward
from .place import Batch
from .score import Following, Guessing, Step, UnforeseenError, UnheardError, compared, scattered
from .sizing import units_at_once
from .trying import tried

_SIZES = (13, 17)
_FEW = 4
_PIECE = 1 << 16
_TRIALS = 16
_SCALES = (1.0, 1.0, 8.0, 8.0, 64.0, 64.0)
"""What made-up floats are multiplied by in trials: a choice that a bias makes for small ones is made by large ones."""

_SPREADING = 0x1E3779B97F4A7C15
_MOST_GUESSES = 200
_TOLERANCE = {False: 1e-3, True: 0.1}
"""How far, relatively, gradients by rules may be from autograd's on made-up data; twice as coarse types, more."""

Fields = tuple[Field, ...]


def check(
    model: nn.Module,
    loss: Loss,
    *,
    inputs: Field | Fields,
    targets: Field,
    micro_batch: int = 64,
    rows: int = 1,
    bfloat16: bool = False,
) -> None:
    """Raise an error that names the fix if gradients of this model and loss cannot be clipped by unit.

    >>> check(nn.Linear(3, 2), nn.CrossEntropyLoss(reduction="none"), inputs=Field((3,)), targets=Field((), "int64"))
    """
    fields = inputs if isinstance(inputs, tuple) else (inputs,)
    rehearsed(Task(model, loss, bfloat16), fields, targets, Batch(micro_batch, rows))


@dataclass(frozen=True)
class Rehearsed:
    """The best way to the units' gradients, the shape of a pass, and whether units keep their numbers in any seat."""

    way: Pass
    batch: Batch
    movable: bool


def rehearsed(task: Task, inputs: Fields, targets: Field, batch: Batch, *, fit: bool = False) -> Rehearsed:
    """Return how to come to the units' gradients, once everything was tried; see the module for what is refused.

    With `fit`, the units of `batch` may be more than are good to have at once: they are then cut into equal passes.
    """
    _check_parameters(task)
    with _aside():
        trial = replace(task, model=_nudged(task.model))
        _try_loss(trial, inputs, targets)
        if fit:
            few, many = (made_up(inputs, targets, count) for count in (_FEW, 2 * _FEW))
            batch = replace(batch, units=units_at_once(trial, few, many, batch.rows, batch.units))
        way = _way(trial, inputs, targets)
        for number in range(_TRIALS):
            _try_independence(trial, way, inputs, targets, Batch(_FEW, batch.rows), number)
        _try_independence(trial, way, inputs, targets, batch, 0)
        return Rehearsed(way, batch, _is_movable(trial, way, inputs, targets, batch))


def _check_parameters(task: Task) -> None:
    if not task.trained:
        raise ArgumentError("every parameter of this model is frozen; unfreeze what is to be trained", "SRD-T103")
    for name, value in task.trained.items():
        if value.dtype not in (torch.float32, torch.float64):
            raise ArgumentError(
                f"parameter {name!r} is {str(value.dtype).removeprefix('torch.')}, in which clipped sums round by "
                "more than a unit may move them; call model.float(), and say bfloat16=True to compute in bfloat16",
                "SRD-T103",
            )


@contextmanager
def _aside() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        yield


def _nudged(model: nn.Module) -> nn.Module:
    """Return a copy of the model with parameters that are nowhere exactly zero or alike."""
    trial = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in trial.parameters():
            if parameter.is_floating_point() and parameter.numel():
                size = 0.1 / max(1, parameter[0].numel() if parameter.dim() else 1) ** 0.5
                flat = parameter.data.view(-1) if parameter.is_contiguous() else parameter.data.reshape(-1)
                for start, piece in zip(range(0, len(flat), _PIECE), flat.split(_PIECE), strict=True):
                    piece.add_(Field().made_up(len(piece), start).to(parameter.dtype) * size)
                parameter.data.copy_(flat.view_as(parameter))
    return trial


def made_up(inputs: Fields, targets: Field, count: int, first: int = 0) -> Examples:
    """Return a made-up batch; `first` is the number of its first example."""
    return Examples(
        tuple(field.made_up(count, first) for field in inputs), targets.made_up(count, first), torch.ones(count)
    )


def _losses(task: Task, examples: Examples) -> Tensor:
    torch.manual_seed(0)  # the same dropout each time
    return task.losses(examples)


def _bare_losses(task: Task, examples: Examples) -> Tensor:
    """Return the losses, and keep nothing for a way back."""
    with torch.no_grad():
        return _losses(task, examples)


def _try_loss(task: Task, inputs: Fields, targets: Field) -> None:
    """Refuse a loss that is not one number for each example, and buffers that change."""
    before = {name: value.clone() for name, value in task.model.named_buffers()}
    found = tried(lambda: _losses(task, made_up(inputs, targets, _FEW)), inputs, targets)
    if not isinstance(found, Tensor) or found.shape != (_FEW,):
        shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise ArgumentError(
            f"the loss of {_FEW} examples must be {_FEW} numbers, one for each, not of shape {shape}; take "
            "reduction='none', give outputs and targets the same shape, and average what is left within each example",
            "SRD-T104",
        )
    changed = [
        name for name, value in task.model.named_buffers() if name not in before or not torch.equal(value, before[name])
    ]
    if changed:
        raise ArgumentError(
            f"buffer {changed[0]!r} changes with what passes through the model, so data would leave without noise; "
            f"{_advice(task.model)}",
            "SRD-T105",
        )


def _advice(model: nn.Module) -> str:
    if any(isinstance(each, nn.modules.batchnorm._BatchNorm) for each in model.modules()):
        return "replace BatchNorm by GroupNorm, or freeze it with .eval()"
    if any(isinstance(each, nn.modules.instancenorm._InstanceNorm) for each in model.modules()):
        return "take InstanceNorm with track_running_stats=False"
    return "compute each example's output and loss from that example alone"


def _way(task: Task, inputs: Fields, targets: Field) -> Pass:
    """Return the first way whose gradients are those of autograd."""
    try:
        rules = ByRules(_score(task, inputs, targets))
        if _agrees(task, rules, inputs, targets):
            return rules
    except (UnheardError, UnforeseenError):
        pass
    for way in (by_functions, one_by_one):
        with suppress(RuntimeError), warnings.catch_warnings():  # what torch.func cannot do, or is slow at
            warnings.simplefilter("ignore")
            if _agrees(task, way, inputs, targets):
                return way
    raise _not_independent(task)


def _not_independent(task: Task) -> ArgumentError:
    return ArgumentError(
        "examples of one batch are not independent: a loss or a gradient changes with who else is there (batch "
        "normalization, contrastive losses, routing with a capacity), so no unit's part can be told apart and clipped; "
        f"{_advice(task.model)}",
        "SRD-T106",
    )


def _by_autograd(task: Task, losses: Tensor, at: int) -> dict[str, Tensor]:
    """Return the gradients of one of a few examples, by plain autograd from its own loss."""
    alone = torch.zeros(_FEW)
    alone[at] = 1
    parameters = task.trained.values()
    gradients = torch.autograd.grad(
        losses, list(parameters), alone.to(losses.dtype), retain_graph=True, allow_unused=True
    )
    values = [torch.zeros_like(one) if got is None else got for got, one in zip(gradients, parameters, strict=True)]
    return dict(zip(task.trained, values, strict=True))


def _agrees(task: Task, way: Pass, inputs: Fields, targets: Field) -> bool:
    """Tell whether the gradients found this way are autograd's; with dropout, `torch.func` can only be like them."""
    torch.manual_seed(0)
    forms = way(task, made_up(inputs, targets, _FEW), Batch(_FEW))
    if way is not one_by_one and not isinstance(way, ByRules) and _is_random(task, inputs, targets):
        return True
    losses = _losses(task, made_up(inputs, targets, _FEW))
    largest = max(_largest(each) for at in range(_FEW) for each in _by_autograd(task, losses, at).values())
    close = _TOLERANCE[task.bfloat16]
    return all(
        _is_close(_by_autograd(task, losses, at), forms, at, lambda exact: close * max(exact, largest / 1000))
        for at in range(_FEW)
    )


def _is_close(exact: dict[str, Tensor], forms: dict[str, Form], at: int, allowed: Callable[[float], float]) -> bool:
    """Tell whether the gradients of one example are off by at most what is allowed for numbers of their size."""
    while exact:  # each is given back before the next is laid beside it
        name, one = exact.popitem()
        most = allowed(_largest(one))
        off = one - forms[name].one(at) if name in forms else one
        if not _largest(off) <= most:
            return False
    return True


def _largest(values: Tensor) -> float:
    """Return the largest absolute value without a copy of all of them; NaN if there is one."""
    if not values.numel():
        return 0.0
    low, high = (float(each) for each in torch.aminmax(values))
    return math.nan if math.isnan(low) else max(-low, high)


def _is_random(task: Task, inputs: Fields, targets: Field) -> bool:
    examples = made_up(inputs, targets, _FEW)
    first = task.losses(examples)
    return not torch.equal(first, task.losses(examples))


def _score(task: Task, inputs: Fields, targets: Field) -> tuple[Step, ...]:
    """Return the score of the model; see `score`."""
    roles: list[str] = []
    for _ in range(_MOST_GUESSES):
        small = _heard(task, inputs, targets, _SIZES[0], roles)
        large = _heard(task, inputs, targets, _SIZES[1], small.roles)
        roles, steps = compared(small, large, _SIZES)
        if steps is not None:
            return _laid_out(task, inputs, targets, tuple(steps))
    raise UnforeseenError


def _heard(task: Task, inputs: Fields, targets: Field, size: int, roles: list[str]) -> Guessing:
    guessing = Guessing(size, roles)
    with Listener(task.trained, guessing, Batch(size)):
        _losses(task, made_up(inputs, targets, size))
    return guessing


def _laid_out(task: Task, inputs: Fields, targets: Field, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return the score with the order of merged dimensions, as the gradient of one example's loss shows it."""
    listener = Listener(task.trained, Following(steps), Batch(_FEW))
    listener.seen = []
    with listener:
        losses = _losses(task, made_up(inputs, targets, _FEW))
    alone = torch.zeros(_FEW)
    alone[1] = 1
    run_backward(losses, listener.anchor, alone)
    order = {id(step): step if _is_together(step, gradient) else scattered(step) for step, gradient in listener.seen}
    return tuple(order.get(id(step), step) for step in steps)


def _is_together(step: Step, gradient: Tensor) -> bool:
    """Tell whether the gradient of example 1's loss lies in the entries that follow each other."""
    if step.place is None or step.place.inner == 1:
        return True
    touched = gradient.movedim(step.place.dim, 0).flatten(1).ne(0).any(1)
    touched[step.place.inner : 2 * step.place.inner] = False
    return not touched.any()


def _try_independence(task: Task, way: Pass, inputs: Fields, targets: Field, batch: Batch, number: int) -> None:
    """Refuse a model in which another unit in the batch, ordinary or of NaN, changes a unit's loss or gradient.

    Each trial has examples of its own; in every second one the units at even seats stay, else those at odd ones.
    """
    kept = torch.arange(batch.units) % 2 == number % 2
    rows = kept.repeat_interleave(batch.rows)
    first = 2 * number * batch.examples
    scale = _SCALES[number % len(_SCALES)]
    base = _scaled(made_up(inputs, targets, batch.examples, first), scale)
    strangers = _mixed(_scaled(made_up(inputs, targets, batch.examples, first + batch.examples), scale), base, rows)
    stayed = kept.nonzero().flatten().tolist()
    tried = [strangers]
    if any(field.is_float for field in inputs):
        tried.append(_with_broken(strangers, ~rows))
    losses, bits = _bare_losses(task, base)[rows], _fingerprints(task, way, base, batch, stayed)
    for changed in tried:
        same = torch.equal(losses, _bare_losses(task, changed)[rows])
        if not same or bits != _fingerprints(task, way, changed, batch, stayed):
            raise _not_independent(task)


def _is_movable(task: Task, way: Pass, inputs: Fields, targets: Field, batch: Batch) -> bool:
    """Tell whether units keep their bits in another seat; where dropout draws by seat, they keep their distribution."""
    if batch.units == 1:
        return True
    base = made_up(inputs, targets, batch.examples)
    with _without_dropout(task.model):
        if _is_random(task, inputs, targets):
            return False
        seats = list(range(batch.units))
        bits = _fingerprints(task, way, base, batch, seats)
        return bits == _fingerprints(task, way, _rolled(base, batch.rows), batch, seats[1:] + seats[:1])


@contextmanager
def _without_dropout(model: nn.Module) -> Iterator[None]:
    """Switch dropout off for a while; no other module is touched."""
    layers = [each for each in model.modules() if isinstance(each, nn.modules.dropout._DropoutNd) and each.training]
    for layer in layers:
        layer.training = False
    try:
        yield
    finally:
        for layer in layers:
            layer.training = True


def _mixed(others: Examples, base: Examples, rows: Tensor) -> Examples:
    """Return the base's examples in `rows`, and others elsewhere."""
    pairs = zip((*base.inputs, base.targets), (*others.inputs, others.targets), strict=True)
    chosen = [torch.where(rows.view(-1, *[1] * (one.dim() - 1)), one, two) for one, two in pairs]
    return Examples(tuple(chosen[:-1]), chosen[-1], base.weights)


def _scaled(examples: Examples, scale: float) -> Examples:
    floats = tuple(each * scale if each.is_floating_point() else each for each in examples.inputs)
    return replace(examples, inputs=floats)


def _with_broken(examples: Examples, rows: Tensor) -> Examples:
    """Return the batch with NaN in `rows`, where there are floats."""
    broken = tuple(each.clone() for each in examples.inputs)
    for each in broken:
        if each.is_floating_point():
            each[rows] = torch.nan
    return replace(examples, inputs=broken)


def _rolled(examples: Examples, rows: int) -> Examples:
    return Examples(
        tuple(each.roll(rows, 0) for each in examples.inputs), examples.targets.roll(rows, 0), examples.weights
    )


def _fingerprints(task: Task, way: Pass, examples: Examples, batch: Batch, units: list[int]) -> dict[str, list[int]]:
    """Return a number for the bits of each unit's gradients, so that two passes need not be held at once."""
    torch.manual_seed(0)
    forms = way(task, examples, batch)
    return {name: [_fingerprint(form.own(unit)) for unit in units] for name, form in forms.items()}


def _fingerprint(values: tuple[Tensor, ...]) -> int:
    """Return a weighted sum of the bits, modulo 2^64: all weights are odd, so one changed number always shows."""
    total = 0
    for each in values:
        size = {4: torch.int32, 8: torch.int64}[each.element_size()]
        bits = each.contiguous().flatten().view(size).long()
        total = 31 * total + int((bits * (2 * torch.arange(len(bits)) + 1) * _SPREADING).sum())
    return total
