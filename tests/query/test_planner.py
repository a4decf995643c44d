"""Plans: what is given is what is spent, exactly; the better encoding is chosen; wishes are kept or refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from query.planning import (
    BINS,
    BY_CITY,
    BY_PLACE,
    BY_ROW,
    CITY,
    COLUMNS,
    COUNT,
    FARE,
    FREE,
    LATE,
    MEDIAN,
    NO_KEYS,
    PEOPLE,
    PLACE,
    SCHEMA,
    SEATS,
    TIP,
    TOP,
    ask,
    of,
    with_limits,
)
from sordino.accounting import accountants, approximate, pure, zcdp
from sordino.accounting.event import Event
from sordino.accounting.events import Approximate, Composed, DiscreteLaplace
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Column, Limits, OwnedByColumn, Public, Schema, Table
from sordino.errors import ArgumentError, QuestionError
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.laplace import Laplace
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef
from sordino.query.model.question import Key, KeyTable, Options, Question
from sordino.query.model.relation import Scan
from sordino.query.plan.encoding import weight_unit
from sordino.query.plan.plan import QueryPlan
from sordino.query.plan.planner import Wishes, plan
from sordino.query.plan.spend import Spend

MEAN, MEAN_TIP = of("mean", FARE), of("mean", TIP)
QUESTIONS: Mapping[str, Question] = {
    "count": ask(COUNT),
    "count-mean": ask(COUNT, MEAN),
    "two-means": ask(COUNT, MEAN, MEAN_TIP),
    "sums": ask(of("sum", FARE), of("sum", TIP), of("sum", SEATS)),
    "variance": ask(COUNT, of("variance", FARE)),
    "deviation-by-row": ask(of("deviation", TIP), schema=BY_ROW),
    "correlation": ask(of("correlation", FARE, TIP)),
    "regression": ask(of("regression", FARE, TIP, SEATS)),
    "people": ask(PEOPLE, COUNT),
    "distinct": ask(of("count_distinct", CITY), COUNT),
    "quantile": ask(MEDIAN),
    "extremes": ask(of("minimum", FARE), of("maximum", SEATS), COUNT),
    "top": ask(TOP, COUNT),
    "histogram": ask(BINS, MEAN),
    "everything": ask(COUNT, PEOPLE, MEAN, MEDIAN, TOP, BINS),
    "private": ask(COUNT, MEAN, keys=BY_PLACE),
    "private-quantile": ask(MEDIAN, COUNT, keys=BY_PLACE),
    "keys-alone": ask(keys=BY_PLACE),
}
DELTA = Fraction(1, 10**6)
epsilons = some.fractions(min_value=Fraction(1, 100), max_value=10, max_denominator=1000)


def scales(planned: QueryPlan) -> list[float]:
    """The standard deviation of each block's noise, in full rows of its reach."""
    return [
        math.sqrt(part.mechanism.variance_of_error) / part.block.reach / weight_unit(part.block, planned.bounding)
        for part in planned.blocks
    ]


def family(planned: QueryPlan) -> set[type]:
    return {type(part.mechanism) for part in (*planned.blocks, *planned.histograms)}


# ---- what is given is what is spent --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUESTIONS)
@given(epsilons)
@settings(deadline=None, max_examples=4)
def test_epsilon_given_is_epsilon_spent(name: str, epsilon: Fraction) -> None:
    planned = plan(QUESTIONS[name], Spend(epsilon, keys_delta=DELTA))
    assert pure.total(planned.event()) == epsilon
    assert approximate.own_delta(planned.event()) == (DELTA if planned.selection is not None else 0)
    assert family(planned) <= {Laplace}


@pytest.mark.parametrize("name", QUESTIONS)
@given(epsilons)
@settings(deadline=None, max_examples=4)
def test_rho_given_is_rho_spent(name: str, rho: Fraction) -> None:
    planned = plan(QUESTIONS[name], Spend(None, rho, keys_delta=DELTA))
    spent = zcdp.rho(planned.event())
    assert spent <= rho
    assert approximate.own_delta(planned.event()) == (DELTA if planned.selection is not None else 0)
    assert family(planned) <= {Gaussian}
    # A pure part costs less than its share where its ε is large: choices beyond ε ≈ 4.
    if not planned.choices:
        assert spent > rho * (1 - Fraction(1, 10**6))
    elif rho < 1:
        assert spent > rho * Fraction(4, 5)


@pytest.mark.parametrize("name", [each for each in QUESTIONS if each not in ("quantile", "keys-alone")])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_gaussian_noise_at_epsilon_and_delta(name: str, epsilon: Fraction) -> None:
    """Together with pure parts the whole is (ε, δ)-private by basic composition; alone, exactly and hardly less."""
    planned = plan(QUESTIONS[name], Spend(epsilon, None, DELTA, DELTA), Wishes(noise="gaussian"))
    assert family(planned) == {Gaussian}
    normal = [part.event for part in (*planned.blocks, *planned.histograms)]
    parts = [each.event for each in planned.choices]
    selected = None if planned.selection is None else planned.selection.event
    left = epsilon - sum((pure.total(each) for each in parts), Fraction(0))
    left -= pure.total(selected) if selected is not None else 0
    found = accountants.epsilon(Composed(tuple(normal)), DELTA, "gaussian")
    assert found <= left
    assert found > float(left) * 0.999


def test_private_keys_cost_their_own_part() -> None:
    planned = plan(QUESTIONS["private"], Spend(Fraction(1), keys_delta=DELTA))
    event = planned.event()
    assert isinstance(event, Composed)
    selected = event.events[0]
    assert isinstance(selected, Approximate)
    assert float(selected.epsilon) == pytest.approx(0.55, abs=1e-9)
    assert selected.delta == DELTA
    alone = plan(QUESTIONS["keys-alone"], Spend(Fraction(1), keys_delta=DELTA))
    assert alone.event() == Approximate(Fraction(1), DELTA)
    assert alone.selection is not None
    assert alone.bound == alone.selection.bound


def test_an_event_names_every_part_once() -> None:
    planned = plan(QUESTIONS["everything"], Spend(Fraction(1)))
    event = planned.event()
    assert isinstance(event, Composed)
    assert len(event.events) == len(planned.blocks) + len(planned.histograms) + len(planned.choices)
    assert planned.bound == planned.blocks[0].bound
    assert isinstance(plan(ask(COUNT), Spend(Fraction(1))).event(), DiscreteLaplace)


def test_plans_are_pure_functions() -> None:
    for name, question in QUESTIONS.items():
        one, other = (plan(question, Spend(Fraction(1), keys_delta=DELTA)) for _ in range(2))
        assert one == other, name
        assert hash(one.reading) == hash(other.reading)
        assert one.event().to_json() == other.event().to_json()


# ---- what is chosen ------------------------------------------------------------------------------------------------


def test_count_and_mean_share_one_pair() -> None:
    """The pair of a row adds up to one, so three rows cost a scale of 3 at ε = 1: not 6, as apart."""
    planned = plan(ask(COUNT, MEAN), Spend(Fraction(1)))
    assert [len(part.block.features) for part in planned.blocks] == [2]
    assert scales(planned) == pytest.approx([3 * math.sqrt(2)], rel=1e-3)
    assert planned.bounding == Bounding("weigh", rows=3)


def test_a_symmetric_sum_alone_is_read_directly() -> None:
    planned = plan(ask(of("sum", TIP)), Spend(Fraction(1)))
    assert [len(part.block.features) for part in planned.blocks] == [1]
    assert scales(planned) == pytest.approx([3 * math.sqrt(2)], rel=1e-3)


def test_a_correlation_takes_all_products_at_once() -> None:
    planned = plan(ask(of("correlation", FARE, LATE)), Spend(Fraction(1)))
    assert [len(part.block.features) for part in planned.blocks] == [9]


def wide(size: int) -> tuple[Schema, list[ColumnRef]]:
    columns = {f"x{place}": Column(Kind.REAL, Range.of(-1, 1), nullable=False) for place in range(size)}
    table = Table("trips", {**COLUMNS, **columns}, OwnedByColumn("user"), Limits(rows=1))
    return Schema("wide", {"trips": table}, SCHEMA.unit), [ColumnRef(Kind.REAL, name) for name in columns]


def test_gaussian_noise_where_there_are_many_columns() -> None:
    spend = Spend(Fraction(1), None, DELTA)
    schema, columns = wide(30)
    many = plan(ask(*(of("sum", column) for column in columns), schema=schema), spend)
    assert family(many) == {Gaussian}
    assert accountants.epsilon(many.event(), DELTA) <= 1
    assert family(plan(ask(COUNT), spend)) == {Laplace}


@pytest.mark.parametrize("name", ["count", "count-mean", "two-means", "sums", "variance", "correlation", "histogram"])
def test_no_wish_does_better_than_the_planner(name: str) -> None:
    """The least error is chosen: no way of bounding by the same limits, and no noise, has less in the first column."""
    question, spend = QUESTIONS[name], Spend(Fraction(1), None, DELTA)
    chosen = plan(question, spend)
    for noise in ("laplace", "gaussian"):
        other = plan(question, spend, Wishes(noise=noise))
        if family(other) == family(chosen):
            assert other == chosen


def test_the_order_of_columns_does_not_matter() -> None:
    """COUNT(x) beside AVG(x) is the same question as AVG(x) beside COUNT(x)."""
    first, second = (
        plan(ask(*asked), Spend(Fraction(1))) for asked in ((of("count", TIP), MEAN_TIP), (MEAN_TIP, of("count", TIP)))
    )
    assert [len(part.block.features) for part in first.blocks] == [len(part.block.features) for part in second.blocks]
    assert scales(first) == pytest.approx(scales(second))


def test_noise_is_whole_and_never_finer_than_its_numbers() -> None:
    for question in QUESTIONS.values():
        planned = plan(question, Spend(Fraction(1), keys_delta=DELTA))
        for part in (*planned.blocks, *planned.histograms):
            assert part.mechanism.grid.exponent >= 0


# ---- ways of bounding ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "asked", "keys", "wanted"),
    [
        (Limits(rows=3), (COUNT,), BY_CITY, Bounding("weigh", rows=3)),
        (Limits(rows=3), (PEOPLE,), BY_CITY, Bounding("groups", groups=3, rows_per_group=1)),
        (Limits(rows=2), (PEOPLE,), BY_CITY, Bounding("sample", rows=2)),
        (Limits(rows=3), (of("count_distinct", CITY),), BY_CITY, Bounding("sample", rows=3)),
        (Limits(groups=2, rows_per_group=1), (COUNT,), BY_CITY, Bounding("groups", groups=2, rows_per_group=1)),
        (Limits(groups=9, rows_per_group=1), (COUNT,), BY_CITY, Bounding("groups", groups=3, rows_per_group=1)),
        (Limits(rows=3), (COUNT,), BY_PLACE, Bounding("sample", rows=3)),
        (Limits(groups=1, rows_per_group=1), (COUNT,), BY_PLACE, Bounding("groups", groups=1, rows_per_group=1)),
        (Limits(), (PEOPLE,), NO_KEYS, Bounding("groups", groups=1, rows_per_group=1)),
    ],
)
def test_the_bounding_that_limits_allow(limits: Limits, asked: Any, keys: Any, wanted: Bounding) -> None:
    planned = plan(ask(*asked, keys=keys, schema=with_limits(limits)), Spend(Fraction(1), keys_delta=DELTA))
    assert planned.bounding == planned.task.bounding == wanted


def test_the_text_may_say_limits() -> None:
    assert plan(ask(COUNT, options=Options(rows=7)), Spend(Fraction(1))).bounding == Bounding("weigh", rows=7)


def test_rows_are_not_bounded() -> None:
    assert plan(ask(COUNT, schema=BY_ROW), Spend(Fraction(1))).bounding == Bounding("row", rows=1)


@pytest.mark.parametrize(
    "way", [Bounding("weigh", rows=5), Bounding("sample", rows=1), Bounding("groups", groups=1, rows_per_group=4)]
)
def test_a_wish_for_a_bounding_is_kept(way: Bounding) -> None:
    planned = plan(ask(COUNT, MEAN), Spend(Fraction(1)), Wishes(bounding=way))
    assert planned.bounding == planned.task.bounding == way
    assert pure.total(planned.event()) == 1


def test_weights_shift_the_error() -> None:
    question = ask(PEOPLE, COUNT)
    plain, weighed = (plan(question, Spend(Fraction(1)), Wishes(weights=each)) for each in ({}, {"c1": 20.0}))
    assert scales(weighed)[1] < scales(plain)[1] / 1.5
    assert scales(weighed)[0] > scales(plain)[0]
    assert pure.total(weighed.event()) == 1


def public(name: str, *columns: str) -> Scan:
    return Scan(Table(name, dict.fromkeys(columns, Column(Kind.TEXT)), Public()))


def test_keys_of_a_public_table_need_no_delta() -> None:
    question = ask(COUNT, keys=BY_PLACE, key_table=KeyTable(public("places", "name"), ("name",)))
    planned = plan(question, Spend(Fraction(1)))
    assert planned.selection is None
    assert planned.task.public_keys
    assert planned.task.key_table is question.key_table


REFUSALS: Mapping[str, tuple[Question, Spend, Wishes]] = {
    "SRD-Q301 text": (ask(of("sum", PLACE)), Spend(Fraction(1)), Wishes()),
    "SRD-Q301 median": (ask(of("quantile", PLACE, parameters=["1/2"])), Spend(Fraction(1)), Wishes()),
    "SRD-Q302": (ask(of("sum", FREE)), Spend(Fraction(1)), Wishes()),
    "SRD-Q302 median": (ask(of("quantile", FREE, parameters=["1/2"])), Spend(Fraction(1)), Wishes()),
    "SRD-Q303": (ask(MEAN), Spend(Fraction(1)), Wishes(ranges={FARE: Range.of(3, 3)})),
    "SRD-Q323": (ask(of("variance", FARE)), Spend(Fraction(1)), Wishes(ranges={FARE: Range.of(0, 10**71)})),
    "SRD-Q304": (ask(of("correlation", FARE, FARE)), Spend(Fraction(1)), Wishes()),
    "SRD-Q305": (ask(COUNT, keys=BY_PLACE), Spend(Fraction(1)), Wishes()),
    "SRD-Q306 epsilon": (ask(COUNT), Spend(Fraction(1)), Wishes(noise="gaussian")),
    "SRD-Q306 rho": (ask(COUNT), Spend(None, Fraction(1)), Wishes(noise="laplace")),
    "SRD-Q306 norm": (ask(COUNT), Spend(Fraction(1), None, DELTA), Wishes(Bounding("norm", rows=2), noise="laplace")),
    "SRD-Q307 name": (ask(COUNT), Spend(Fraction(1)), Wishes(weights={"nothing": 1.0})),
    "SRD-Q307 size": (ask(COUNT), Spend(Fraction(1)), Wishes(weights={"c0": 0.0})),
    "SRD-Q307 infinite": (ask(COUNT), Spend(Fraction(1)), Wishes(weights={"c0": math.inf})),
    "SRD-Q308 level": (ask(of("quantile", FARE, parameters=["1/1001"])), Spend(Fraction(1)), Wishes()),
    "SRD-Q308 above": (ask(of("quantile", FARE, parameters=["3/2"])), Spend(Fraction(1)), Wishes()),
    "SRD-Q308 top": (ask(of("top", CITY, parameters=[4])), Spend(Fraction(1)), Wishes()),
    "SRD-Q309": (ask(of("top", PLACE, parameters=[1])), Spend(Fraction(1)), Wishes()),
    "SRD-Q310 row": (ask(COUNT), Spend(Fraction(1)), Wishes(Bounding("row", rows=1))),
    "SRD-Q310 person": (ask(COUNT, schema=BY_ROW), Spend(Fraction(1)), Wishes(Bounding("weigh", rows=1))),
    "SRD-Q310 copies": (ask(COUNT, schema=BY_ROW), Spend(Fraction(1)), Wishes(Bounding("row", rows=2))),
    "SRD-Q310 distinct": (ask(of("count_distinct", CITY)), Spend(Fraction(1)), Wishes(Bounding("weigh", rows=2))),
    "SRD-Q310 people": (ask(PEOPLE), Spend(Fraction(1)), Wishes(Bounding("weigh", rows=2))),
    "SRD-Q310 keys": (
        ask(COUNT, keys=BY_PLACE),
        Spend(Fraction(1), keys_delta=DELTA),
        Wishes(Bounding("weigh", rows=2)),
    ),
    "SRD-Q311": (ask(COUNT, schema=with_limits(Limits())), Spend(Fraction(1)), Wishes()),
    "SRD-Q311 keys": (ask(keys=BY_PLACE, schema=with_limits(Limits())), Spend(Fraction(1), keys_delta=DELTA), Wishes()),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_planned_is_refused_with_a_code(name: str) -> None:
    question, spend, wishes = REFUSALS[name]
    with pytest.raises(QuestionError) as refusal:
        plan(question, spend, wishes)
    assert refusal.value.code == name.split()[0]
    assert len(str(refusal.value)) > 40


MISLED: Mapping[str, tuple[Question, Spend, Wishes]] = {
    "norm without a delta": (ask(COUNT), Spend(Fraction(1)), Wishes(bounding=Bounding("norm", rows=3))),
    "a gaussian quantile": (ask(MEDIAN), Spend(Fraction(1), None, DELTA), Wishes(noise="gaussian")),
    "nothing asked": (ask(), Spend(Fraction(1)), Wishes()),
}


def test_a_noise_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ArgumentError, match="gaussian"):
        Wishes(noise="loud")


@pytest.mark.parametrize("name", MISLED)
def test_refusals_speak_of_what_is_wrong(name: str) -> None:
    """Refused, and not for missing limits: those are declared."""
    question, spend, wishes = MISLED[name]
    with pytest.raises(QuestionError) as refusal:
        plan(question, spend, wishes)
    assert refusal.value.code != "SRD-Q311"


def test_many_columns_do_not_explode() -> None:
    schema, columns = wide(8)
    planned = plan(ask(of("regression", *columns), schema=schema), Spend(Fraction(1)))
    assert pure.total(planned.event()) == 1
    assert sum(len(part.block.features) for part in planned.blocks) <= 64


def test_keys_that_nobody_lists_have_no_number() -> None:
    keys = (*BY_CITY, Key("late", LATE, Column(Kind.INTEGER, keys=(0, 1))))
    planned = plan(ask(COUNT, keys=keys), Spend(None, Fraction(1)), Wishes(bounding=Bounding("norm", rows=2)))
    assert planned.blocks[0].bound.l0 == 6
    event: Event = planned.event()
    assert zcdp.rho(event) == 1
