"""Models under differential privacy: training, teachers, private predictions, charged to the ledger of every query.

    run/         what every training shares: examples, samples, the plan and its price, tranches, checkpoints
    gradients/   sums of clipped gradients, by unit, in torch
    descent/     exact noise and the loop: `train`, `Training`
    teaching/    a noisy vote of models on disjoint parts labels public things
    prediction/  a model that is never released answers so many times

Importing this room loads no torch; what needs it loads it when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .descent.train import train
    from .descent.training import Training
    from .prediction.predictions import predictions
    from .run.examples import examples
    from .teaching.ensemble import teachers

__all__ = ["Training", "examples", "predictions", "teachers", "train"]

_HOME = {
    "Training": "descent.training",
    "examples": "run.examples",
    "predictions": "prediction.predictions",
    "teachers": "teaching.ensemble",
    "train": "descent.train",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
