"""What bounding cuts off, in amounts: right where noise is small, bounded for whoever comes, noisy as claimed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as so
from query.engines import Engine
from sordino.accounting import pure
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.relation import charged_as
from sordino.mechanisms.laplace import Laplace
from sordino.query.ask import TableAccount
from sordino.query.model.bounding import Bounding
from sordino.query.model.task import Exact
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes
from sordino.query.plan.spend import Spend
from sordino.query.plan.truncation import CAP, STEPS, Truncation, losses, pair_of, task_of
from sordino.query.plan.whole import plan_whole
from sordino.query.release.whole import _estimate

MUCH = 10_000
Visit = tuple[str, float | None]
WAYS = {
    "weigh": so.bounding("weigh", rows=2),
    "sample": so.bounding("sample", rows=2),
    "groups": so.bounding("groups", groups=2, rows_per_group=1),
    "norm": so.bounding("norm", rows=2),
}
SIGMAS = 6  # of a mean over independent draws: missed by chance once in 5e8


def visits(people: Sequence[Sequence[Visit]]) -> TableAccount:
    """Return two tables of the same people, with limits that bite, on an account without a cap."""
    rows = [(person, city, fare) for person, mine in enumerate(people) for city, fare in mine]
    columns = {
        "rider": pa.array([row[0] for row in rows], pa.int64()),
        "city": pa.array([row[1] for row in rows], pa.string()),
        "fare": pa.array([row[2] for row in rows], pa.float64()),
    }
    riders = pa.table({"rider": list(range(len(people))), "age": [20 + n for n in range(len(people))]})
    data = so.dataset(
        "town",
        {
            "trips": so.private(
                pa.table(columns),
                unit="rider",
                columns={"fare": so.bounds(0, 10), "city": so.keys(["a", "b", "c"])},
                limits=so.limits(rows=2, groups=2, rows_per_group=1),
            ),
            "riders": so.private(riders, unit="rider", limits=so.limits(rows=1)),
        },
        unit="rider",
    )
    return so.account(data, so.unlimited("made-up people"))


def kept_by(way: Bounding, mine: Sequence[Visit], values: Sequence[float]) -> float:
    """Return what is left of values of one person's rows, on average over what is chosen: by the definition."""
    sizes = {city: sum(each == city for each, _ in mine) for city, _ in mine}
    if way.method in ("weigh", "sample"):
        return sum(values) * min(1, (way.rows or 0) / len(mine))
    if way.method == "norm":
        return sum(values) * min(1, (way.rows or 0) / float(np.sqrt(sum(size**2 for size in sizes.values()))))
    weighed = sum(
        value * min(1, (way.rows_per_group or 0) / sizes[city]) for (city, _), value in zip(mine, values, strict=True)
    )
    return weighed * min(1, (way.groups or 0) / len(sizes))


def lost_rows(way: Bounding, people: Sequence[Sequence[Visit]]) -> float:
    most = CAP * (way.l1 or way.linf)
    return sum(min(len(mine) - kept_by(way, mine, [1.0] * len(mine)), most) for mine in people if mine)


def lost_fares(way: Bounding, people: Sequence[Sequence[Visit]]) -> tuple[float, int]:
    """Return what is lost of the sum, and how many lose more than the cap."""
    most, total, beyond = CAP * (way.l1 or way.linf) * 10, 0.0, 0
    for mine in filter(None, people):
        fares = [0.0 if fare is None else float(fare) for _, fare in mine]
        lost = sum(fares) - kept_by(way, mine, [min(max(fare, 0), 10) for fare in fares])
        total, beyond = total + min(max(lost, -most), most), beyond + (abs(lost) > most)
    return total, beyond


ASKED = {
    False: "SELECT COUNT(*) AS n, SUM(fare) AS s FROM trips",
    True: "SELECT city, COUNT(*) AS n, SUM(fare) AS s FROM trips GROUP BY city",
}
PEOPLE: list[list[Visit]] = [
    [("a", 5.0)],
    [("a", 50.0), ("b", None)],
    [("a", 3.0)] * 7 + [("b", -4.0)] * 2 + [("c", 20.0)],
    [(city, float(fare)) for city, fare in itertools.product("abc", range(0, 30, 3))],
    [("b", 2.0)] * 90,
    [("c", 1e12)],
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("grouped", [False, True])
def test_the_amount_that_is_lost_is_told(way: str, grouped: bool) -> None:
    text = ASKED[grouped]
    mine = PEOPLE if grouped else [[("a", fare) for _, fare in each] for each in PEOPLE]
    paid: dict[str, Any] = {"rho": MUCH} if way == "norm" else {"epsilon": MUCH}
    answer = visits(PEOPLE).sql(text).run(truncation=True, bounding=WAYS[way], **paid)
    rows, fares = answer.details["truncation"]
    assert (rows["what"], rows["of"], fares["what"], fares["of"]) == ("rows", None, "sum", "fare")
    assert rows["amount"] == pytest.approx(lost_rows(WAYS[way], mine), abs=8 * rows["within"] + 0.1)
    amount, beyond = lost_fares(WAYS[way], mine)
    assert fares["amount"] == pytest.approx(amount, abs=8 * fares["within"] + 1)
    assert fares["beyond"] == pytest.approx(beyond, abs=0.4)
    assert beyond >= 1  # whoever has 1e12
    assert any(note.startswith("limits cut off about ") and "noise only" in note for note in answer.notes)
    assert any("the sum of fare, over all groups, too low by about" in note for note in answer.notes)


def test_counts_of_people_lack_places_in_groups() -> None:
    asked = visits(PEOPLE * 100).sql("SELECT city, COUNT(DISTINCT rider) AS n FROM trips GROUP BY city")
    answer = asked.run(epsilon=500, truncation=True, bounding=WAYS["groups"])
    (places,) = answer.details["truncation"]
    assert places["what"] == "places"
    assert places["amount"] == pytest.approx(200, abs=8 * places["within"])  # two of six are in three cities
    assert places["within"] < 10
    alone = visits(PEOPLE).sql("SELECT COUNT(DISTINCT rider) AS n FROM trips").run(epsilon=1, truncation=True)
    assert "truncation" not in alone.details


def test_nothing_lost_and_much_lost_read_differently() -> None:
    """The same note used to appear whether nothing or four fifths were lost."""
    many = [[("a", 1.0)] * 10 for _ in range(400)]
    few = [[("a", 1.0)] for _ in range(400)]
    text = "SELECT COUNT(*) AS n FROM trips"
    lost = [visits(each).sql(text).run(epsilon=200, truncation=True).details["truncation"][0] for each in (few, many)]
    assert abs(lost[0]["amount"]) < 0.2 * lost[1]["amount"]
    assert lost[1]["amount"] == pytest.approx(3600, abs=8 * lost[1]["within"])


def test_rows_that_are_units_lose_by_clipping_alone() -> None:
    table = pa.table({"fare": [1.0, 11.0, -3.0, None, 1e9, float("nan"), float("inf")]})
    data = so.dataset("rows", table, unit=so.ROW, columns={"fare": so.bounds(0, 10)})
    answer = (
        so.account(data, so.unlimited("made up"))
        .sql("SELECT SUM(fare) AS s FROM rows")
        .run(epsilon=MUCH, truncation=True)
    )
    (fares,) = answer.details["truncation"]
    assert fares["amount"] == pytest.approx(1 - 3 + 160, abs=8 * fares["within"])
    assert fares["within"] < 2
    assert fares["beyond"] == pytest.approx(1, abs=0.2)
    assert any("the sum of fare, over all groups, too low by about 1" in note for note in answer.notes)


# ---- the neighbour oracle -------------------------------------------------------------------------------------------

BAGS: list[list[Visit]] = [
    [],
    [("a", 5.0)],
    [("a", 5.0)] * 3,
    [("a", 1e308), ("b", -1e308)],
    [("a", float("nan")), ("b", float("inf")), ("c", float("-inf"))],
    [("a", -1e9), ("elsewhere", 7.0)],
    [("a", None), ("c", 4.0)] * 20,
    [("b", 9.0)] * 400,
    [("a", 2.0**40)] * 3 + [("b", 5e-324)] * 50,
]
QUESTIONS = {
    "all": "SELECT COUNT(*) AS n, SUM(fare) AS s, MAX(age) AS a FROM {trips}",
    "by city": "SELECT city, COUNT(*) AS n, SUM(fare) AS s FROM {trips} GROUP BY city",
    "twice": "SELECT COUNT(*) AS n, SUM(fare) AS s FROM (SELECT * FROM trips UNION ALL SELECT * FROM trips) AS t",
}
JOINED = "(SELECT t.city, t.fare, r.age FROM trips AS t JOIN riders AS r ON t.rider = r.rider) AS joined"


def planned(data: TableAccount, text: str, way: Bounding) -> tuple[Truncation, QueryPlan]:
    spend = Spend(None, Fraction(1)) if way.method == "norm" else Spend(Fraction(1))
    question = data.sql(text.format(trips=JOINED).replace("MAX(age)", "SUM(CLIP(age, 0, 30))")).question
    whole = plan_whole(question, spend, Wishes(bounding=way), truncation=True)
    assert whole.truncation is not None
    return whole.truncation, whole.passes[0]


def pairs(people: list[list[Visit]], text: str, way: Bounding, salt: int = 1) -> list[tuple[int, int]]:
    """Return what noise is added to, for each estimate of a question."""
    data = visits(people)
    truncation, plan = planned(data, text, way)
    found = []
    for lost in losses(truncation, plan):
        sums = data.compute(task_of(lost, truncation), salt).sums[:, 0]
        found.append(pair_of((int(sums[0]), int(sums[1]), int(sums[2]))))
    return found


def moved(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> list[int]:
    return [abs(a - c) + abs(b - d) for (a, b), (c, d) in zip(one, other, strict=True)]


CASES = [*((way, "by city") for way in WAYS), ("sample", "all"), ("groups", "twice")]


@pytest.mark.parametrize(("way", "question"), CASES)
def test_whoever_comes_goes_or_changes_moves_an_estimate_by_its_bound_at_most(way: str, question: str) -> None:
    others: list[list[Visit]] = [[("a", 4.0), ("b", 12.0), ("b", None)], [("c", 3.0)] * 5]
    seen = [pairs([*others, bag], QUESTIONS[question], WAYS[way]) for bag in BAGS]
    claim = planned(visits(others), QUESTIONS[question], WAYS[way])[0].bound
    assert (claim.l0, claim.l1, claim.l2_squared, claim.linf) == (1, STEPS, STEPS**2, STEPS)
    come = [moved(seen[0], each) for each in seen[1:]]
    assert max(max(each) for each in come) == STEPS  # somebody is beyond the cap: half of the claim would be refuted
    for pair in (each for found in seen[1:] for each in zip(found, seen[0], strict=True)):
        assert sum(one != other for one, other in zip(*pair, strict=True)) <= claim.l0
    changed = [moved(one, other) for one, other in itertools.combinations(seen, 2)]
    assert max(max(each) for each in changed) <= 2 * STEPS


def test_all_engines_lose_the_same(engine: Engine) -> None:
    world = [[("a", 4.0), ("b", 12.0), ("b", None)], [("c", 3.0)] * 5, *BAGS]
    rows = [(person, city, fare) for person, mine in enumerate(world) for city, fare in mine]
    whose, cities, fares = zip(*rows, strict=True)
    table = pa.table({"rider": list(whose), "city": list(cities), "fare": pa.array(fares, pa.float64())})
    columns = {"fare": so.bounds(0, 10), "city": so.keys(["a", "b", "c"])}
    limits = so.limits(rows=2, groups=2, rows_per_group=1)
    data = so.account(
        so.dataset("trips", engine.load("lost", table), unit="rider", columns=columns, limits=limits),
        so.unlimited("made-up people"),
    )
    for way in WAYS.values():
        truncation, plan = planned(data, ASKED[True], way)
        expected = pairs(world, ASKED[True], way)
        for lost, pair in zip(losses(truncation, plan), expected, strict=True):
            sums = data.compute(task_of(lost, truncation), 1).sums[:, 0]
            found = pair_of((int(sums[0]), int(sums[1]), int(sums[2])))
            assert moved([found], [pair])[0] <= len(world)  # where a half is rounded, one step each


def test_a_row_that_becomes_two_moves_an_estimate_by_twice_as_much() -> None:
    def of(fares: list[float]) -> tuple[Truncation, tuple[int, int]]:
        data = so.account(
            so.dataset("rows", pa.table({"fare": fares}), unit=so.ROW, columns={"fare": so.bounds(0, 10)}),
            so.unlimited("made up"),
        )
        text = "SELECT SUM(fare) AS s FROM (SELECT fare FROM rows UNION ALL SELECT fare FROM rows) AS twice"
        whole = plan_whole(data.sql(text).question, Spend(Fraction(1)), Wishes(), truncation=True)
        assert whole.truncation is not None
        (lost,) = losses(whole.truncation, whole.passes[0])
        sums = data.compute(task_of(lost, whole.truncation), 1).sums[:, 0]
        return whole.truncation, pair_of((int(sums[0]), int(sums[1]), int(sums[2])))

    truncation, without = of([3.0, 12.0])
    assert truncation.bound.l1 == 2 * STEPS
    reached = [moved([without], [of([3.0, 12.0, more])[1]])[0] for more in (1.0, 30.0, -1e9, 1e300, 160.0)]
    assert max(reached) == 2 * STEPS


def test_the_event_says_what_the_noise_costs_under_both_relations() -> None:
    truncation, _ = planned(visits(PEOPLE), QUESTIONS["by city"], WAYS["weigh"])
    each = truncation.events()[0]
    spent = pure.total(each)
    assert spent == Fraction(1, 20)
    assert truncation.mechanism == Laplace.for_epsilon(spent, truncation.bound)
    assert pure.total(charged_as(each, Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE)) == 2 * spent
    for wrong in (Fraction(7, 10), Fraction(13, 10)):
        other = Laplace(truncation.mechanism.scale * wrong, truncation.mechanism.grid)
        assert pure.total(other.event(truncation.bound)) != spent


def test_the_noise_is_as_wide_as_claimed_and_neither_narrower_nor_wider() -> None:
    truncation, plan = planned(visits(PEOPLE), QUESTIONS["by city"], WAYS["weigh"])
    exact = (40 * STEPS, 10 * STEPS, 3)

    def compute(*_: Any) -> Exact:
        sums = np.array(exact, dtype=np.int64).reshape(3, 1)
        return Exact((), sums, None, np.zeros((0, 1), np.int64), ())

    drawn = [each for _ in range(2_000) for each in _estimate(truncation, plan, compute)]
    steps, beyond = pair_of(exact)
    sizes = np.abs([each.steps - steps for each in drawn] + [each.beyond - beyond for each in drawn])
    claimed = STEPS / (1 / 20)
    for factor, right in ((1.0, True), (0.7, False), (1.3, False)):
        off = abs(sizes.mean() / (factor * claimed) - 1) * np.sqrt(len(sizes))
        assert (off < SIGMAS) == right, (factor, off, len(sizes))
    true = (steps + beyond) / STEPS * float(drawn[0].lost.cap)
    held = [abs(each.amount - true) <= each.off(0.9)[0] for each in drawn[:: truncation.count]]
    misses = abs(np.mean(held) - 0.9) * np.sqrt(2_000 / 0.09)
    assert misses < SIGMAS, np.mean(held)
