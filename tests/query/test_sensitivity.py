"""The oracle of the query room: one unit more or less moves what is made noisy by no more than the bounds say.

Plans are random, data is random, exact answers come from plain Python. Bounds are tight: half of any would be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from query.planning import (
    BINS,
    BY_CITY,
    BY_PLACE,
    BY_ROW,
    CITY,
    COUNT,
    FARE,
    LATE,
    MEDIAN,
    NO_KEYS,
    PEOPLE,
    SCHEMA,
    SEATS,
    TIP,
    TOP,
    Row,
    ask,
    engine,
    feature_sums,
    of,
)
from sordino.accounting import pure
from sordino.accounting.bound import Bound
from sordino.data.kinds import Kind
from sordino.data.metadata import Personal
from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.bounding import Bounding
from sordino.query.model.question import Aggregate, Question
from sordino.query.model.relation import Scan, UnionAll
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.sensitivity import block_bound, groups_touched, histogram_bound, people_bound
from sordino.query.plan.spend import Spend

AGGREGATES = (
    COUNT,
    PEOPLE,
    of("count", TIP),
    of("count_distinct", CITY),
    of("sum", FARE),
    of("sum", TIP),
    of("mean", FARE),
    of("mean", TIP),
    of("variance", SEATS),
    of("covariance", FARE, TIP),
    of("correlation", FARE, SEATS),
    of("regression", FARE, TIP),
    MEDIAN,
    TOP,
    BINS,
)
PRICES = (Spend(Fraction(1), keys_delta=Fraction(1, 1000)), Spend(None, Fraction(1), keys_delta=Fraction(1, 1000)))
BOUNDINGS = (
    Bounding("weigh", rows=1),
    Bounding("weigh", rows=3),
    Bounding("sample", rows=2),
    Bounding("groups", groups=2, rows_per_group=2),
    Bounding("groups", groups=1, rows_per_group=1),
    Bounding("norm", rows=2),
)


def moved(before: Sequence[int], after: Sequence[int]) -> dict[str, int]:
    """The norms of a difference."""
    away = [abs(one - other) for one, other in zip(before, after, strict=True)]
    return {
        "l0": sum(each > 0 for each in away),
        "l1": sum(away),
        "l2_squared": sum(each**2 for each in away),
        "linf": max(away, default=0),
    }


def excess(norms: dict[str, int], bound: Bound) -> dict[str, tuple[int, Any]]:
    """The norms that are beyond the bound; {} if none is."""
    return {name: (norm, getattr(bound, name)) for name, norm in norms.items() if norm > getattr(bound, name)}


def by_group(planned: QueryPlan, rows: Sequence[Row]) -> list[tuple[Bound, dict[tuple[Any, ...], list[int]]]]:
    """All that gets noise, or is chosen from: its bound, and its exact numbers for each group that is there."""
    exact = engine(rows)(planned.task, 7)
    groups = list(zip(*exact.keys, strict=True)) if exact.keys else [()]
    parts: list[tuple[Bound, dict[tuple[Any, ...], list[int]]]] = []
    for block in planned.blocks:
        sums = feature_sums(block.block.features, planned.task, exact)
        parts.append((block.bound, {group: [each[at] for each in sums] for at, group in enumerate(groups)}))
    for part in (*planned.histograms, *planned.choices):
        size = planned.task.histograms[part.histogram].buckets
        counted = {group: [0] * size for group in groups}
        for at, bucket, weight in exact.histograms[part.histogram].tolist():
            counted[groups[at]][bucket] += weight
        # A choice's bound speaks of weights: what it uses is the 1-norm, over all buckets.
        parts.append((part.bound, counted if part in planned.histograms else _summed(counted)))
    if planned.selection is not None:
        assert exact.people is not None
        parts.append((planned.selection.bound, {group: [int(exact.people[at])] for at, group in enumerate(groups)}))
    return parts


def _summed(counted: dict[tuple[Any, ...], list[int]]) -> dict[tuple[Any, ...], list[int]]:
    return {group: [sum(buckets)] for group, buckets in counted.items()}


def differences(planned: QueryPlan, without: Sequence[Row], rows: Sequence[Row]) -> list[tuple[Bound, dict[str, int]]]:
    result = []
    for (bound, before), (_, after) in zip(by_group(planned, without), by_group(planned, rows), strict=True):
        size = len(next(iter((*before.values(), *after.values())), ()))
        groups = sorted(before.keys() | after.keys(), key=repr)
        flat = [[each for group in groups for each in side.get(group, [0] * size)] for side in (before, after)]
        result.append((bound, moved(*flat)))
    return result


@some.composite
def rows(draw: some.DrawFn, users: Sequence[int], most: int) -> list[dict[str, Any]]:
    def row() -> dict[str, Any]:
        return {
            "user": draw(some.sampled_from(users)),
            "city": draw(some.sampled_from(["a", "b", "c", "elsewhere", None])),
            "place": draw(some.sampled_from(["x", "y", "z", None])),
            "fare": draw(some.sampled_from([None, -5, 0, 12.5, 50, 99.9, 100, 1e9])),
            "tip": draw(some.sampled_from([None, None, -1e9, -10, 0, 0.1, 10])),
            "seats": draw(some.sampled_from([None, 1, 2, 3, 4, 77])),
        }

    return [row() for _ in range(draw(some.integers(0, most)))]


@some.composite
def plans(draw: some.DrawFn) -> QueryPlan:
    by_row = draw(some.booleans())
    asked = tuple(draw(some.lists(some.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True)))
    question = ask(
        *asked,
        keys=draw(some.sampled_from([NO_KEYS, BY_CITY, BY_PLACE, BY_CITY + BY_PLACE])),
        **({"schema": BY_ROW} if by_row else {}),
    )
    bounding = None if by_row else draw(some.sampled_from([None, *BOUNDINGS]))
    try:
        return plan(question, draw(some.sampled_from(PRICES)), Wishes(bounding=bounding))
    except QuestionError:  # this way of bounding does not suit this question
        return plan(ask(COUNT, keys=NO_KEYS), PRICES[0])


@given(plans(), rows([1, 2], 6), rows([3], 9))
@settings(deadline=None, max_examples=250)
def test_one_unit_moves_everything_within_its_bound(
    planned: QueryPlan, others: list[dict[str, Any]], person: list[dict[str, Any]]
) -> None:
    if planned.bounding.method == "row":
        person = person[:1]
    for bound, norms in differences(planned, others, others + person):
        assert not excess(norms, bound), (planned.bounding, planned.question.aggregates)


def extremal(bounding: Bounding) -> list[dict[str, Any]]:
    """The rows of one person who weighs as much as the bounding lets through."""
    row = {"user": 3, "place": "x", "fare": 100, "tip": 10, "seats": 4, "late": 1}
    if bounding.method == "groups":
        pairs = [(city, copy) for city in "abc"[: bounding.groups] for copy in range(bounding.rows_per_group or 0)]
        return [{**row, "city": city} for city, _ in pairs]
    return [{**row, "city": "a"} for _ in range(bounding.rows or 0)]


ONE_BLOCK = ((COUNT,), (COUNT, of("mean", FARE)), (of("variance", SEATS),), (of("correlation", FARE, LATE),))
EXTREMES = [(way, asked) for way in BOUNDINGS for asked in ONE_BLOCK if way.method != "norm" or len(asked) == 2]


@pytest.mark.parametrize(
    ("bounding", "asked"), EXTREMES, ids=[f"{way.method}-{way.linf}-{asked[-1].function}" for way, asked in EXTREMES]
)
def test_bounds_are_tight(bounding: Bounding, asked: tuple[Aggregate, ...]) -> None:
    """A person who uses everything up reaches each norm, so that half the bound would be a false claim."""
    planned = plan(ask(*asked), PRICES[bounding.method == "norm"], Wishes(bounding=bounding))
    assert len(planned.blocks) == 1
    bound, norms = differences(planned, [], extremal(bounding))[0]
    assert norms["l2_squared"] == bound.l2_squared
    assert norms["linf"] == bound.linf
    if bounding.method != "norm":
        assert norms["l1"] == bound.l1
    halved = Bound(bound.l0, bound.l1 / 2, bound.l2_squared / 2, bound.linf / 2)
    assert {"l2_squared", "linf"} <= set(excess(norms, halved))
    assert ("l1" in excess(norms, halved)) == (bounding.method != "norm")


def test_the_norm_of_a_person_spread_over_groups() -> None:
    """Bounding by norm leaves more than its own rows in the 1-norm: √groups times as much."""
    bounding = Bounding("norm", rows=2)
    planned = plan(ask(COUNT), PRICES[1], Wishes(bounding=bounding))
    spread = [{"user": 3, "city": city} for city in "abc"] * 4
    bound, norms = differences(planned, [], spread)[0]
    assert not excess(norms, bound)
    assert norms["l1"] > bounding.unit * 2 * 1.7
    assert norms["l2_squared"] > Fraction(999, 1000) * bound.l2_squared
    assert bound.l1 == 3 * 2 * bounding.unit


def test_people_in_many_groups() -> None:
    planned = plan(ask(PEOPLE), PRICES[0], Wishes(bounding=Bounding("groups", groups=2, rows_per_group=1)))
    bound, norms = differences(planned, [], [{"user": 3, "city": city} for city in "abc"] * 5)[0]
    assert (bound.l0, bound.l1, bound.l2_squared, bound.linf) == (2, 2, 2, 1)
    assert not excess(norms, bound)
    assert norms["l1"] == bound.l1


def twice(*aggregates: Aggregate, **more: Any) -> Question:
    scan = Scan(BY_ROW.tables["trips"])
    return ask(*aggregates, schema=BY_ROW, relation=UnionAll((scan, scan)), **more)


@pytest.mark.parametrize("asked", [COUNT, of("sum", FARE), PEOPLE, MEDIAN, BINS], ids=lambda each: each.function)
@pytest.mark.parametrize("keys", [NO_KEYS, BY_CITY, BY_PLACE], ids=["none", "public", "private"])
@pytest.mark.parametrize("price", PRICES, ids=["laplace", "gaussian"])
def test_a_row_that_becomes_two_rows(asked: Aggregate, keys: Any, price: Spend) -> None:
    """UNION ALL of a table with itself: both copies fall into one group, so they count twice there."""
    if keys == BY_PLACE:
        with pytest.raises(QuestionError, match="SRD-Q316"):
            plan(twice(asked, keys=keys), price)
        return
    planned = plan(twice(asked, keys=keys), price)
    assert planned.bounding == Bounding("row", rows=2)
    for bound, norms in differences(planned, [], [{"city": "a", "place": "x", "fare": 100}]):
        assert not excess(norms, bound)


def test_groups_touched_and_histograms() -> None:
    question = ask(COUNT)
    assert groups_touched(question, Bounding("weigh", rows=9)) == 3
    assert groups_touched(question, Bounding("groups", groups=2, rows_per_group=1)) == 2
    assert groups_touched(ask(COUNT, keys=BY_PLACE), Bounding("weigh", rows=9)) == 2**31
    bound = histogram_bound(question, Bounding("groups", groups=2, rows_per_group=3), 10)
    assert (bound.l0, bound.l1) == (20, 6 * 2**16)
    assert people_bound(question, Bounding("sample", rows=2)).l1 == 2
    assert bound.unit == question.schema.unit


@given(some.sampled_from(BOUNDINGS), some.integers(1, 3))
@example(BOUNDINGS[0], 1)
def test_every_norm_of_a_block_follows_from_its_weights(bounding: Bounding, groups: int) -> None:
    """The bound of features is that of weights times reach: no norm of a bound contradicts the others."""
    planned = plan(ask(COUNT, of("mean", FARE)), PRICES[1], Wishes(bounding=bounding))
    bound = block_bound(planned.question, bounding, planned.blocks[0].block)
    assert bound.linf <= bound.l1
    assert bound.linf**2 <= bound.l2_squared <= bound.l1 * bound.linf
    assert groups_touched(planned.question, bounding) <= 3 * groups


@pytest.mark.parametrize(
    ("method", "words", "norms"),
    [
        ("row", {"rows": 2}, (2, 2, 4, 2)),
        ("sample", {"rows": 3}, (3, 3, 9, 3)),
        ("weigh", {"rows": 3}, (None, 3, 9, 3)),
        ("groups", {"groups": 3, "rows_per_group": 2}, (3, 6, 12, 2)),
        ("norm", {"rows": 3}, (None, None, 9, 3)),
    ],
)
def test_what_each_way_of_bounding_promises(method: Any, words: dict[str, int], norms: tuple[Any, ...]) -> None:
    way = Bounding(method, **words)
    assert (way.l0, way.l1, way.l2_squared, way.linf) == norms
    assert way.unit == (1 if method in ("row", "sample") else 2**16)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("weigh", {}),
        ("weigh", {"rows": 0}),
        ("weigh", {"rows": -1}),
        ("weigh", {"rows": 2**31 + 1}),
        ("weigh", {"rows": True}),
        ("weigh", {"rows": 1.5}),
        ("weigh", {"rows": 1, "groups": 1}),
        ("groups", {"groups": 1}),
        ("groups", {"rows": 1, "groups": 1, "rows_per_group": 1}),
        ("keep", {"rows": 1}),
    ],
)
def test_bounding_is_refused_unless_it_says_what_it_needs(method: Any, words: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        Bounding(method, **words)


# ---- people of classes ---------------------------------------------------------------------------------------------


def stretched(bound: Bound, share: Fraction) -> Bound:
    return Bound(bound.l0, bound.l1 * share, bound.l2_squared * share**2, bound.linf * share, unit=bound.unit)


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 16), Fraction(1, 256)])
@pytest.mark.parametrize("asked", [(COUNT,), (COUNT, of("mean", FARE)), (of("variance", SEATS),)], ids=len)
def test_whoever_weighs_less_loses_less(share: Fraction, asked: tuple[Aggregate, ...]) -> None:
    """A class with a part of the largest ε loses no more than that part of the price, rounding to the grid included."""
    classes = Personal("trips", "place", Kind.TEXT, (("open", Fraction(1)), ("shy", share)))
    planned = plan(ask(*asked, schema=replace(SCHEMA, personal=classes)), Spend(Fraction(1)))
    lost = sum(pure.total(part.mechanism.event(stretched(part.bound, share))) for part in planned.blocks)
    assert lost <= share


def test_monomials_list_what_they_multiply() -> None:
    """The contract of `Monomial`: what has a power must be present."""
    classes = Personal("trips", "place", Kind.TEXT, (("open", Fraction(1)), ("shy", Fraction(1, 2))))
    for schema in (SCHEMA, replace(SCHEMA, personal=classes)):
        planned = plan(ask(COUNT, of("mean", TIP), of("variance", FARE), schema=schema), Spend(Fraction(1)))
        for monomial in planned.task.monomials:
            assert {place for place, power in enumerate(monomial.powers) if power} <= monomial.present
