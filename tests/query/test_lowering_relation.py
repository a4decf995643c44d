"""Of every relation, on every engine: a person's rows depend on that person and the public alone, and on no order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from query.engines import Engine
from query.lowering_relations import SCHEMA, Rows, data, relations, stored, without
from query.lowering_rows import rows_of
from sordino.query.engine.relations import OWNER, lower_relation
from sordino.query.model.relation import Relation

Tables = Mapping[str, ibis.Table]

PEOPLE = (1, 2)


@dataclass(frozen=True)
class World:
    """The same data as they are, in another order, and without one person."""

    whole: Tables
    shuffled: Tables
    without: Mapping[int, Tables]


SEEDS = (1, 2, 3)


@pytest.fixture(scope="session")
def worlds(engine: Engine) -> list[World]:
    return [world(engine, seed) for seed in SEEDS]


@pytest.fixture(scope="session")
def duckdb_worlds(duckdb_engine: Engine) -> list[World]:
    return [world(duckdb_engine, seed) for seed in SEEDS]


def world(engine: Engine, seed: int) -> World:
    rows = data(seed)
    backwards = {name: those[1::2] + those[::2][::-1] for name, those in rows.items()}
    return World(
        loaded(engine, rows),
        loaded(engine, backwards),
        {person: loaded(engine, without(rows, person)) for person in PEOPLE},
    )


def loaded(engine: Engine, rows: Rows) -> Tables:
    return {name: engine.load(name, table) for name, table in stored(rows).items()}


def result(engine: Engine, relation: Relation, tables: Tables) -> Counter[tuple[Any, ...]]:
    """Return the rows as a multiset; the owner comes last."""
    table = lower_relation(relation, tables.__getitem__, SCHEMA)
    assert table.columns == (*relation.columns, OWNER)
    return Counter(tuple(map(comparable, row)) for row in rows_of(engine, table))


def comparable(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def of_others(rows: Counter[tuple[Any, ...]], person: int) -> Counter[tuple[Any, ...]]:
    return Counter({row: count for row, count in rows.items() if row[-1] != person})


EXAMPLES = {"duckdb": 25, "postgres": 12, "spark": 4}


def test_a_persons_rows_are_their_own_business(
    engine: Engine, worlds: list[World], duckdb_engine: Engine, duckdb_worlds: list[World]
) -> None:
    """Without a person all other rows stay as they were; the order of storage changes nothing; nor does the engine."""

    @settings(deadline=None, max_examples=EXAMPLES[engine.name], suppress_health_check=list(HealthCheck))
    @given(number=st.integers(0, len(SEEDS) - 1), person=st.sampled_from(PEOPLE), relation=relations())
    def holds(number: int, person: int, relation: Relation) -> None:
        world = worlds[number]
        whole = result(engine, relation, world.whole)
        assert whole == result(engine, relation, world.shuffled)
        assert of_others(whole, person) == result(engine, relation, world.without[person])
        assert whole == result(duckdb_engine, relation, duckdb_worlds[number].whole)

    holds()
