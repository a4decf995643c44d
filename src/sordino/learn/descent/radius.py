"""The clip of a training that adapts, from step to step: public, and kept with the weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor

from sordino.learn.run.adaptive import REACH
from sordino.learn.run.plan import TrainingPlan
from sordino.mechanisms.adaptive_clipping import AdaptiveClipping


class Radius:
    """Where the clip is by now. `follow` moves it by what a step releases about norms."""

    def __init__(self, begun: AdaptiveClipping) -> None:
        self._begun = begun
        self._state = begun

    @property
    def clip(self) -> float:
        """The clip of the next step."""
        return self._state.radius

    def follow(self, norms: Tensor, plan: TrainingPlan) -> None:
        """Move the clip by the noisy share of units whose norms, in units of the clip, are within it."""
        moved = self._state.release((norms * self.clip).numpy(), plan.grant_of_count(self._state))
        self._state = self._at(moved.radius)

    def _at(self, clip: float) -> AdaptiveClipping:
        most, least = self._begun.radius * REACH, self._begun.radius / REACH
        return replace(self._begun, radius=max(least, min(most, clip)))

    def state_dict(self) -> dict[str, Any]:
        """Return the clip, for a checkpoint."""
        return {"clip": self.clip}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the clip of a checkpoint over."""
        self._state = self._at(float(state_dict["clip"]))
