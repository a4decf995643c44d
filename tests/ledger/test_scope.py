"""Scopes, periods and rules: one spelling for each, and no rule that promises more than its budget."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.books import ADA, PEOPLE, TRIPS, policy, rule
from sordino.accounting.budget import Budget
from sordino.accounting.filter import Filter
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.units import SATURATED
from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.periods import LATEST, checked_refresh, moment, period, starts
from sordino.ledger.rule import Rule
from sordino.ledger.scope import Scope
from sordino.ledger.vectors import read_vector, summed, vector_text

RENYI = Budget(epsilon=1, delta=Fraction(1, 10**6))


@pytest.mark.parametrize("kind", ["dataset", "group", "analyst", "project"])
def test_a_scope_has_one_spelling(kind: str) -> None:
    scope = Scope.parse(f"{kind}:a:b é")
    assert (scope.kind, scope.name, scope.text) == (kind, "a:b é", f"{kind}:a:b é")
    assert Scope.parse(scope.text) == scope


@pytest.mark.parametrize(
    "text",
    ["trips", "table:trips", "dataset:", "dataset: trips", "dataset:a\nb", "dataset:e\u0301", f"dataset:{'x' * 201}"],
)
def test_other_spellings_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        Scope.parse(text)


def test_a_block_is_a_day_of_a_data_set() -> None:
    block = TRIPS.block("2026-11-03")
    assert block.whole == TRIPS
    assert block.text == TRIPS.text
    assert str(block) == "data set 'trips' on 2026-11-03"
    assert repr(block) == "Scope(dataset:trips, day 2026-11-03)"
    with pytest.raises(ArgumentError, match="only a data set has days"):
        ADA.block("2026-11-03")


@pytest.mark.parametrize("day", ["2026-11-3", "20261103", "2026-13-01", "2026-W45-2", "2026-11-03T00", 7, None])
def test_a_day_has_one_spelling(day: str) -> None:
    with pytest.raises(ArgumentError, match="2026-11-03"):
        TRIPS.block(day)


@given(st.integers(0, LATEST), st.sampled_from(["day", "week", "month", 1, 3600, 90_000]))
@settings(deadline=None)
def test_every_moment_lies_in_its_period(time: int, refresh: str | int) -> None:
    number = period(refresh, time)
    assert starts(refresh, number) <= time < starts(refresh, number + 1)
    assert period(refresh, starts(refresh, number + 1)) == number + 1


@given(st.datetimes(datetime(1970, 1, 1), datetime(9998, 12, 31)))
@settings(deadline=None)
def test_periods_are_those_of_the_calendar(naive: datetime) -> None:
    when = naive.replace(tzinfo=UTC)
    time = (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)

    def start(refresh: str) -> str:
        return moment(starts(refresh, period(refresh, time)))

    assert start("day") == f"{when:%Y-%m-%dT00:00:00Z}" or when.year < 1000
    assert start("month")[4:] == f"{when:-%m-01T00:00:00Z}"
    week = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=starts("week", period("week", time)))
    assert week.weekday() == 0
    assert week <= when < week + timedelta(days=7)


@pytest.mark.parametrize("refresh", ["year", "", 0, -1, True, 1.5, 10**9])
def test_other_periods_are_refused(refresh: object) -> None:
    with pytest.raises(ArgumentError):
        checked_refresh(refresh)


@pytest.mark.parametrize("text", ["", " ", "01", "1  2", "+1", "-1", "1 ", " 1", "1_0", "٣", str(SATURATED + 1), "1e3"])
def test_a_vector_has_one_spelling(text: str) -> None:
    with pytest.raises(ValueError, match="amounts"):
        read_vector(text)


@given(st.lists(st.integers(0, SATURATED), min_size=1, max_size=30))
@settings(deadline=None)
def test_vectors_come_back_and_add_up_to_saturation(amounts: list[int]) -> None:
    vector = tuple(amounts)
    assert read_vector(vector_text(vector)) == vector
    assert summed(vector, vector) == tuple(min(2 * units, SATURATED) for units in vector)


def test_a_rule_keeps_the_caps_of_its_filter() -> None:
    full = Filter.open(RENYI)
    found = rule(RENYI)
    assert (found.orders, found.caps) == (full.orders, full.caps)
    assert found.filter == full
    assert len(found.orders) > 5


@pytest.mark.parametrize("settings_", [{}, {"refresh": "month"}, {"refresh": 3600}, {"groups": ("a", "b")}])
@pytest.mark.parametrize("budget", [RENYI, Budget(epsilon=1), Budget(rho=Fraction(1, 3), delta=Fraction(1, 10**9))])
def test_rules_come_back_from_their_spelling(budget: Budget, settings_: dict[str, object]) -> None:
    found = rule(budget, **settings_)
    assert Rule.from_plain(found.to_plain()) == found


def test_raised_caps_are_refused() -> None:
    plain = rule(RENYI).to_plain()
    caps = read_vector(plain["caps"])
    for place in range(len(caps)):
        raised = tuple(cap + (cap + 10**12) * (at == place) for at, cap in enumerate(caps))
        with pytest.raises(ArgumentError, match="promise more"):
            Rule.from_plain(plain | {"caps": vector_text(raised)})
    with pytest.raises(ValueError, match="fields"):
        Rule.from_plain(plain | {"more": 1})


def test_a_replacement_may_touch_two_days_so_a_day_has_half() -> None:
    whole, halved = rule(RENYI), rule(RENYI, blocks="owner-in-one-block", neighbours=Neighbours.REPLACE_ONE)
    assert halved.caps == tuple(cap // 2 for cap in whole.caps)
    assert halved.one_column_for_all_blocks
    with pytest.raises(ArgumentError, match="promise more"):
        replace(halved, caps=whole.caps)
    for relation in (Neighbours.ADD_REMOVE, Neighbours.ZERO_OUT):
        alone = rule(RENYI, blocks="owner-in-one-block", neighbours=relation)
        assert alone.caps == whole.caps
        assert not alone.one_column_for_all_blocks


@pytest.mark.parametrize(
    ("scope", "given_", "match"),
    [
        (TRIPS, policy(), "who is protected"),
        (PEOPLE, policy(), "who is protected"),
        (ADA, rule(), "by policy"),
        (PEOPLE, rule(groups=("a",)), "only a data set"),
        (PEOPLE, rule(blocks="owner-in-one-block"), "only a data set"),
    ],
)
def test_rules_that_a_scope_cannot_have(scope: Scope, given_: Rule, match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        given_.check_for(scope)


@pytest.mark.parametrize(
    "settings_",
    [
        {"unit": None},
        {"groups": ("b", "a")},
        {"groups": ("a", "a")},
        {"groups": ("",)},
        {"blocks": "days"},
        {"blocks": "unit-per-block"},
        {"blocks": "owner-in-one-block", "unit": "(person, day)"},
        {"blocks": "owner-in-one-block", "refresh": "day"},
        {"blocks": "owner-in-one-block", "unit": None, "neighbours": None},
        {"refresh": "year"},
        {"unit": " person"},
    ],
)
def test_rules_that_cannot_be(settings_: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        rule(**settings_)  # type: ignore[arg-type]


def test_a_rule_says_what_it_promises() -> None:
    assert rule().promise == "each person is protected under add-remove within ε = 1"
    assert rule().lasts
    monthly = rule(refresh="month")
    assert not monthly.lasts
    assert "in each month; losses add up over periods, so nothing is promised for a lifetime" in monthly.promise
    assert "in every 60 seconds" in policy(refresh=60).promise
    assert "promises nothing to anybody" in policy().promise
    by_day = rule(blocks="unit-per-block", unit="(person, day)").promise
    assert by_day.startswith("each (person, day) is protected")
    assert "not within that budget over all" in by_day
    assert "as the owner declares" in rule(blocks="owner-in-one-block").promise


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (RENYI, Budget(epsilon=3, delta=Fraction(1, 10**6))),
        (RENYI, Budget(epsilon=3, delta=Fraction(1, 10**5))),
        (RENYI, Budget(epsilon=100, delta=Fraction(1, 10**6), own_delta_share=Fraction(1, 2))),
        (Budget(epsilon=10, delta=Fraction(1, 10**9)), Budget(epsilon=11, delta=Fraction(1, 10**8))),
        (Budget(epsilon=1), Budget(epsilon=2)),
        (Budget(rho=1), Budget(rho=2, delta=Fraction(1, 10**6))),
    ],
)
@pytest.mark.parametrize("blocks", [None, "owner-in-one-block"])
def test_a_raise_keeps_the_orders_and_lowers_no_cap(old: Budget, new: Budget, blocks: str | None) -> None:
    before = rule(old, blocks=blocks, neighbours=Neighbours.REPLACE_ONE)
    after = before.with_budget(new)
    assert after.orders == before.orders
    assert after.budget == new
    assert (
        all(new_cap >= cap for new_cap, cap in zip(after.caps, before.caps, strict=True))
        or new.own_delta_share != old.own_delta_share
    )
    assert after.caps[-1] > before.caps[-1]


def test_a_raise_gives_most_of_what_a_new_filter_would() -> None:
    new = Budget(epsilon=2, delta=Fraction(1, 10**6))
    raised, fresh = rule(RENYI).with_budget(new), rule(new)
    rho_raised = raised.filter.remaining(raised.filter.columns.nothing).rho
    rho_fresh = fresh.filter.remaining(fresh.filter.columns.nothing).rho
    assert rho_raised is not None
    assert rho_fresh is not None
    assert Fraction(7, 10) * rho_fresh < rho_raised <= rho_fresh * Fraction(11, 10)


def test_a_raise_and_back_gains_nothing() -> None:
    start = rule(RENYI)
    there_and_back = start.with_budget(Budget(epsilon=5, delta=Fraction(1, 10**5))).with_budget(RENYI)
    assert all(new <= cap for new, cap in zip(there_and_back.caps, start.caps, strict=True))


@pytest.mark.parametrize(
    "new",
    [
        Budget(epsilon=1),
        Budget(rho=1),
        Budget(epsilon=Fraction(1, 1000), delta=Fraction(1, 10**6)),
        Budget(epsilon=2, delta=Fraction(1, 10**6), own_delta_share=1),
    ],
)
def test_budgets_that_the_orders_cannot_keep(new: Budget) -> None:
    with pytest.raises(LedgerError, match="cannot become") as caught:
        rule(RENYI).with_budget(new)
    assert caught.value.code == "SRD-L026"


def test_another_calculus_is_refused_also_where_columns_are_as_many() -> None:
    for old, new in [(Budget(epsilon=1), Budget(rho=1)), (Budget(epsilon=1), RENYI)]:
        with pytest.raises(LedgerError, match="another calculus"):
            rule(old).with_budget(new)
