"""All that is public about a training of a torch model, as a recipe."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from torch import nn

from sordino.accounting.digest import digest_of
from sordino.learn.run.course import Course
from sordino.learn.run.examples import Examples
from sordino.learn.run.plan import Recipe

from .task import Loss
from .unit_sums import Clip, Passes


def recipe_of(
    model: nn.Module,
    loss: Loss,
    examples: Examples,
    course: Course,
    multiplier: Fraction,
    clip: Clip,
    passes: Passes,
    allowance: float,
) -> Recipe:
    """Return the recipe of a training; `allowance` is what rounding floats can add to the clip."""
    return Recipe(
        examples.name,
        examples.unit,
        course.sampler,
        course.steps,
        course.payment,
        sum(each.numel() for each in model.parameters() if each.requires_grad),
        clip.radius,
        Fraction(allowance) / clip.counted,
        multiplier,
        digest_of(description(model)),
        words_of(loss, clip, passes),
        course.correlation,
        clip.adaptive,
    )


def description(model: nn.Module) -> list[Any]:
    """Return what a model is: its parts, and the names, shapes and types of its parameters; no weight."""
    sizes = [[name, list(each.shape), str(each.dtype), each.requires_grad] for name, each in model.named_parameters()]
    return [repr(model), sizes]


def words_of(loss: Loss, clip: Clip, passes: Passes) -> dict[str, Any]:
    """Return what else decides which gradients a step adds up, in words."""
    shown = {} if passes.augment is None else {"augment": _name(passes.augment), "views": passes.views}
    short = {"bfloat16": True} if passes.bfloat16 else {}
    return {"clipping": clip.kind, "loss": _name(loss), **shown, **short}


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
