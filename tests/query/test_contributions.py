"""What is kept of each person: their own rows, no more than allowed, chosen evenly, by nobody else's rows."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from query.engines import Engine
from query.exact_worlds import CITIES, Row, X, as_lists, key, load, reference, run, task, visit
from sordino.data.kinds import Range
from sordino.query.engine import contributions, hashing
from sordino.query.engine.measures import whole
from sordino.query.model.bounding import WEIGHT_UNIT, Bounding
from sordino.query.model.task import Histogram, Measure, Monomial

ONE = (Monomial(()),)
EACH_ROW = Histogram(reference("n"), Range.of(0, 64), 64)
"""Shows which rows were kept, where each row has an n of its own."""


def kept(engine: Engine, rows: list[Row], bounding: Bounding, salt: int = 5) -> dict[int, int]:
    """Return what each n weighs."""
    asked = task(bounding, key("level", *range(8)), measures=(), monomials=ONE, histograms=(EACH_ROW,), people=True)
    found = run(asked, load(engine, rows), salt)
    assert found.sums[0].sum() == found.histograms[0][:, 2].sum()
    return {int(bucket): int(weight) for _, bucket, weight in found.histograms[0]}


def many(person: int, count: int, start: int = 0) -> list[Row]:
    return [visit(person, level=n % 8, n=n) for n in range(start, start + count)]


def test_a_sample_is_of_ones_own_rows_and_no_larger_than_allowed(engine: Engine) -> None:
    rows = [*many(1, 20), *many(2, 2, start=20), *many(3, 3, start=30)]
    weights = kept(engine, rows, Bounding("sample", rows=3))
    owners = Counter(1 if n < 20 else 2 if n < 30 else 3 for n in weights)
    assert owners == {1: 3, 2: 2, 3: 3}
    assert set(weights.values()) == {1}


@pytest.mark.parametrize("bounding", [Bounding("sample", rows=2), Bounding("groups", groups=2, rows_per_group=1)])
def test_others_do_not_change_what_is_kept_of_one(engine: Engine, bounding: Bounding) -> None:
    mine, alone = many(1, 16), kept(engine, many(1, 16), bounding)
    assert 2 <= len(alone) <= 4
    for other in (2, -5):
        crowd = kept(engine, [*many(other, 30, start=20), *mine], bounding)
        assert {n: weight for n, weight in crowd.items() if n < 16} == alone


def test_equal_rows_count_one_by_one(engine: Engine) -> None:
    same = [visit(1, level=0, n=7)] * 10
    assert kept(engine, same, Bounding("sample", rows=4)) == {7: 4}
    assert kept(engine, same, Bounding("weigh", rows=4)) == {7: 10 * (4 * WEIGHT_UNIT // 10)}
    assert kept(engine, same, Bounding("groups", groups=1, rows_per_group=4)) == {7: 10 * (4 * WEIGHT_UNIT // 10)}


@pytest.mark.parametrize("way", ["packed", "ordered"])
def test_every_row_is_kept_as_often(duckdb_engine: Engine, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 8 rows 2 are kept, of each of 2,000 people: each row about 500 times (standard deviation 19)."""
    if way == "ordered":
        monkeypatch.setattr(contributions, "can_pack", lambda *_: False)
    rows = [visit(person, level=n, n=n) for person in range(2000) for n in range(8)]
    weights = kept(duckdb_engine, rows, Bounding("sample", rows=2))
    assert sum(weights.values()) == 4000
    assert all(abs(weights[n] - 500) < 6 * 19 for n in range(8)), weights


def buys_kept(engine: Engine, people: int, views: int, limit: int) -> int:
    """Return how many of the one buy that each person has, beside equal views, are in the sample."""
    rows = [visit(person, level=0, n=n) for person in range(people) for n in [1] + [0] * views]
    weights = kept(engine, rows, Bounding("sample", rows=limit))
    assert sum(weights.values()) == people * limit
    return weights.get(1, 0)


@pytest.mark.parametrize("way", ["packed", "ordered"])
def test_equal_rows_are_chosen_one_by_one(duckdb_engine: Engine, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 19 equal rows and another 2 are kept: the other one of each tenth of 2,000 people, 200 (deviation 13.4).

    If equal rows had equal hashes, it would be that of each second.
    """
    if way == "ordered":
        monkeypatch.setattr(contributions, "can_pack", lambda *_: False)
    assert abs(buys_kept(duckdb_engine, 2000, 19, 2) - 200) < 6 * 13.4


def test_equal_rows_are_chosen_one_by_one_on_every_engine(engine: Engine) -> None:
    """A twentieth of 400 people, 20 (deviation 4.4); half of them if equal rows were kept or left out together."""
    assert 0 < buys_kept(engine, 400, 19, 1) < 20 + 6 * 4.4


@pytest.mark.parametrize("way", ["packed", "ordered"])
@pytest.mark.parametrize("counts", [(1, 1, 1, 1, 1), (4, 1), (1, 3, 2), (6,), (2, 2, 2), (7, 1, 1, 3), (1,)])
def test_of_all_starts_each_row_has_its_share(
    duckdb_engine: Engine, counts: tuple[int, ...], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of n rows of one person, some of them equal, each is kept from exactly k of n starts."""
    if way == "ordered":
        monkeypatch.setattr(contributions, "can_pack", lambda *_: False)
    size, table = sum(counts), [visit(1, level=n, n=n) for n, count in enumerate(counts) for _ in range(count)]
    for limit in {1, 2, size // 2 + 1, size - 1, size, size + 1} - {0}:
        weights: Counter[int] = Counter()
        for start in range(2**60 - size, 2**60):
            monkeypatch.setattr(contributions, "keyed_number", lambda *_, start=start: whole(start))
            weights += Counter(kept(duckdb_engine, table, Bounding("sample", rows=limit)))
        assert weights == {n: count * min(limit, size) for n, count in enumerate(counts)}


@given(st.integers(1, 40), st.integers(1, 45), st.integers(0, 2**60 - 1))
def test_exactly_the_limit_is_kept_and_equal_rows_in_their_share(size: int, limit: int, start: int) -> None:
    """The proof in ``contributions.py`` by counting: k in all, and of any m side by side m·k/n, rounded up or down."""
    places = [(limit * place + start) % size < limit for place in range(size)]
    assert sum(places) == min(limit, size)
    share = Fraction(min(limit, size), size)
    for first, last in combinations(range(size + 1), 2):
        assert abs(sum(places[first:last]) - share * (last - first)) < 1


def test_one_in_a_hundred_comes_out_as_one_in_a_hundred(duckdb_engine: Engine) -> None:
    """A buy beside 99 views, ten rows kept of each of 2,000 people: 200 of 20,000 (deviation 13.4).

    If equal rows were kept or left out together, it would be 1,000.
    """
    assert abs(buys_kept(duckdb_engine, 2000, 99, 10) - 200) < 6 * 13.4


def test_engines_with_one_hash_keep_the_same_rows(
    engine: Engine, duckdb_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hash for engines that have none of their own means the same everywhere, and so do places and starts."""
    monkeypatch.setattr(hashing, "_BY_ENGINE", {})
    monkeypatch.setattr(contributions, "can_pack", lambda *_: False)
    rows = [visit(person, level=n % 11 % 8, n=n % 11) for person in range(30) for n in range(person)]
    for limit in (1, 4, 13):
        here, there = (kept(each, rows, Bounding("sample", rows=limit)) for each in (engine, duckdb_engine))
        assert here == there
        assert sum(here.values()) == sum(min(person, limit) for person in range(30))


def test_every_group_is_kept_as_often(duckdb_engine: Engine) -> None:
    rows = [visit(person, level=n, n=n) for person in range(2000) for n in range(8)]
    weights = kept(duckdb_engine, rows, Bounding("groups", groups=2, rows_per_group=1))
    assert sum(weights.values()) == 4000 * WEIGHT_UNIT
    assert all(abs(weights[n] / WEIGHT_UNIT - 500) < 6 * 19 for n in range(8)), weights


def test_packed_and_ordered_samples_add_up_alike(duckdb_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one row kept of several equal ones, both ways must give the same, NULL and the ends of ranges included."""
    hostile = [None, float("nan"), -4.0, 4.0, 0.0, 1e308, -1e308]
    rows = [visit(person, CITIES[person % 4], x=x) for person, x in enumerate(hostile) for _ in range(3)]
    asked = task(Bounding("sample", rows=1), key("city", *CITIES), people=True)
    packed = as_lists(run(asked, load(duckdb_engine, rows)))
    monkeypatch.setattr(contributions, "can_pack", lambda *_: False)
    assert as_lists(run(asked, load(duckdb_engine, rows))) == packed


def test_rows_too_wide_for_packing_are_ordered(duckdb_engine: Engine) -> None:
    wide = Measure(reference("x"), Range.of(-4, 4), 2**40, missing_is_middle=True)
    asked = task(Bounding("sample", rows=1), measures=(wide,), monomials=(Monomial((1,), frozenset({0})),))
    table = load(duckdb_engine, [visit(1, x=4.0), visit(2, x=-1.0), visit(2, x=-1.0)])
    assert run(asked, table).sums.tolist() == [[2**40 - 2**38]]


@pytest.mark.parametrize(("counts", "limit"), [((1,), 1), ((3, 4), 5), ((3, 4), 4), ((1, 1, 1), 1), ((7, 1, 9, 2), 3)])
def test_the_norm_is_kept_and_nearly_reached(engine: Engine, counts: tuple[int, ...], limit: int) -> None:
    rows = [visit(1, level=level) for level, count in enumerate(counts) for _ in range(count)]
    asked = task(Bounding("norm", rows=limit), key("level", *range(8)), measures=(), monomials=ONE)
    squared = sum(Fraction(int(weight), WEIGHT_UNIT) ** 2 for weight in run(asked, load(engine, rows)).sums[0])
    true = sum(count**2 for count in counts)
    assert squared <= limit**2
    assert squared >= min(true, limit**2) * Fraction(999, 1000)


def test_a_person_with_more_rows_than_weights_can_tell_weighs_nothing(duckdb_engine: Engine) -> None:
    table = load(duckdb_engine, [visit(1)] * 70_000)
    for bounding in (Bounding("weigh", rows=1), Bounding("groups", groups=1, rows_per_group=1)):
        assert run(task(bounding, measures=(X,), monomials=(Monomial((0,)),)), table).sums.tolist() == [[0]]
