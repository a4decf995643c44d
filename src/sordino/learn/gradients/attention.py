"""Attention as torch writes it: one function that takes all projections, opened so that each of them is heard.

`nn.MultiheadAttention`, and with it the layers of `nn.Transformer`, calls its projections as functions, so hooks of
modules never see them. Opened, the function runs as it is, and its calls of `linear` are met by the rule of `linear`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import torch.nn.functional as F  # noqa: N812


def _not_overridden(*tensors: Any) -> bool:  # noqa: ARG001
    return False


def opened(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of torch that does not hand itself over to a listener as a whole, but each of its calls."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function} is not written in Python")
    names = {name: _not_overridden for name in function.__globals__ if name.startswith("has_torch_function")}
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


_ATTENTION = opened(F.multi_head_attention_forward)


def _attend(hear: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG001
    return _ATTENTION(*args, **kwargs)


REWRITTEN: dict[Any, Callable[..., Any]] = {F.multi_head_attention_forward: _attend}
