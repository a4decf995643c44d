"""Single nodes of relations: who owns what, what is refused, and the ties and orders that could give order away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import ibis
import pyarrow as pa
import pytest

from query.engines import Engine
from query.lowering_rows import rows_of
from sordino.accounting.bound import ROW, Unit
from sordino.data.kinds import Kind
from sordino.data.metadata import Column, OwnedByColumn, OwnedByParent, OwnedByRow, Owner, Public, Schema, Table
from sordino.errors import QuestionError
from sordino.query.engine.relations import OWNER, lower_relation
from sordino.query.model.expression import ColumnRef
from sordino.query.model.literals import literal
from sordino.query.model.operations import call
from sordino.query.model.relation import Filter, Join, PerPerson, Project, Relation, Scan, SemiJoin, UnionAll, Windowed

WHOLE, REAL, TEXT = Column(Kind.INTEGER), Column(Kind.REAL), Column(Kind.TEXT)
ID, X, PLACE = ColumnRef(Kind.INTEGER, "id"), ColumnRef(Kind.REAL, "x"), ColumnRef(Kind.TEXT, "place")

VISITS = Table("visits", {"id": WHOLE, "place": TEXT, "x": REAL}, OwnedByColumn("id"))
BY_ROW = Table("visits", VISITS.columns, OwnedByRow())
PLACES = Table("places", {"name": TEXT, "size": WHOLE}, Public())
ITEMS = Table("items", {"place": TEXT, "price": WHOLE}, OwnedByParent("place", "visits", "place"))
PARTS = Table("parts", {"price": WHOLE, "part": TEXT}, OwnedByParent("price", "items", "price"))
DATA = {
    "visits": {"id": [1, 1, 2, 3, None], "place": ["a", "a", "a", None, "b"], "x": [0.5, 0.5, 2.0, 1.0, 9.0]},
    "places": {"name": ["a", "a", None, "c"], "size": [5, 3, 7, 1]},
    "items": {"place": ["a", "b", "z", None], "price": [10, 20, 30, 40]},
    "parts": {"price": [10, 10, 20], "part": ["screw", "screw", "nail"]},
}
PEOPLE = Schema("s", {table.name: table for table in (VISITS, PLACES, ITEMS, PARTS)}, Unit("visitor"))
ROWS = Schema("s", {"visits": BY_ROW, "places": PLACES}, ROW)


@pytest.fixture(scope="module")
def tables(duckdb_engine: Engine) -> Mapping[str, ibis.Table]:
    return {name: duckdb_engine.load(name, pa.table(columns)) for name, columns in DATA.items()}


@pytest.fixture
def rows(duckdb_engine: Engine, tables: Mapping[str, ibis.Table]) -> Any:
    def found(relation: Relation, schema: Schema = PEOPLE) -> Counter[tuple[Any, ...]]:
        return Counter(rows_of(duckdb_engine, lower_relation(relation, tables.__getitem__, schema)))

    return found


def test_rows_without_an_owner_are_nobodys(rows: Any) -> None:
    assert rows(Scan(VISITS)) == Counter({(1, "a", 0.5, 1): 2, (2, "a", 2.0, 2): 1, (3, None, 1.0, 3): 1})


def test_groups_of_a_public_table_need_no_owner(rows: Any) -> None:
    counted = (("n", "count", None, WHOLE),)
    assert rows(PerPerson(Scan(PLACES), (), counted)) == Counter({(4,): 1})
    by_name = PerPerson(Scan(PLACES), (("name", ColumnRef(Kind.TEXT, "name"), TEXT),), counted)
    assert rows(by_name) == Counter({("a", 2): 1, (None, 1): 1, ("c", 1): 1})


def test_a_row_of_a_child_is_there_once_for_each_owner(rows: Any) -> None:
    """Person 1 visited a twice, and still owns the item once; place b was visited by nobody who can be named."""
    assert rows(Scan(ITEMS)) == Counter({("a", 10, 1): 1, ("a", 10, 2): 1})
    assert rows(Scan(PARTS)) == Counter({(10, "screw", 1): 2, (10, "screw", 2): 2})


def test_where_rows_are_protected_there_is_no_owner(rows: Any) -> None:
    assert rows(Scan(BY_ROW), ROWS)[None, "b", 9.0] == 1
    assert rows(Filter(Scan(BY_ROW), call("less", X, literal(1))), ROWS) == Counter({(1, "a", 0.5): 2})


def test_a_public_relation_has_no_owner(rows: Any) -> None:
    assert rows(UnionAll((Scan(PLACES), Scan(PLACES))))["c", 1] == 2


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_single_join_keeps_one_row_one_row(rows: Any, how: Any) -> None:
    """Of the two rows of place a, the one that comes first by its content."""
    join = Join(Scan(BY_ROW), Scan(PLACES), (("place", "name"),), how, (("size", "size"),), single=True)
    matched = Counter({(1, "a", 0.5, 3): 2, (2, "a", 2.0, 3): 1})
    unmatched = Counter({(3, None, 1.0, None): 1, (None, "b", 9.0, None): 1})
    assert rows(join, ROWS) == (matched + unmatched if how == "left" else matched)


def test_null_agrees_with_nothing(rows: Any) -> None:
    known = SemiJoin(Scan(VISITS), Scan(PLACES), (("place", "name"),))
    assert rows(known) == Counter({(1, "a", 0.5, 1): 2, (2, "a", 2.0, 2): 1})
    unknown = SemiJoin(Scan(VISITS), Scan(PLACES), (("place", "name"),), negated=True)
    assert rows(unknown) == Counter({(3, None, 1.0, 3): 1})


def test_private_members_are_a_persons_own(rows: Any) -> None:
    large = Filter(Scan(VISITS), call("greater", X, literal(1.5)))
    assert rows(SemiJoin(Scan(VISITS), large, (), on_owner=True)) == Counter({(2, "a", 2.0, 2): 1})
    assert set(rows(SemiJoin(Scan(VISITS), large, (("place", "place"),), negated=True, on_owner=True))) == {
        (1, "a", 0.5, 1),
        (3, None, 1.0, 3),
    }


def test_without_pairs_a_public_relation_meets_every_row(rows: Any) -> None:
    assert sum(rows(Join(Scan(VISITS), Scan(PLACES), (), "inner", (("size", "size"),))).values()) == 16
    assert rows(SemiJoin(Scan(VISITS), Scan(PLACES), ())) == rows(Scan(VISITS))
    assert not rows(SemiJoin(Scan(VISITS), Scan(PLACES), (), negated=True))


def test_one_column_of_the_right_may_come_twice(rows: Any) -> None:
    join = Join(Scan(VISITS), Scan(PLACES), (("place", "name"),), "inner", (("size", "first"), ("size", "second")))
    assert rows(join)[2, "a", 2.0, 3, 3, 2] == 1


VISITS_JOINED = (Scan(VISITS), Scan(VISITS), (("place", "place"),), "inner", ())
NUMBERED = (("n", "row_number", None, (), ((X, False),), WHOLE),)


@pytest.mark.parametrize(
    ("relation", "schema"),
    [
        (Join(*VISITS_JOINED), PEOPLE),
        (Join(Scan(PLACES), Scan(VISITS), (), "inner", (), on_owner=True), PEOPLE),
        (Join(Scan(VISITS), Scan(PLACES), (), "inner", (), on_owner=True), PEOPLE),
        (Join(Scan(BY_ROW), Scan(BY_ROW), (), "inner", (), on_owner=True), ROWS),
        (Join(Scan(BY_ROW), Scan(PLACES), (("place", "name"),), "inner", ()), ROWS),
        (SemiJoin(Scan(VISITS), Scan(VISITS), (("place", "place"),)), PEOPLE),
        (SemiJoin(Scan(BY_ROW), Scan(BY_ROW), (("place", "place"),), on_owner=True), ROWS),
        (UnionAll((Scan(VISITS), Scan(Table("visits", VISITS.columns, Public())))), PEOPLE),
        (PerPerson(Scan(BY_ROW), (), (("n", "count", None, WHOLE),)), ROWS),
        (Windowed(Scan(BY_ROW), NUMBERED), ROWS),
        (Windowed(Scan(VISITS), (("s", "sum", X, (), ((X, False),), REAL),)), PEOPLE),
    ],
)
def test_what_lets_others_rows_decide_is_refused(rows: Any, relation: Relation, schema: Schema) -> None:
    with pytest.raises(QuestionError) as caught:
        rows(relation, schema)
    assert caught.value.code == "SRD-Q107"


def test_constants_can_be_summarised(rows: Any) -> None:
    """SUM(1) is said often, and no engine object has it ready."""
    summaries = (("s", "sum", literal(1), WHOLE), ("m", "mean", literal(2.5), REAL), ("t", "max", literal("é"), TEXT))
    assert rows(PerPerson(Scan(VISITS), (("k", literal("c"), TEXT),), summaries))["c", 2, 2.5, "é", 1] == 1
    window = (("w", "lag", literal(3), (literal(1),), ((literal("x"), True),), WHOLE),)
    assert rows(Windowed(Scan(VISITS), window))[1, "a", 0.5, 3, 1] == 1


def test_given_orders_come_before_the_completion(rows: Any) -> None:
    twice = UnionAll((Scan(VISITS), Scan(VISITS)))
    source = Project(twice, (("x", call("add", X, ID), REAL), ("id", ID, WHOLE)))
    window = (("n", "row_number", None, (), ((X, True), (X, False)), WHOLE), ("r", "rank", None, (), (), WHOLE))
    first = {(1.5, 1, n, 1, 1): 1 for n in (1, 2, 3, 4)}
    others = {(4.0, person, n, 1, person): 1 for person in (2, 3) for n in (1, 2)}
    assert rows(Windowed(source, window)) == Counter({**first, **others})
    downwards = (("n", "row_number", None, (), ((X, True),), WHOLE),)
    spread = UnionAll((Project(source, (("x", X, REAL),)), Project(Scan(VISITS), (("x", X, REAL),))))
    assert set(rows(Windowed(spread, downwards))) >= {(4.0, 1, 2), (4.0, 2, 2), (2.0, 3, 2)}


@pytest.fixture(scope="module")
def crowd(engine: Engine) -> list[ibis.Table]:
    """One person's rows with many ties, forwards and backwards."""
    lines = [(1, "a" if n % 3 else "b", [0.1, 1e15, -1e15, 0.3, 1e300, -0.0][n % 6]) for n in range(60)]
    lines += [(2, "é", 0.5), (2, "Z", float("nan")), (2, "z", None)]
    return [
        engine.load("visits", pa.table(dict(zip(("id", "place", "x"), zip(*each, strict=True), strict=True))))
        for each in (lines, lines[::-1])
    ]


def test_two_numberings_of_equal_rows_do_not_depend_on_storage(engine: Engine, crowd: list[ibis.Table]) -> None:
    orders: tuple[Any, ...] = (((PLACE, False),), ((PLACE, True),), ((X, False),))
    windows = tuple((f"n{k}", "row_number", None, (), order, WHOLE) for k, order in enumerate(orders))
    windows += (("back", "lag", PLACE, (), ((X, True),), TEXT),)
    forwards, backwards = (
        Counter(
            map(str, rows_of(engine, lower_relation(Windowed(Scan(VISITS), windows), lambda _, t=table: t, PEOPLE)))
        )
        for table in crowd
    )
    assert forwards == backwards


def test_sums_of_floats_do_not_depend_on_storage(engine: Engine, crowd: list[ibis.Table]) -> None:
    """A float sum of 0.1, 10^15, −10^15 … would; and numbers beyond ±2^40 count as that."""
    functions = ("sum", "mean", "min", "max", "count", "count_distinct")
    summaries = tuple((name, name, X, WHOLE if name.startswith("count") else REAL) for name in functions)
    texts = (("first", "min", PLACE, TEXT), ("last", "max", PLACE, TEXT), ("whole", "sum", ID, WHOLE))
    relation = PerPerson(Scan(VISITS), (), (*summaries, *texts))
    step = 2.0**-20
    total = 10 * (round(0.1 / step) + round(0.3 / step)) * step + 10 * 2.0**40
    one = (total, total / 60, -1e15, 1e300, 60, 6, "a", "b", 60, 1)
    two = (0.5, 0.5, 0.5, 0.5, 1, 1, "Z", "é", 6, 2)
    for table in crowd:
        assert Counter(rows_of(engine, lower_relation(relation, lambda _, t=table: t, PEOPLE))) == Counter([one, two])


def test_texts_can_name_people(duckdb_engine: Engine) -> None:
    owner: Owner = OwnedByColumn("who")
    face = Table("t", {"who": TEXT}, owner)
    table = duckdb_engine.load("t", pa.table({"who": ["a", "A ", "a", None, ""]}))
    found = lower_relation(Scan(face), lambda _: table, Schema("s", {"t": face}, Unit("who")))
    assert found.schema()[OWNER].is_string()
    assert Counter(rows_of(duckdb_engine, found)) == Counter({("a", "a"): 2, ("A ", "A "): 1, ("", ""): 1})
