"""The words of a recipe, defined once: the API, ``sordino train`` and what reads a recipe are all made from them.

Those of a training mean what they mean in Python: see ``sordino.learn.Training``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sordino.learn.run.paying import TRANCHES, WHOLE
from sordino.learn.run.sampling import SAMPLERS

LOSSES = ("cross-entropy", "squared")
OPTIMIZERS = ("sgd", "adam")
CLIPPINGS = ("flat", "layer", "automatic", "adaptive")


@dataclass(frozen=True)
class Word:
    """What a word of a recipe is: its form, one line of help, and what it may be."""

    form: Literal["name", "model", "whole", "number", "choice", "flag", "clipping", "correlation"]
    help: str
    choices: tuple[str, ...] = ()
    needed: bool = False

    @property
    def typed(self) -> bool:
        """Whether it is a word of the command, too; what has parts of its own stands in the file."""
        return self.form in ("name", "whole", "number", "choice")


WORDS: dict[str, Word] = {
    "dataset": Word("name", "The data set.", needed=True),
    "project": Word("name", "Charged to this project as well."),
    "model": Word("model", "A model that is written down.", needed=True),
    "loss": Word("choice", "What is made small; that of the labels if left out.", LOSSES),
    "batch": Word("whole", "How many units a step has on average.", needed=True),
    "epochs": Word("number", "How often each unit is seen on average; or steps."),
    "steps": Word("whole", "How many steps."),
    "clip": Word("number", "The largest norm of one unit's gradient; where it adapts, where it begins.", needed=True),
    "epsilon": Word("number", "What the training may spend; or rho; or noise."),
    "delta": Word("number", "The δ that goes with it; the budget's if left out."),
    "rho": Word("number", "What it may spend of an account of zero-concentrated privacy."),
    "noise": Word("number", "The noise itself, in units of the clip."),
    "sampling": Word("choice", "How units are drawn.", tuple(SAMPLERS)),
    "clipping": Word(
        "clipping", "How gradients are clipped; or {quantile, rate, noise} of a clip that adapts.", CLIPPINGS
    ),
    "correlation": Word("correlation", "Noise that cancels over steps: banded, {bands} or {coefficients}."),
    "pay": Word("choice", "Charged in tranches as it goes, or whole before it begins.", (TRANCHES, WHOLE)),
    "tranche": Word("whole", "How many steps are charged at once; an epoch if left out, all if noise is correlated."),
    "per_owner": Word("whole", "How many examples of one owner are computed at once, where a unit is an owner."),
    "bfloat16": Word("flag", "Whether the model runs in bfloat16 where it can."),
    "optimizer": Word("choice", "What takes the steps.", OPTIMIZERS),
    "rate": Word("number", "Its learning rate."),
    "momentum": Word("number", "Its momentum, of sgd."),
}
