"""Twenty mechanisms that keep their claim, most of them to the very edge, in every form that outputs may have."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from audit.hidden_leaks import (
    BINS,
    CROSSED,
    HIDDEN,
    LEAF,
    NUMBERS,
    ONE,
    ONE_BIN,
    STEPS,
    TABLE,
    TOWNS,
    cents,
    clipped_sum,
    flipped_bits,
    shown_groups,
    tree,
    whole,
)
from audit.noisy_outputs import drawn, geometric, laplace_rows, one_by_one
from sordino.audit import neighbours
from sordino.audit.claim import Claim
from sordino.audit.subject import Subject

RARE = 1e-4
FAILS = 0.01


def honest(name: str, function: Any, pairs: Any, claim: Any = 1) -> Subject:
    return Subject(name, drawn(function), pairs, Claim.read(claim))


def told_once_in_a_hundred(value: int, rng: Any, draws: int) -> Any:
    """The worst mechanism of its ε and δ: it fails with probability δ, and else is randomized response."""
    truth = rng.random(draws) < 1 / (1 + math.exp(-1))
    answer = np.where(truth, value, 1 - value)
    return np.where(rng.random(draws) < FAILS, 2 + value, answer)


def two_counts(value: dict[str, int], rng: Any, draws: int) -> list[Any]:
    noise = rng.laplace(0, 2, (draws, 2))
    return [{"visits": value["visits"] + one, "of": {"people": value["people"] + two}} for one, two in noise.tolist()]


def winner(value: list[int], rng: Any, draws: int) -> list[str]:
    noisy = np.asarray(value) / 2 + rng.gumbel(size=(draws, len(value)))
    return [("ash", "beech", "cedar", "oak")[place] for place in noisy.argmax(axis=1).tolist()]


def mean_of_any(value: list[float], rng: Any, draws: int) -> Any:
    middle = float(np.clip(value, 0, 1).mean()) if value else 0.5
    return middle + rng.laplace(0, 0.5, draws)


HONEST = (
    honest("tree with noise for all levels", tree(4), (LEAF,)),
    honest("noise for all bins", laplace_rows(np.eye(64), 8), (BINS,)),
    honest("twenty bits", flipped_bits(1 / 20), ONE),
    honest(
        "Gaussian noise for the length of a vector",
        lambda value, rng, draws: value / 10 + rng.normal(0, 1, (draws, 100)),
        ONE,
        Claim.gaussian(1),
    ),
    honest("twelve prefix sums", laplace_rows(np.eye(12), 12), (STEPS,)),
    honest("up and down", laplace_rows(np.eye(16), 16), (CROSSED,)),
    honest("Laplace noise in doubles", lambda value, rng, draws: value + rng.laplace(0, 1, draws), ONE),
    honest("the worst of an ε and a δ", told_once_in_a_hundred, ONE, (1, str(FAILS))),
    honest("100 counts, one of them moves", laplace_rows(np.eye(100), 1), (ONE_BIN,)),
    honest("two counts in a dictionary", two_counts, (({"visits": 3, "people": 2}, {"visits": 2, "people": 1}),)),
    honest(
        "groups above a threshold",
        shown_groups(1 - math.log(2 * RARE)),
        (({**HIDDEN, "Celle": 1}, TOWNS),),
        (1, str(RARE)),
    ),
    honest("cents", cents(1), ((100, 0),)),
    honest(
        "a sentence",
        one_by_one(lambda value, rng, draws: value + rng.laplace(0, 1, draws), "about {:.3f} people".format),
        ONE,
    ),
    honest(
        "JSON",
        one_by_one(lambda value, rng, draws: value + geometric(rng, 1, draws), '{{"n": {}, "done": true}}'.format),
        ONE,
    ),
    honest("the winner alone", winner, neighbours.lists(4)),
    honest("10¹⁸ and noise", whole(1, 10**18), ONE),
    honest("2⁸⁰ and noise", whole(1, 2**80), ONE),
    honest("one replaced, noise for that", clipped_sum(2), neighbours.with_one_replaced(TABLE, by=(-1.0, 1.0))),
    honest(
        "one doubled, counted",
        lambda value, rng, draws: [Decimal(len(value)) + int(noise) for noise in geometric(rng, 1, draws)],
        neighbours.with_one_doubled(NUMBERS),
    ),
    honest("noise where nobody is left, too", mean_of_any, neighbours.emptied(TABLE)),
)
