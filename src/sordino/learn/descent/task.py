"""From what a user hands over to what is differentiated: fields of examples, and a loss with one number for each."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from sordino.errors import ArgumentError
from sordino.learn.gradients.made_up import Field
from sordino.learn.gradients.trying import tried
from sordino.learn.gradients.whole_inputs import with_what_it_takes
from sordino.learn.run.examples import Examples
from sordino.learn.run.rows import Array, Like

from .chance import own_chance

Loss = Callable[..., Tensor]

_FEW = 2


def per_example(loss: Loss) -> Loss:
    """Return a loss of torch without its mean over the batch; what has no such choice is taken as it is."""
    if getattr(loss, "reduction", "none") == "none":
        return loss
    alone = copy.copy(loss)
    alone.reduction = "none"  # type: ignore[attr-defined]
    return alone


class InClips:
    """A loss in units of the clip: then every gradient is, and all are clipped to 1, whatever the clip is by now.

    So a clip that adapts, which is public, changes neither the bound of a sum nor its grid nor its noise.
    """

    def __init__(self, loss: Loss) -> None:
        self.clip = 1.0
        self._loss = loss

    def __call__(self, *given: Tensor) -> Tensor:
        """Return the losses, divided by the clip."""
        return self._loss(*given) / self.clip


def fields_of(examples: Examples, model: nn.Module) -> tuple[tuple[Field, ...], Field]:
    """Return what inputs and targets hold: whole inputs are those that the model takes, whole targets are classes, as
    many as declared or as the model knows.
    """
    *inputs, target = examples.like
    if not inputs:
        raise ArgumentError(
            "a training needs features and something to be predicted: examples(name, x, y, …)", "SRD-A003"
        )
    given = with_what_it_takes(model, tuple(Field(each.shape, _input_kind(each)) for each in inputs))
    if _is_real(target):
        return given, Field(target.shape, "float32")
    return given, Field(target.shape, "int64", below=examples.classes or _outputs(model, given))


def tensors_of(parts: tuple[Array, ...], fields: tuple[Field, ...]) -> list[Tensor]:
    """Return arrays as tensors of the kinds that the fields say."""
    return [torch.from_numpy(part).to(getattr(torch, field.kind)) for part, field in zip(parts, fields, strict=True)]


def _outputs(model: nn.Module, inputs: tuple[Field, ...]) -> int:
    """Return into how many classes the model divides made-up inputs."""
    with torch.no_grad(), own_chance():
        found = tried(lambda: model(*(field.made_up(_FEW) for field in inputs)), inputs)
    if not isinstance(found, Tensor) or found.dim() < 2:
        raise ArgumentError(
            "how many classes there are cannot be told from this model's outputs; declare it: examples(…, classes=10)",
            "SRD-A003",
        )
    return int(found.shape[1])


def _is_real(like: Like) -> bool:
    return like.dtype[1] == "f"


def _input_kind(like: Like) -> str:
    if _is_real(like):
        return "float32"
    return {"b": "bool", "u1": "uint8"}.get(like.dtype[1:] if like.dtype[1] == "u" else like.dtype[1], "int64")
