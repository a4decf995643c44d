"""A rule: how the gradients of one kind of call follow from its input and from the gradient of its output.

A rule says how the arguments are called, which of them is data, which are parameters, and makes the forms. Input and
output gradient come to it as (units, rows, …), with the batch in front, wherever it was in the call itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .forms import Form

Forms = Iterator[tuple[str, Form]]
"""The name of a parameter's argument, and the gradients of all units with respect to it."""


@dataclass(frozen=True)
class Call:
    """The arguments of one call by name, and the names of those whose gradients are wanted."""

    arguments: dict[str, Any]
    wanted: frozenset[str]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]


@dataclass(frozen=True)
class Rule:
    """What is known of one function; see the module.

    `fits` tells whether the rule covers a call with these arguments, `refused` why a call of this kind cannot be.
    """

    signature: inspect.Signature
    forms: Callable[[Call, Tensor, Tensor], Forms]
    data: str
    parameters: tuple[str, ...]
    fits: Callable[[dict[str, Any]], bool]
    refused: Callable[[dict[str, Any]], str | None]

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments by name, with defaults."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)


def rule(
    like: Callable[..., Any],
    forms: Callable[[Call, Tensor, Tensor], Forms],
    *,
    data: str = "input",
    parameters: tuple[str, ...] = ("weight", "bias"),
    fits: Callable[[dict[str, Any]], bool] = lambda _: True,
    refused: Callable[[dict[str, Any]], str | None] = lambda _: None,
) -> Rule:
    """Return the rule of a function whose arguments are called as those of `like`."""
    return Rule(inspect.signature(like), forms, data, parameters, fits, refused)


def working(values: Tensor) -> Tensor:
    """Return `values` in a precision that norms may be taken in: what is shorter than float32 becomes float32."""
    return values.float() if torch.finfo(values.dtype).bits < 32 else values


def summed(values: Tensor, keep: Iterable[int]) -> Tensor:
    """Return `values` summed over all dimensions but the first, the units, and those to keep."""
    kept = {0, *keep}
    gone = tuple(dim for dim in range(values.dim()) if dim not in kept)
    return values.sum(gone) if gone else values
