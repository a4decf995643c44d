"""Training with several processes: each sums the gradients of its units, and noise is added once.

**Guarantee**: what leaves is what one process would release: the bound, the event and the noise are those of the
recipe, whatever the number of ranks.
**Proof.** Every unit falls to one rank, which the leader draws for each unit by itself, so whoever comes or goes moves
nobody else to another rank, and moves the sum of one rank alone, by no more than the bound. That sum is rounded to
whole steps of the grid on its rank, as the proof of ``mechanisms.grid`` has it for one process; whole numbers are added
exactly, in any order; and stopping them before (at ± 2⁵⁰ steps in all) brings no two sums further apart. The draw is
the same whatever the data holds, so divergences are at most those given it. Poisson and one-pass samples are drawn for
each unit by itself, so ranks may draw their own; fixed-size batches are not, and are refused. The rounding of floats is
less than in one process, as each rank adds up fewer units.
**Assumes**: all ranks are handed the same examples, in the same order: each then takes those that fall to it. Arrays
and tables are compared before the first sum; of data sets of torch's kind only the number of items is.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import torch
from torch import Tensor, nn

from sordino.accounting.digest import digest_of
from sordino.accounting.work import muted
from sordino.errors import ArgumentError
from sordino.learn.run.correlation import Independent
from sordino.learn.run.examples import Examples, People
from sordino.learn.run.plan import Recipe
from sordino.learn.run.sampling import OnePass, Poisson, Sampler, sampler
from sordino.noise import uniform

from .described import description, words_of
from .noisy_sum import whole_steps
from .ranks import GO, STOP, Ranks
from .task import Loss
from .unit_sums import Clip, Total, UnitSums
from .words import FollowWords, takes

T = TypeVar("T")

MOST = 2**50
"""Sums of all ranks stay within ± so many steps, which float64 holds exactly."""

_MUTE = "this rank could not go on; what was charged stays charged. The leader says more, or the data's owner"
_DIFFERS = (
    "the ranks do not train the same: model, loss, sampling, batch, clip or what else decides about gradients differs; "
    "start all of them with the same words"
)


class ShardSums:
    """The sum of this rank's units, in whole steps of the grid."""

    def __init__(self, sums: UnitSums, ranks: Ranks, examples: Examples, exponent: int) -> None:
        self._sums = sums
        self._ranks = ranks
        self._examples = examples
        self._exponent = exponent
        self._met = self._complete = False

    def sum(self, within: int, size: int) -> Tensor | None:
        """Return the sum over all ranks to the leader, something meaningless to others; None if a rank failed."""
        if not self._met:
            self._meet()
            self._met = True
        limit = MOST // self._ranks.count
        own = _or_none(lambda: whole_steps(self._sums.sum(within).sum, self._exponent, limit))
        return self._ranks.added(own if self._complete else None, size)

    def _meet(self) -> None:
        people: People | None = _or_none(self._examples.people)
        count, mark = (None, "") if people is None else (len(people), people.mark())
        ranks = self._ranks.drawn(count, mark, lambda: uniform(self._ranks.count, count or 0))
        if people is not None and ranks is not None:
            self._sums.meet(people.only(ranks == self._ranks.rank))
            self._complete = True


def _or_none(run: Callable[[], T]) -> T | None:
    """Return what `run` returns, or None: whatever went wrong may hold data, but that it did must stop all ranks."""
    try:
        return run()
    except Exception:
        return None


class Leader:
    """What a training has in place of its own sums, on the rank that has the account. Used in a ``with``."""

    def __init__(self, sums: UnitSums, ranks: Ranks, examples: Examples, model: nn.Module, recipe: Recipe) -> None:
        _check(ranks.leads, recipe.sampler, plain=recipe.adaptive is None, alone=recipe.correlation == Independent())
        self._ranks = ranks
        self._model = model
        self._exponent = recipe.mechanism.grid.exponent
        self._said = digest_of((recipe.dataset, recipe.unit, recipe.sampler, recipe.clip, recipe.model, recipe.words))
        self._shard = ShardSums(sums, ranks, examples, self._exponent)

    def __enter__(self) -> Self:
        if not self._ranks.agree(self._said):
            raise ArgumentError(_DIFFERS, "SRD-T108")
        self._ranks.number(self._exponent)
        return self

    def __exit__(self, _kind: Any, _error: BaseException | None, _trace: TracebackType | None) -> None:
        try:
            self._ranks.number(STOP)
            self._ranks.weights(self._model)
        except RuntimeError:  # nobody is there any more to be told
            pass

    def measure_in(self, _clip: float) -> None:
        """Do nothing: a clip that adapts is refused."""

    def sum(self, within: int) -> Total:
        """Return the sum of a step over all ranks; whoever calls has charged it."""
        self._ranks.number(GO)
        self._ranks.number(within)
        self._ranks.weights(self._model)
        found = self._shard.sum(within, _trained(self._model))
        if found is None:
            raise RuntimeError("a rank failed")
        return Total(found.double() * 2.0**self._exponent, torch.zeros(0))


@takes(FollowWords)
def follow(model: nn.Module, loss: Loss, examples: Examples, words: FollowWords) -> nn.Module:
    """Take part in a training that rank 0 leads by `train(…, together=…)`; return the model with its last weights.

    The words are those of `train`, and must be the same; what is spent, charged and kept is the leader's alone.
    """
    if not isinstance(examples, Examples):
        raise ArgumentError("declare what is trained on: learn.examples(name, x, y, size=…)", "SRD-A001")
    together = words.together
    drawn, clipped = sampler(words.sampling, words.batch, examples.size), Clip.of(words.clip, words.clipping)
    _check(not together.leads, drawn, plain=clipped.adaptive is None, alone=True)
    sums = UnitSums(model, loss, examples, drawn, clipped, words)
    model.train()
    said = (examples.name, examples.unit, drawn, clipped.radius, digest_of(description(model)))
    if not muted(lambda: together.agree(digest_of((*said, words_of(loss, clipped, words)))), _MUTE):
        raise ArgumentError(_DIFFERS, "SRD-T108")
    muted(lambda: _follow(model, together, ShardSums(sums, together, examples, together.number())), _MUTE)
    return model.eval()


def _follow(model: nn.Module, ranks: Ranks, shard: ShardSums) -> None:
    sound = True
    while ranks.number() == GO:
        within = ranks.number()
        ranks.weights(model)
        sound = shard.sum(within, _trained(model)) is not None and sound
    ranks.weights(model)
    if not sound:
        raise RuntimeError("a rank failed")


def _trained(model: nn.Module) -> int:
    """Return how many numbers are trained."""
    return sum(each.numel() for each in model.parameters() if each.requires_grad)


def _check(in_place: bool, drawn: Sampler, *, plain: bool, alone: bool) -> None:
    if not in_place:
        raise ArgumentError(
            "rank 0 leads, by train(…, together=ranks) with the account; all others follow, by follow(…)", "SRD-A003"
        )
    if not isinstance(drawn, Poisson | OnePass) or not plain or not alone:
        raise ArgumentError(
            "several processes train with sampling='poisson' or 'one-pass', with a fixed clip and independent noise; "
            "train with one process, or change these",
            "SRD-A003",
        )
