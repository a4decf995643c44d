"""The rounds of a federated training: each is charged before anybody is asked, and settled after; over any transport.

**Guarantee**: rounds that were run are at most rounds that were charged, at every moment and after any crash: whoever
goes on from a checkpoint is charged again for the round that was in flight. A round that comes to nothing (too few
survive) stays charged, leaves the weights as they are, and the next one begins.
All that leaves is weights, which noisy sums went into, which rounds came to nothing, and the price.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from sordino.accounting.digest import digest_of
from sordino.data.account import DataAccount
from sordino.errors import RunError
from sordino.learn.run.checkpoint import Checkpoint, check_place, weights_digest
from sordino.learn.run.rows import Array

from .collector import FAILED
from .keys import fresh
from .plan import Recipe, RoundPlan, Summed
from .populations import Population


@dataclass(frozen=True, eq=False)
class Turn:
    """One round that is charged for, as whoever asks members knows it."""

    plan: RoundPlan
    session: bytes
    """What it is called among members: no two have the same."""
    weights: Array


@dataclass(frozen=True, eq=False)
class Opened:
    """What a round opens: all of it is noisy."""

    total: Array
    """The sum of updates, over all that survive."""
    clip: Fraction | None = None
    """The clip of the next round, where it adapts."""


Total = Callable[[Turn], Opened]
"""Asks the members, in whatever way, and opens the sum."""

Apply = Callable[[Array, Array], Array]
"""From the weights and the noisy mean of what was proposed to the next weights."""


@dataclass(frozen=True, eq=False)
class Run:
    """What came of a training."""

    weights: Array
    settled: tuple[Summed, ...]
    """The rounds of this process that came to something, with receipts where there are any."""
    failed: tuple[int, ...]
    """Which rounds came to nothing."""


class Rounds:
    """A training's way through the gate, round by round; `checkpoint` is a file that it is kept in after each."""

    def __init__(self, account: DataAccount[Population], recipe: Recipe, checkpoint: str | Path | None = None) -> None:
        self._account = account
        self._recipe = recipe
        self._path = None if checkpoint is None else Path(checkpoint)
        if self._path is not None:
            check_place(self._path)
        self._clip: Fraction | None = None  # where it is by now, if it adapts
        self._settled: list[Summed] = []
        self._failed: list[int] = []

    def run(self, start: Array, total: Total, apply: Apply) -> Run:
        """Run all rounds that are not behind it."""
        done, weights = self._resume(start)
        for number in range(done, self._recipe.rounds):
            weights = self._round(self._recipe.round(number, self._clip), weights, total, apply)
        return Run(weights, tuple(self._settled), tuple(self._failed))

    def _round(self, plan: RoundPlan, weights: Array, total: Total, apply: Apply) -> Array:
        try:
            with self._account.begin(plan) as work:
                work.grant.use_for(plan)
                opened = total(Turn(plan, session_of(plan, work.id), weights))
                mean = opened.total / float(self._recipe.batch)
                after = np.asarray(apply(weights, mean), dtype=np.float64)
                self._clip = opened.clip
                digest = self._keep(plan.number + 1, after)
                self._settled.append(work.finish(Summed(plan, digest)))
                return after
        except RunError as error:
            if error.code != FAILED:
                raise
        self._failed.append(plan.number)
        self._keep(plan.number + 1, weights)
        return weights

    def _keep(self, done: int, weights: Array) -> str:
        arrays = {"weights": weights}
        if self._path is not None:
            texts = {"failed": self._failed, "clip": None if self._clip is None else str(self._clip)}
            Checkpoint(digest_of(self._recipe), done, arrays, texts).save(self._path)
        return weights_digest(arrays)

    def _resume(self, start: Array) -> tuple[int, Array]:
        found = None if self._path is None else Checkpoint.load(self._path, digest_of(self._recipe))
        if found is None:
            return 0, np.array(start, dtype=np.float64)
        self._failed = [int(number) for number in found.texts["failed"]]
        self._clip = None if found.texts["clip"] is None else Fraction(found.texts["clip"])
        return found.step, found.arrays["weights"]


def session_of(plan: RoundPlan, identifier: str) -> bytes:
    """Return what a round is called among its members: by chance, so that no two rounds, of any training, share it."""
    return hashlib.sha256(f"{plan.digest()} {identifier} ".encode() + fresh()).digest()
