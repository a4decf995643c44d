"""Averages of the weights along a training: post-processing of what was released, so they cost nothing.

An average has a state of its own, which belongs in the checkpoint. With one's own loop, hand it over as `kept`.
**Source**: Polyak, Juditsky 1992 (uniform); De, Berrada, Hayes, Smith, Balle 2022, section 3.2 (exponential, private).
"""

from __future__ import annotations

from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from sordino.arguments import Number, rational
from sordino.errors import ArgumentError

UNIFORM = "uniform"


def averaging(model: nn.Module, kind: Number | str) -> AveragedModel:
    """Return the average of a model's weights: "uniform" over all steps, or exponential with the part kept each step.

    The first weights that it meets count in full, so an average over few steps does not lean to where it began.
    """
    if kind == UNIFORM:
        return AveragedModel(model)
    try:
        kept = float(rational("average", kind, above=0, most="0.999999"))
    except ArgumentError as error:
        raise ArgumentError(
            'average must be "uniform", or the part that an exponential average keeps each step: a number between 0 '
            "and 0.999999 such as 0.99",
            "SRD-A001",
        ) from error
    return AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(kept))  # type: ignore[no-untyped-call]
