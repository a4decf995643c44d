"""Whoever comes or goes changes the exact answer by no more than the bounding says, whatever their rows hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ibis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from query.engines import Engine
from query.exact_neighbours import violations
from query.exact_worlds import (
    CITIES,
    HOSTILE_INTEGERS,
    HOSTILE_REALS,
    MOMENTS,
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
from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Histogram, Task

EXAMPLES = {"duckdb": 30, "postgres": 12, "spark": 2}
HISTOGRAM = Histogram(reference("x"), Range.of(-4, 1000), 5)

rows = st.builds(
    visit,
    st.sampled_from((0, 0, 1, 2, -7, 2**62, None)),
    st.sampled_from((*CITIES, None, "elsewhere")),
    st.sampled_from((0, 1, 2, None)),
    st.sampled_from(HOSTILE_REALS) | st.floats(),
    st.sampled_from(HOSTILE_INTEGERS) | st.integers(-(2**63), 2**63 - 1),
)
limits = st.integers(1, 4)
boundings = st.one_of(
    st.builds(Bounding, st.sampled_from(["sample", "weigh", "norm"]), rows=limits),
    st.builds(Bounding, st.just("groups"), groups=limits, rows_per_group=limits),
)
keys = st.sampled_from(
    [
        (),
        (key("city", *CITIES, "nowhere"),),
        (key("city", "Bonn", None), key("level", 2, 1)),
        (key("city"),),
        (key("city"), key("level", 0, None)),
    ]
)


@st.composite
def tasks(draw: Any, bounding: st.SearchStrategy[Bounding]) -> Task:
    chosen = draw(bounding)
    further: dict[str, Any] = {"people": draw(st.booleans())}
    if draw(st.booleans()):
        further["histograms"] = (HISTOGRAM,)
    if chosen.method in ("row", "sample") and draw(st.booleans()):
        further["distincts"] = (reference("x"), reference("city"))
    return task(chosen, *draw(keys), **further)


def checked(engine: Engine) -> Any:
    return settings(
        max_examples=EXAMPLES[engine.name], deadline=None, suppress_health_check=list(HealthCheck), database=None
    )


def without(table: ibis.Table, person: int) -> ibis.Table:
    return table.filter((table.person != person) | table.person.isnull())


def test_a_person_changes_no_more_than_the_bounding_says(engine: Engine) -> None:
    @checked(engine)
    @given(st.lists(rows, max_size=30), rows, st.integers(0, 1000), tasks(boundings), st.integers(0, 2**62))
    def holds(some: list[Row], copied: Row, copies: int, asked: Task, salt: int) -> None:
        table = load(engine, [*some, *[copied] * copies])
        larger, smaller = run(asked, table, salt), run(asked, without(table, 0), salt)
        assert violations(asked, larger, smaller, asked.bounding) == []

    holds()


def test_a_row_changes_no_more_than_one_row(engine: Engine) -> None:
    @checked(engine)
    @given(st.lists(rows, min_size=1, max_size=20), tasks(st.just(Bounding("row", rows=1))))
    def holds(some: list[Row], asked: Task) -> None:
        larger, smaller = run(asked, load(engine, some)), run(asked, load(engine, some[1:]))
        assert violations(asked, larger, smaller, asked.bounding) == []

    holds()


EXTREME = {
    "row": (Bounding("row", rows=2), Bounding("row", rows=1)),
    "sample": (Bounding("sample", rows=4), Bounding("sample", rows=2)),
    "weigh": (Bounding("weigh", rows=4), Bounding("weigh", rows=2)),
    "groups": (Bounding("groups", groups=2, rows_per_group=2), Bounding("groups", groups=2, rows_per_group=1)),
    "fewer groups": (Bounding("groups", groups=2, rows_per_group=2), Bounding("groups", groups=1, rows_per_group=2)),
    "norm": (Bounding("norm", rows=4), Bounding("norm", rows=2)),
}


@pytest.mark.parametrize("case", EXTREME)
def test_the_oracle_sees_half_a_bound_violated(duckdb_engine: Engine, case: str) -> None:
    """The claims are tight on these rows, so the oracle would notice bounds that are too small."""
    bounding, half = EXTREME[case]
    mine = [visit(0, city) for city in CITIES for _ in range(8)][: 2 if case == "row" else None]
    table = load(duckdb_engine, [*mine, visit(1), visit(2)])
    asked = task(bounding, key("city", *CITIES), people=True, histograms=(HISTOGRAM,))
    larger, smaller = run(asked, table), run(asked, without(table, 0))
    assert violations(asked, larger, smaller, bounding) == []
    assert violations(asked, larger, smaller, half) != []


def test_the_oracle_sees_values_beyond_their_range(duckdb_engine: Engine) -> None:
    asked = task(Bounding("weigh", rows=1), key("city", *CITIES))
    table = load(duckdb_engine, [visit(0, x=1e300), visit(1)])
    larger, smaller = run(asked, table), run(asked, without(table, 0))
    assert violations(asked, larger, smaller, asked.bounding) == []
    narrow = replace(asked, measures=tuple(replace(each, steps=each.steps // 2) for each in asked.measures))
    assert "monomial 2" in violations(narrow, larger, smaller, asked.bounding)
    assert len(MOMENTS) == len(asked.monomials)


@pytest.mark.parametrize("method", ["sample", "groups"])
def test_what_is_kept_depends_on_no_order_of_storage(engine: Engine, method: str) -> None:
    some = [visit(person, CITIES[n % 4], n % 3, (n * 7) % 5 - 2.0, n) for n in range(60) for person in range(4)]
    bounding = Bounding("sample", rows=3) if method == "sample" else Bounding("groups", groups=2, rows_per_group=2)
    asked = task(bounding, key("city"), people=True, histograms=(HISTOGRAM,))
    one = as_lists(run(asked, load(engine, some), 77))
    assert as_lists(run(asked, load(engine, some[::-1]), 77)) == one
    assert any(as_lists(run(asked, load(engine, some), salt)) != one for salt in (78, 79, 80))
