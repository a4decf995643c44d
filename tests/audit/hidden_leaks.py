"""Thirty mechanisms that leak where nobody looks: in sums of weak columns, in both tails at once, far down a list, in
dictionaries, decimals, texts, long whole numbers, low bits, and on neighbours that are seldom tried.

Each breaks its claim on the pairs that it is tried on; what is wrong stands in its name. `release(value, n, seed)`
returns n outputs. What they are made of is in ``noisy_outputs.py``, and so are the correct ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from audit.noisy_outputs import drawn, geometric, laplace_rows, one_by_one
from sordino.audit import neighbours
from sordino.audit.claim import Claim
from sordino.audit.subject import Subject

BITS = 20
LEAVES = 8
LONG = 100


@dataclass(frozen=True)
class Leak:
    """A broken mechanism, its class, and what the auditor is told beside it."""

    subject: Subject
    kind: str
    low_bits: bool = False
    view: Callable[[Any], Any] | None = None


def leak(kind: str, name: str, release: Any, pairs: Any, claim: Any = 1, **words: Any) -> Leak:
    return Leak(Subject(name, release, pairs, Claim.read(claim)), kind, **words)


def flipped_bits(epsilon: float) -> Any:
    def release(value: int, rng: Any, draws: int) -> Any:
        flips = rng.random((draws, BITS)) < 1 / (1 + math.exp(epsilon))
        return (flips ^ bool(value)).astype(int)

    return release


def wider(scales: tuple[float, float], kind: str) -> Any:
    """Noise around 0 whose scale shows the value: what is sensitive here is hidden by more noise there."""
    return lambda value, rng, draws: getattr(rng, kind)(0, scales[int(value)], draws)


def outliers(value: int, rng: Any, draws: int) -> Any:
    far = rng.choice([-9.0, 9.0], draws) * (rng.random(draws) < (0.01 if value else 0.001))
    return rng.laplace(0, 1, draws) + far


def one_wider(value: int, rng: Any, draws: int) -> Any:
    rows = rng.laplace(0, 1, (draws, 40))
    rows[:, 33] *= 1.5 if value else 1.0
    return rows


def less_noise_at(place: int) -> Any:
    def release(value: Any, rng: Any, draws: int) -> Any:
        rows = np.asarray(value) + rng.laplace(0, 1, (draws, LONG))
        rows[:, place] = np.asarray(value)[place] + rng.laplace(0, 0.5, draws)
        return rows

    return release


def sometimes_bare(value: Any, rng: Any, draws: int) -> Any:
    rows = np.asarray(value) + rng.laplace(0, 1, (draws, 128))
    bare = rng.random(draws) < 0.005
    rows[bare, 90] = np.asarray(value)[90]
    return rows


def longer(value: int, rng: Any, draws: int) -> list[Any]:
    more = rng.random(draws) < (0.9 if value else 0.1)
    rows = rng.laplace(0, 1, (draws, 41)).tolist()
    return [row if one else row[:40] for row, one in zip(rows, more.tolist(), strict=True)]


def report(value: dict[str, int], rng: Any, draws: int) -> list[Any]:
    here = value["visits"] + rng.laplace(0, 1, draws)
    there = value["people"] + rng.laplace(0, 0.5, draws)
    return [
        {"visits": one, "of": {"people": two, "town": "Ulm"}}
        for one, two in zip(here.tolist(), there.tolist(), strict=True)
    ]


def shown_groups(threshold: float) -> Any:
    def release(value: dict[str, int], rng: Any, draws: int) -> list[Any]:
        noisy = np.array(list(value.values())) + rng.laplace(0, 1, (draws, len(value)))
        return [
            {name: count for name, count in zip(value, row, strict=True) if count > threshold} for row in noisy.tolist()
        ]

    return release


def in_true_order(value: dict[str, int], rng: Any, draws: int) -> list[Any]:
    ranked = sorted(value, key=value.__getitem__)
    noisy = np.array([value[name] for name in ranked]) + rng.laplace(0, 1, (draws, len(value)))
    return [dict(zip(ranked, row, strict=True)) for row in noisy.tolist()]


def cents(scale: float) -> Any:
    return one_by_one(
        lambda value, rng, draws: value + np.rint(rng.laplace(0, scale, draws) * 100).astype(int),
        lambda count: Decimal(int(count)) / 100,
    )


def trailing_zeros(value: int, rng: Any, draws: int) -> list[Any]:
    noisy = np.rint(rng.laplace(0, 1, draws) * 100).astype(int).tolist()
    exact = rng.random(draws) < (0.6 if value else 0.2)
    return [
        Decimal(number).scaleb(-2) if one else Decimal(number * 10).scaleb(-3)
        for number, one in zip(noisy, exact.tolist(), strict=True)
    ]


def exponential_text(epsilon: float) -> Any:
    names = ("ash", "beech", "cedar", "oak")

    def release(value: list[int], rng: Any, draws: int) -> list[str]:
        gumbel = epsilon * np.asarray(value) / 2 + rng.gumbel(size=(draws, len(names)))
        return ["; ".join(names[place] for place in row) for row in np.argsort(-gumbel, axis=1).tolist()]

    return release


def last_bit(value: int, rng: Any, draws: int) -> Any:
    truth = rng.random(draws) < 0.85
    bit = np.where(truth, value, 1 - value)
    return (np.int64(1) << np.int64(60)) + 2 * geometric(rng, 0.01, draws) + bit


def on_a_grid(value: float, rng: Any, draws: int) -> Any:
    return value + np.rint(rng.laplace(0, 1, draws) * 2**12) / 2**12


def single_precision(value: float, rng: Any, draws: int) -> Any:
    return np.float32(value) + rng.laplace(0, 1, draws).astype(np.float32)


def clipped_sum(scale: float) -> Any:
    return lambda value, rng, draws: float(np.clip(value, -1, 1).sum()) + rng.laplace(0, scale, draws)


def equal_pairs(value: list[int], rng: Any, draws: int) -> Any:
    _, counts = np.unique(value, return_counts=True)
    return float((counts * (counts - 1) / 2).sum()) + rng.laplace(0, 1, draws)


def mean_or_nothing(value: list[float], rng: Any, draws: int) -> Any:
    return np.clip(value, 0, 1).mean() + rng.laplace(0, 1, draws) if value else np.zeros(draws)


def same_or_not(value: int, rng: Any, draws: int) -> Any:
    first = rng.integers(0, 2, draws)
    equal = rng.random(draws) < (0.8 if value else 0.2)
    return np.stack([first, np.where(equal, first, 1 - first), rng.integers(0, 2, draws)], axis=1)


ONE = ((1, 0),)
TOWNS = {"Bonn": 7, "Jena": 3, "Kiel": 9, "Ulm": 5}
FEWER = TOWNS | {"Jena": 2}
HIDDEN = TOWNS | {"Celle": 0}
ONE_BIN = ([5] * LONG, [*[5] * 57, 6, *[5] * 42])
TABLE = [0.5, -1.0, 1.0, 0.25, -0.75]
NUMBERS = [4, 4, 4, 4, 4, 4, 9]


def whole(scale: float, start: int) -> Any:
    """Geometric noise on a long whole number."""

    def release(value: int, rng: Any, draws: int) -> list[int]:
        return [start + value + int(noise) for noise in geometric(rng, scale, draws)]

    return release


def tree(scale: float) -> Any:
    """Noisy counts of all nodes of a tree over some leaves."""
    levels = [np.kron(np.eye(width), np.ones((LEAVES // width, 1))) for width in (1, 2, 4, 8)]
    return laplace_rows(np.concatenate(levels, axis=1), scale)


LEAF = ([3, 1, 4, 1, 5, 9, 2, 6], [3, 1, 4, 1, 5, 8, 2, 6])
BINS = ([1] * 64, [*[1] * 56, *[2] * 8])
CROSSED = ([0] * 16, [1, -1] * 8)
STEPS = ([0] * 12, [1] * 12)

LEAKS = (
    leak("weak columns", "tree with noise for three of four levels", drawn(tree(3)), (LEAF,)),
    leak("weak columns", "noise for four of eight bins", drawn(laplace_rows(np.eye(64), 4)), (BINS,)),
    leak("weak columns", "twenty bits flipped as if eight", drawn(flipped_bits(1 / 8)), ONE),
    leak(
        "weak columns",
        "Gaussian noise for a quarter less than the length of a vector",
        drawn(lambda value, rng, draws: value / 10 + rng.normal(0, 0.75, (draws, 100))),
        ONE,
        Claim.gaussian(1),
    ),
    leak("weak columns", "twelve prefix sums, noise for five", drawn(laplace_rows(np.eye(12), 5)), (STEPS,)),
    leak("weak columns", "half go up and half go down", drawn(laplace_rows(np.eye(16), 5)), (CROSSED,)),
    leak("two-sided tails", "Laplace noise whose scale is local", drawn(wider((1.0, 1.5), "laplace")), ONE),
    leak("two-sided tails", "Gaussian noise whose scale is local", drawn(wider((1.0, 1.4), "normal")), ONE),
    leak("two-sided tails", "outliers to either side", drawn(outliers), ONE),
    leak("two-sided tails", "one of forty is wider", drawn(one_wider), ONE, 0.3),
    leak("far down a list", "the 58th of 100 counts has half the noise", drawn(less_noise_at(57)), (ONE_BIN,)),
    leak(
        "far down a list",
        "the 91st of 128 is bare once in 200 times",
        drawn(sometimes_bare),
        (([5] * 128, [*[5] * 90, 6, *[5] * 37]),),
    ),
    leak("far down a list", "the 41st is there or not", drawn(longer), ONE),
    leak(
        "dictionaries",
        "one count inside has half the noise",
        drawn(report),
        (({"visits": 3, "people": 2}, {"visits": 3, "people": 1}),),
    ),
    leak(
        "dictionaries",
        "a group is shown from three on",
        drawn(shown_groups(3)),
        (({**HIDDEN, "Celle": 1}, TOWNS),),
        (1, "0.0001"),
    ),
    leak(
        "dictionaries",
        "keys in the order of true counts",
        drawn(in_true_order),
        (({**TOWNS, "Jena": 6}, {**TOWNS, "Jena": 5, "Ulm": 6}),),
        2,
    ),
    leak("decimals", "cents with half the noise", drawn(cents(0.5)), ((100, 0),)),
    leak("decimals", "zeros at the end tell", drawn(trailing_zeros), ONE, "0.5"),
    leak(
        "texts",
        "a sentence with half the noise",
        drawn(one_by_one(lambda value, rng, draws: value + rng.laplace(0, 0.5, draws), "about {:.3f} people".format)),
        ONE,
    ),
    leak(
        "texts",
        "JSON with half the noise",
        drawn(
            one_by_one(lambda value, rng, draws: value + geometric(rng, 0.5, draws), '{{"n": {}, "done": true}}'.format)
        ),
        ONE,
    ),
    leak("texts", "a ranking for the price of its winner", drawn(exponential_text(1)), neighbours.lists(4)),
    leak("long whole numbers", "10¹⁸ and half the noise", drawn(whole(0.5, 10**18)), ONE),
    leak("long whole numbers", "2⁸⁰ and two thirds of the noise", drawn(whole(2 / 3, 2**80)), ONE),
    leak("long whole numbers", "the last bit of 60 keeps the answer", drawn(last_bit), ONE),
    leak("floats", "single precision", drawn(single_precision), ONE),
    leak("floats", "noise on a grid, the answer beside it", drawn(on_a_grid), ((0.1, 0.35),)),
    leak(
        "floats",
        "doubles, low bits judged",
        drawn(lambda value, rng, draws: value + rng.laplace(0, 1, draws)),
        ONE,
        low_bits=True,
    ),
    leak(
        "neighbours",
        "one replaced, noise for one added",
        drawn(clipped_sum(1)),
        neighbours.with_one_replaced(TABLE, by=(-1.0, 1.0)),
    ),
    leak("neighbours", "pairs of equals, one doubled", drawn(equal_pairs), neighbours.with_one_doubled(NUMBERS)),
    leak("neighbours", "no noise where nobody is left", drawn(mean_or_nothing), neighbours.emptied(TABLE)),
)
