"""The words of trainings, defined once: `train`, `Training`, `follow` and `search` take those that are theirs.

Each field is a word: its name, its type, its default and one line of help. `takes` makes them keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler

from sordino import keywords
from sordino.arguments import Number
from sordino.data.account import DataAccount
from sordino.keywords import word
from sordino.learn.run.adaptive import Adaptive
from sordino.learn.run.correlation import Banded

from .keeping import Stateful
from .ranks import Ranks
from .unit_sums import Passes

MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]
MakeSchedule = Callable[[torch.optim.Optimizer], LRScheduler]
Tell = Callable[[int, int], None]
"""Told how many of how many steps are behind the training: all that may be shown of it."""

P = ParamSpec("P")
W = TypeVar("W")


def takes(words: Callable[P, W]) -> keywords.Taking[P, W]:
    """Let a function whose last argument is the words take each of them as a keyword."""
    return keywords.takes(words, "a training has no word")


@dataclass(frozen=True, kw_only=True)
class Samples:
    """How units are drawn and clipped."""

    sampling: str = field(default="poisson", metadata=word('"poisson", "fixed-size", "one-pass" or "separated".'))
    clipping: str | Adaptive = field(
        default="flat", metadata=word('"flat", "layer", "automatic" or "adaptive"; or what `adaptive(…)` says.')
    )


@dataclass(frozen=True, kw_only=True)
class Batches(Samples, Passes):
    """What all processes of a training must say alike."""

    batch: int = field(metadata=word("how many units a step has on average."))
    clip: Number = field(metadata=word("the largest norm of one unit's gradient; where it adapts, where it begins."))


@dataclass(frozen=True, kw_only=True)
class Spending:
    """How long is trained, and what that may cost."""

    budget: DataAccount[Any] = field(metadata=word("the account that `examples` was opened for."))
    epochs: Number | None = field(default=None, metadata=word("how often each unit is seen on average; or `steps`."))
    steps: int | None = field(default=None, metadata=word("how many steps."))
    epsilon: Number | None = field(default=None, metadata=word("what it may cost; or `noise`."))
    delta: Number | None = field(
        default=None, metadata=word("the δ that goes with `epsilon`; the account's if left out.")
    )
    noise: Number | None = field(
        default=None,
        metadata=word(
            "the standard deviation of the noise in units of how far one unit can move what it is added to: the clip, "
            "or where noise is correlated the clip times the norm of the strategy."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class Steps(Batches, Spending):
    """What `train` and `Training` take both."""

    rho: Number | None = field(
        default=None, metadata=word("what it may cost of an account of zero-concentrated privacy.")
    )
    correlation: Banded | None = field(
        default=None,
        metadata=word("noise that cancels over steps (DP-FTRL), as `banded(…)` says; independent noise if left out."),
    )
    pay: str = field(
        default="tranches",
        metadata=word(
            '"tranches", charged as it goes, or "whole", declared and charged before it begins: see `Training.ways`.'
        ),
    )
    tranche: int | None = field(
        default=None,
        metadata=word("how many steps are charged at once; an epoch if left out, all if noise is correlated."),
    )
    checkpoint: str | Path | None = field(
        default=None,
        metadata=word("a file that the training is kept in after every tranche, and goes on from if it is there."),
    )
    together: Ranks | None = field(
        default=None, metadata=word("the processes that train together, on the one that leads: see `follow`.")
    )


@dataclass(frozen=True, kw_only=True)
class TrainingWords(Steps):
    """The words of `Training`."""

    kept: Sequence[Stateful] = field(
        default=(),
        metadata=word(
            "what else belongs in a checkpoint: the optimizer, a schedule, an average; whatever has a state_dict."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class TrainWords(Steps):
    """The words of `train`."""

    optimizer: MakeOptimizer | None = field(
        default=None,
        metadata=word(
            "from the parameters to an optimizer, as ``lambda parameters: torch.optim.Adam(parameters, lr=1e-3)``; SGD "
            "with momentum if left out."
        ),
    )
    schedule: MakeSchedule | None = field(
        default=None, metadata=word("from the optimizer to a schedule of learning rates, stepped after every step.")
    )
    average: Number | str | None = field(
        default=None,
        metadata=word(
            'average the weights of the run\'s model: "uniform" over all steps, or exponentially by a number such as '
            "0.99, the part that each step keeps; what was trained last is its `last`."
        ),
    )
    tell: Tell | None = field(default=None, metadata=word("is told of the progress."))


@dataclass(frozen=True, kw_only=True)
class FollowWords(Batches):
    """The words of `follow`."""

    together: Ranks = field(metadata=word("the processes that train together."))
