"""What torch keeps of a model or an optimizer, as arrays by name and one text; and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from sordino.learn.run.rows import Array

_TENSOR = "tensor"


def flattened(state: Any, prefix: str, arrays: dict[str, Array]) -> Any:
    """Return `state` as JSON can hold it; its tensors are put into `arrays`, by where they were found."""
    if isinstance(state, torch.Tensor):
        arrays[prefix] = state.detach().cpu().numpy().copy()
        return {_TENSOR: prefix}
    if isinstance(state, Mapping):  # pairs rather than an object: the keys may be numbers
        return {"pairs": [[key, flattened(each, f"{prefix}/{key}", arrays)] for key, each in state.items()]}
    if isinstance(state, list | tuple):
        return {"list": [flattened(each, f"{prefix}/{place}", arrays) for place, each in enumerate(state)]}
    return {"value": state}


def restored(plain: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    """Return what was flattened."""
    if _TENSOR in plain:
        return torch.from_numpy(np.array(arrays[plain[_TENSOR]]))
    if "pairs" in plain:
        return {key: restored(each, arrays) for key, each in plain["pairs"]}
    if "list" in plain:
        return [restored(each, arrays) for each in plain["list"]]
    return plain["value"]
