"""The exact answers of all methods on all engines, against a slow reference and against neighbours."""

from __future__ import annotations

import random
from fractions import Fraction

import ibis
import pytest

from query import exact_reference
from query.engines import Engine
from query.exact_worlds import (
    CITIES,
    HOSTILE_INTEGERS,
    HOSTILE_REALS,
    X_FILLED,
    N,
    Row,
    as_lists,
    key,
    load,
    reference,
    run,
    task,
    visit,
)
from sordino.data.kinds import Range
from sordino.query.model.bounding import WEIGHT_UNIT, Bounding
from sordino.query.model.task import Histogram, Measure, Monomial

HISTOGRAMS = (
    Histogram(reference("x"), Range.of(-4, 4), 8),
    Histogram(reference("n"), Range.of(-2, 6), 4),
    Histogram(reference("city"), None, 3, categories=("Bonn", None, "Aix")),
    Histogram(reference("x"), None, 3, edges=(Fraction(-3), Fraction(0), Fraction(1), Fraction(4))),
    Histogram(reference("x"), None, 1, edges=(Fraction(0), Fraction(1))),
)
ALL_CHOSEN = {
    "row": Bounding("row", rows=1),
    "sample": Bounding("sample", rows=10_000),
    "weigh": Bounding("weigh", rows=3),
    "groups": Bounding("groups", groups=100, rows_per_group=2),
    "norm": Bounding("norm", rows=4),
}
"""Each method, with limits under which nothing is left to a hash."""
KEYS = {
    "none": (),
    "public": (key("city", *CITIES, "nowhere"),),
    "public with NULL": (key("city", "Bonn", None, "Aix"), key("level", 3, 1)),
    "private": (key("city"),),
    "mixed": (key("city"), key("level", 1, None, 0)),
}


def some_of(engine: Engine, number: int) -> list[str]:
    """Return which keys to try: all of them, but on Spark, which takes a second for each query, only one."""
    return [list(KEYS)[number % len(KEYS)]] if engine.name == "spark" else list(KEYS)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Visits of 12 people and of nobody; one of them has many."""
    drawn = random.Random(20)  # noqa: S311  (test data)
    return [
        visit(
            person,
            drawn.choice((*CITIES, None, "elsewhere")),
            drawn.choice((0, 1, 2, 3, None)),
            drawn.choice(HOSTILE_REALS),
            drawn.choice(HOSTILE_INTEGERS),
        )
        for person in [*range(12), None] * 8 + [99] * 200
    ]


@pytest.fixture(scope="module")
def table(engine: Engine, rows: list[Row]) -> ibis.Table:
    return load(engine, rows)


@pytest.mark.parametrize("method", ALL_CHOSEN)
def test_sums_and_people_are_those_of_the_slow_way(
    engine: Engine, table: ibis.Table, rows: list[Row], method: str
) -> None:
    for keys in some_of(engine, list(ALL_CHOSEN).index(method)):
        asked = task(ALL_CHOSEN[method], *KEYS[keys], people=True)
        expected = exact_reference.exact(asked, rows, "person")
        assert as_lists(run(asked, table)) == expected
        assert any(any(line) for line in expected["sums"])


@pytest.mark.parametrize("method", ALL_CHOSEN)
def test_histograms_are_those_of_the_slow_way(engine: Engine, table: ibis.Table, rows: list[Row], method: str) -> None:
    place = list(ALL_CHOSEN).index(method)
    histograms = HISTOGRAMS[place : place + 1] if engine.name == "spark" else HISTOGRAMS
    for keys in some_of(engine, place + 1):
        asked = task(ALL_CHOSEN[method], *KEYS[keys], histograms=histograms, measures=(), monomials=())
        expected = exact_reference.exact(asked, rows, "person")
        found = as_lists(run(asked, table))
        assert found["keys"] == expected["keys"]
        assert found["histograms"] == expected["histograms"]
        assert (found["people"], found["sums"]) == (None, [])


@pytest.mark.parametrize("method", ["row", "sample"])
def test_distinct_values_are_counted(table: ibis.Table, rows: list[Row], method: str) -> None:
    asked = task(ALL_CHOSEN[method], *KEYS["public"], distincts=(reference("n"), reference("city"), reference("x")))
    assert as_lists(run(asked, table))["distincts"] == exact_reference.exact(asked, rows, "person")["distincts"]


def test_a_missing_number_can_count_as_the_middle(table: ibis.Table, rows: list[Row]) -> None:
    asked = task(ALL_CHOSEN["weigh"], *KEYS["public"], measures=(X_FILLED, N))
    found = as_lists(run(asked, table))
    assert found["sums"] == exact_reference.exact(asked, rows, "person")["sums"]
    assert found["sums"][0] == found["sums"][1]


def test_public_groups_come_back_from_an_empty_table(engine: Engine) -> None:
    empty = load(engine, [])
    sizes = {"none": 1, "public": 5, "public with NULL": 6, "private": 0, "mixed": 0}
    for method in ("row", "weigh", "norm"):
        for keys in some_of(engine, len(method)):
            asked = task(ALL_CHOSEN[method], *KEYS[keys], people=True, histograms=HISTOGRAMS[:1])
            found = run(asked, empty)
            assert as_lists(found) == exact_reference.exact(asked, [], "person")
            assert found.groups == sizes[keys]


def test_sums_beyond_64_bits_are_exact(engine: Engine) -> None:
    reach = 2**58 // WEIGHT_UNIT
    measure = Measure(reference("n"), Range.of(-reach, reach), reach, missing_is_middle=False)
    table = load(engine, [visit(person, n=2**62) for person in range(100)])
    for bounding in (Bounding("weigh", rows=1), Bounding("norm", rows=1)):
        asked = task(bounding, measures=(measure,), monomials=(Monomial((1,), frozenset({0})),))
        found = run(asked, table)
        assert found.sums.dtype == object
        assert found.sums.tolist() == [[100 * WEIGHT_UNIT * reach]]
