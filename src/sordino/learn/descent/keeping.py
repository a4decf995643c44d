"""What a training keeps of torch's objects in a checkpoint, and takes from it when it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from torch import nn

from sordino.errors import ArgumentError
from sordino.learn.run.checkpoint import Checkpoint, check_place, weights_digest
from sordino.learn.run.rows import Array

from .saved import flattened, restored


class Stateful(Protocol):
    """What torch can take a state from and give it back to."""

    def state_dict(self) -> Any:
        """Return the state."""
        ...

    def load_state_dict(self, state_dict: Any) -> Any:
        """Take a state over."""
        ...


class Keeping:
    """A model and what belongs to it, in a file of one training or in none."""

    def __init__(self, path: str | Path | None, model: nn.Module, others: Sequence[Stateful]) -> None:
        self._path = None if path is None else Path(path)
        if self._path is not None:
            check_place(self._path)
        self._kept: tuple[Stateful, ...] = (model, *others)

    def keep(self, training: str, step: int) -> str:
        """Write a checkpoint, if there is a file, and return the digest of the weights."""
        arrays: dict[str, Array] = {}
        texts = {"0": flattened(self._kept[0].state_dict(), "0", arrays)}
        digest = weights_digest(arrays)
        if self._path is not None:
            for place, each in enumerate(self._kept[1:], 1):
                texts[f"{place}"] = flattened(each.state_dict(), f"{place}", arrays)
                texts[f"{place} is"] = type(each).__qualname__
            Checkpoint(training, step, arrays, texts).save(self._path)
        return digest

    def resume(self, training: str) -> int:
        """Take over what a checkpoint of this training holds, and return how many steps are behind it."""
        found = None if self._path is None else Checkpoint.load(self._path, training)
        if found is None:
            return 0
        kinds = {f"{place} is": type(each).__qualname__ for place, each in enumerate(self._kept)}
        if any(found.texts.get(place, kind) != kind for place, kind in kinds.items()):
            raise _other()
        for place, each in enumerate(self._kept):
            if f"{place}" in found.texts:
                _give_back(each, restored(found.texts[f"{place}"], found.arrays))
        return found.step


def _give_back(each: Stateful, state: Any) -> None:
    try:
        each.load_state_dict(state)
    except (LookupError, ValueError, RuntimeError, TypeError) as error:  # torch's words, about shapes and names
        raise _other() from error


def _other() -> ArgumentError:
    return ArgumentError(
        "this checkpoint was kept with another optimizer, schedule or average; take those it was begun with, or name "
        "another file",
        "SRD-T001",
    )
