"""A small DP-SGD to audit, right and wrong: logistic regression and a two-layer net in numpy.

Weights are flat vectors with any number of trainings in front (``… × d``), so that a hundred models train at once.
Neighbours add or remove one example; a run is priced as `Recipe.event`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.events import Gaussian, PoissonSampled, Repeated

Array = NDArray[Any]


# ---- models ---------------------------------------------------------------------------------------------------------


def _errors(logits: Array, labels: Array) -> Array:
    """Return softmax(logits) minus the labels' indicators, the gradient of the loss by the logits."""
    shifted = np.exp(logits - logits.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True) - (labels[:, None] == np.arange(logits.shape[-1]))


@dataclass(frozen=True)
class Logistic:
    """Multinomial logistic regression, the bias as a last feature."""

    features: int
    classes: int

    @property
    def dimension(self) -> int:
        return (self.features + 1) * self.classes

    def start(self, _rng: np.random.Generator) -> Array:
        return np.zeros(self.dimension)

    def logits(self, weights: Array, rows: Array) -> Array:
        matrix = weights.reshape(*weights.shape[:-1], self.features + 1, self.classes)
        return _biased(rows) @ matrix

    def gradients(self, weights: Array, rows: Array, labels: Array) -> Array:
        wrong = _errors(self.logits(weights, rows), labels)
        return (_biased(rows)[:, :, None] * wrong[..., None, :]).reshape(*wrong.shape[:-1], self.dimension)


@dataclass(frozen=True)
class TwoLayers:
    """A net with one hidden layer of tanh units."""

    features: int
    hidden: int
    classes: int

    @property
    def dimension(self) -> int:
        return (self.features + 1) * self.hidden + (self.hidden + 1) * self.classes

    def start(self, rng: np.random.Generator) -> Array:
        return rng.normal(size=self.dimension) / np.sqrt(self.features)

    def _layers(self, weights: Array) -> tuple[Array, Array]:
        cut = (self.features + 1) * self.hidden
        lead = weights.shape[:-1]
        first = weights[..., :cut].reshape(*lead, self.features + 1, self.hidden)
        return first, weights[..., cut:].reshape(*lead, self.hidden + 1, self.classes)

    def logits(self, weights: Array, rows: Array) -> Array:
        first, second = self._layers(weights)
        return _biased(np.tanh(_biased(rows) @ first)) @ second

    def gradients(self, weights: Array, rows: Array, labels: Array) -> Array:
        first, second = self._layers(weights)
        active = np.tanh(_biased(rows) @ first)
        wrong = _errors(_biased(active) @ second, labels)
        back = (wrong @ np.swapaxes(second[..., :-1, :], -1, -2)) * (1 - active**2)
        lead = wrong.shape[:-1]
        below = (_biased(rows)[:, :, None] * back[..., None, :]).reshape(*lead, -1)
        above = (_biased(active)[..., :, None] * wrong[..., None, :]).reshape(*lead, -1)
        return np.concatenate([below, above], axis=-1)


def _biased(rows: Array) -> Array:
    return np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], axis=-1)


Model = Logistic | TwoLayers


# ---- how the gradients of a batch become what is released -----------------------------------------------------------


def clipped(gradients: Array, norm: float) -> Array:
    """Return the rows, those longer than `norm` shortened to it."""
    lengths = np.linalg.norm(gradients, axis=-1, keepdims=True)
    return gradients * np.minimum(1.0, norm / np.maximum(lengths, 1e-12))


def sound(gradients: Array, recipe: Recipe, rng: np.random.Generator) -> Array:
    """Clip each example, add up, add noise once: as it should be."""
    total = clipped(gradients, recipe.clip).sum(-2)
    return total + recipe.noise * recipe.clip * rng.normal(size=total.shape)


def unclipped(gradients: Array, recipe: Recipe, rng: np.random.Generator) -> Array:
    """Forget to clip."""
    total = gradients.sum(-2)
    return total + recipe.noise * recipe.clip * rng.normal(size=total.shape)


def clipped_as_a_batch(gradients: Array, recipe: Recipe, rng: np.random.Generator) -> Array:
    """Clip the sum of the batch: one example may turn it round, so it moves by twice the norm."""
    total = clipped(gradients.sum(-2), recipe.clip)
    return total + recipe.noise * recipe.clip * rng.normal(size=total.shape)


def noised_by_microbatch(gradients: Array, recipe: Recipe, rng: np.random.Generator, parts: int = 4) -> Array:
    """Give each of four microbatches a quarter of the noise: deviations do not add up, variances do."""
    total = clipped(gradients, recipe.clip).sum(-2)
    quarters = rng.normal(size=(parts, *total.shape)) * (recipe.noise * recipe.clip / parts)
    return total + quarters.sum(0)


# ---- training -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """How to train: `noise` is the deviation of the noise in units of `clip`; each example joins a step by `rate`."""

    steps: int
    rate: float
    noise: float
    clip: float = 1.0
    learning_rate: float = 0.5
    combine: Callable[[Array, Recipe, np.random.Generator], Array] = sound

    @property
    def event(self) -> Repeated:
        """What the run claims to be."""
        step = Gaussian(variance=repr(self.noise**2))
        return Repeated(step if self.rate == 1 else PoissonSampled(step, rate=repr(self.rate)), self.steps)

    def broken(self, combine: Callable[[Array, Recipe, np.random.Generator], Array]) -> Recipe:
        """Return the recipe with another way to combine gradients, at the same price."""
        return replace(self, combine=combine)


def train(
    model: Model, rows: Array, labels: Array, recipe: Recipe, rng: np.random.Generator, extra: Array | None = None
) -> tuple[Array, Array]:
    """Return the last weights and, for an auditor who sees all, what was released in each step less what is known.

    `extra` are gradients beside those of the examples, one a row, the same in every step: canaries. What is known is
    the expected sum of the examples' own gradients at the weights of the step.
    """
    weights, seen = model.start(rng), []
    batch = recipe.rate * len(rows)
    for _ in range(recipe.steps):
        own = model.gradients(weights, rows, labels)
        drawn = own[rng.random(len(own)) < recipe.rate]
        if extra is not None:
            drawn = np.concatenate([drawn, extra[rng.random(len(extra)) < recipe.rate]])
        released = recipe.combine(drawn, recipe, rng)
        seen.append(released - recipe.rate * clipped(own, recipe.clip).sum(0))
        weights = weights - recipe.learning_rate * released / batch
    return weights, np.array(seen)


# ---- games, many at once --------------------------------------------------------------------------------------------


def gradient_game(others: Array, canary: Array, recipe: Recipe, rng: np.random.Generator) -> Callable[..., Array]:
    """Return ``train(included, count)``: all gradients are the auditor's, who scores by the sum along the canary."""
    towards = canary / np.linalg.norm(canary)

    def play(included: bool, count: int) -> Array:
        rows = np.concatenate([others, canary[None] * included])
        scores = np.zeros(count)
        for _ in range(recipe.steps):
            drawn = rng.random((count, len(rows), 1)) < recipe.rate
            scores += recipe.combine(rows * drawn, recipe, rng) @ towards
        return scores

    return play


def shuffled_game(noise: float, batches: int, rng: np.random.Generator) -> Callable[..., Array]:
    """Return ``train(included, count)`` for one epoch of shuffled batches; scores are the largest batch of each.

    Everybody's gradient is −C but the target's: C if included, 0 if not. Each batch's sum is released with noise of
    `noise` times C, and is shown in units of C above that of a batch of others alone.
    """

    def play(included: bool, count: int) -> Array:
        sums = noise * rng.normal(size=(count, batches))
        sums[np.arange(count), rng.integers(0, batches, count)] += 2 if included else 1
        return sums.max(-1)

    return play


def fit_together(
    model: Logistic, rows: Array, labels: Array, members: Array, recipe: Recipe, rng: np.random.Generator
) -> Array:
    """Train one model on each row of `members` (models × examples), all at once, and return their weights.

    A gradient is a row of features times the errors of the classes, so its length is the product of theirs, and
    gradients are clipped without being written out. Each training divides by the expected number of examples.
    """
    lengths = np.linalg.norm(_biased(rows), axis=1)
    weights = np.zeros((len(members), model.dimension))
    for _ in range(recipe.steps):
        drawn = members if recipe.rate == 1 else members & (rng.random(members.shape) < recipe.rate)
        wrong = _errors(model.logits(weights, rows), labels)
        norms = lengths * np.linalg.norm(wrong, axis=-1)
        wrong *= (drawn * np.minimum(1.0, recipe.clip / np.maximum(norms, 1e-12)))[..., None]
        total = (_biased(rows).T @ wrong).reshape(weights.shape)
        total += recipe.noise * recipe.clip * rng.normal(size=total.shape)
        weights -= recipe.learning_rate * total / (recipe.rate * len(rows) / 2)
    return weights
