"""Canaries: examples that nobody needs, put into a training set to see whether they can be noticed in what comes out.

Two kinds. `GradientCanaries` are for an auditor who may touch the inside of the training (white box): each is a
gradient along one coordinate of its own, so that a thousand of them do not get in each other's way. `ExampleCanaries`
are rows with a wrong label, for an auditor who may only choose examples and ask the finished model (black box).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz
from scipy.special import logsumexp

from sordino.accounting.curve import Floats
from sordino.accounting.events import Correlated
from sordino.arguments import Number, array, rational, whole
from sordino.audit.dice import dice
from sordino.errors import ArgumentError

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class GradientCanaries:
    """Gradients of length `size`, each along a coordinate of its own out of `dimension`.

    **Source**: the "Dirac canary" of Nasr, Hayes, Steinke, Balle, Tramèr, Jagielski, Carlini, Terzis 2023, "Tight
    auditing of differentially private machine learning", section 4.
    """

    coordinates: NDArray[np.int64]
    dimension: int
    size: float

    @classmethod
    def draw(cls, count: int, dimension: int, size: Number, *, seed: int | None = None) -> GradientCanaries:
        """Return `count` canaries on coordinates drawn at random; a model needs as many parameters or more.

        Let `size` be well above the clipping norm: clipping brings it down, and where there is none, it shows.
        """
        most = whole("dimension", dimension, least=1)
        if whole("count", count, least=1) > most:
            raise ArgumentError(
                f"{count} canaries need as many parameters, but the model has {most}; take fewer canaries", "SRD-V020"
            )
        places = dice(seed).permutation(most)[:count]
        return cls(places.astype(np.int64), most, float(rational("size", size, above=0)))

    def __len__(self) -> int:
        return len(self.coordinates)

    def gradients(self, chosen: Flags) -> Floats:
        """Return the gradients of the `chosen` canaries, one a row, to be put beside those of the examples."""
        places = self.coordinates[np.asarray(chosen, dtype=bool)]
        rows = np.zeros((len(places), self.dimension))
        rows[np.arange(len(places)), places] = self.size
        return rows

    def scores(self, released: Floats) -> Floats:
        """Return how much of each canary is in the noisy gradients that were `released`, one a row, over all steps.

        Subtract beforehand what is known to be due to others; it makes the audit stronger and is always allowed.
        """
        return np.asarray(np.atleast_2d(released)[:, self.coordinates].sum(axis=0))

    def likelihoods(self, released: Floats, *, noise: Number, rate: Number = 1, clip: Number = 1) -> Floats:
        """Return for each canary the log-likelihood ratio, in against out, of the noisy gradients that were `released`.

        The best score there is where canaries join each step with a chance of `rate`, are clipped to `clip`, and the
        noise has a deviation of `noise` times that. With everybody in every step it orders canaries as `scores` does.
        """
        share, length = float(rational("rate", rate, above=0, most=1)), float(rational("clip", clip, above=0))
        spread = float(rational("noise", noise, above=0)) * length
        height = min(self.size, length)
        gain = height * (np.atleast_2d(released)[:, self.coordinates] - height / 2) / spread**2
        if share == 1:
            return np.asarray(gain.sum(axis=0))
        return np.asarray(np.logaddexp(np.log1p(-share), np.log(share) + gain).sum(axis=0))

    def correlated_likelihoods(self, released: Floats, event: Correlated, *, clip: Number = 1) -> Floats:
        """Return what `likelihoods` does where noise is correlated over steps, as `event` says, and order is separated.

        The sums that were `released`, decoded, one a row, are encoded again, so that their noise is white: y = Cx + z.
        A canary comes in every b-th step from one of the first b on, nobody knows which, so this is the mean over b
        matched filters, each the sum of the columns of C at which it would come.
        """
        steps = np.atleast_2d(released)[:, self.coordinates]
        if len(steps) != event.steps:
            raise ArgumentError(f"the event has {event.steps} steps, but {len(steps)} were released", "SRD-A003")
        length = float(rational("clip", clip, above=0))
        spread = float(event.variance / event.sensitivity_squared) ** 0.5 * length
        column = np.zeros(event.steps)
        column[: len(event.coefficients)] = event.coefficients
        encode = toeplitz(column, np.zeros(event.steps))
        patterns = np.stack([encode[:, first :: event.separation].sum(axis=1) for first in range(event.separation)])
        filters = patterns * (min(self.size, length) / spread)
        gains = filters @ (encode @ steps) / spread - (filters**2).sum(axis=1, keepdims=True) / 2
        return np.asarray(logsumexp(gains, axis=0) - np.log(event.separation))


@dataclass(frozen=True)
class ExampleCanaries:
    """Rows with labels that nobody would learn but by heart."""

    rows: NDArray[Any]
    labels: NDArray[Any]

    @classmethod
    def mislabelled(cls, rows: Any, labels: Any, *, seed: int | None = None) -> ExampleCanaries:
        """Return `rows`, each with another label than its own in `labels`, drawn at random."""
        examples, own = array("rows", rows), array("labels", labels)
        kinds = np.unique(own)
        if len(examples) != len(own) or len(kinds) < 2:
            raise ArgumentError("rows and labels must be of one length, with two labels or more", "SRD-A003")
        turns = dice(seed).integers(1, len(kinds), len(own))
        return cls(examples, kinds[(np.searchsorted(kinds, own) + turns) % len(kinds)])

    def __len__(self) -> int:
        return len(self.labels)

    def join(self, rows: Any, labels: Any, included: Flags) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the training set: `rows` and `labels`, then the canaries that are `included`."""
        return np.concatenate([rows, self.rows[included]]), np.concatenate([labels, self.labels[included]])
