"""What an owner may say about columns and tables, and what is refused at once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.data.declare import (
    ColumnDeclaration,
    bounds,
    column,
    column_declarations,
    keys,
    limits,
    personal,
    private,
    public,
    table_limits,
)
from sordino.data.kinds import Kind, Range
from sordino.data.metadata import Limits
from sordino.errors import ArgumentError


def test_bounds_are_the_decimals_as_written() -> None:
    declared = bounds(0.1, "99.9", nullable=False, granularity=0.1)
    assert declared.range == Range(Fraction(1, 10), Fraction(999, 10))
    assert declared.nullable is False
    assert declared.granularity is not None
    assert Fraction(declared.granularity) <= Fraction(1, 10)


@pytest.mark.parametrize(
    ("build", "words", "code"),
    [
        (lambda: bounds(1, 0), "low (1) must be below high (0)", "SRD-A003"),
        (lambda: bounds(1, 1), "must be below", "SRD-A003"),
        (lambda: bounds(float("nan"), 1), "low must be finite", "SRD-A001"),
        (lambda: bounds(0, float("inf")), "high must be finite", "SRD-A001"),
        (lambda: bounds(0, True), "not the boolean", "SRD-A001"),
        (lambda: bounds(0, 10**151), "high must be at most", "SRD-A002"),
        (lambda: bounds(0, 1, nullable="no"), "nullable must be True or False", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: bounds(0, 1, granularity=0), "granularity must be greater than 0", "SRD-A002"),
        (lambda: bounds(0, 1, granularity=2), "wider than the bounds", "SRD-A003"),
        (lambda: column(granularity=1), "declare bounds", "SRD-A003"),
        (lambda: column(bounds=5), "a pair", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: column(bounds=(1, 2, 3)), "a pair", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: column(kind="money"), "kind must be one of 'boolean'", "SRD-A001"),
        (lambda: keys([]), "one value at least", "SRD-A002"),
        (lambda: keys([None]), "one value at least", "SRD-A002"),
        (lambda: keys("Oslo"), "a list in the order", "SRD-A001"),
        (lambda: keys({"Oslo", "Rome"}), "a list in the order", "SRD-A001"),
        (lambda: keys({"Oslo": 1}), "a list in the order", "SRD-A001"),
        (lambda: keys(7), "a list in the order", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: keys([1.5]), "reals that look equal may differ", "SRD-A001"),
        (lambda: keys([np.float64(1)]), "reals that look equal may differ", "SRD-A001"),
        (lambda: keys([b"x"]), "not bytes", "SRD-A001"),
        (lambda: keys([1, "1"]), "not integer and text together", "SRD-A001"),
        (lambda: keys([True, 1]), "not boolean and integer together", "SRD-A001"),
        (lambda: keys([date(2024, 1, 1), datetime(2024, 1, 1)]), "not date and timestamp together", "SRD-A001"),
        (lambda: keys([2**63]), "a key must be at most", "SRD-A002"),
        (lambda: keys(["a", "b", "a"]), "'a' is listed twice", "SRD-A003"),
        (lambda: keys([None, "a", None]), "None is listed twice", "SRD-A003"),
        (lambda: keys(["é", "e\u0301"]), "listed twice", "SRD-A003"),
        (lambda: keys(["a\0b"]), "neither NUL nor half a surrogate", "SRD-A002"),
        (lambda: keys(["\ud83d"]), "neither NUL nor half a surrogate", "SRD-A002"),
        (lambda: keys([pd.NaT]), "NaT is not a key", "SRD-A001"),
        (lambda: keys(["a", None], nullable=False), "None is among the keys", "SRD-A003"),
        (lambda: limits(rows=0), "rows must be at least 1", "SRD-A002"),
        (lambda: limits(groups=True), "groups must be a whole number", "SRD-A001"),
        (lambda: limits(rows_per_group=2**40), "rows_per_group must be at most", "SRD-A002"),
        (lambda: table_limits(5), "so.limits", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: table_limits(Limits(rows=-1)), "rows must be at least 1", "SRD-A002"),
        (lambda: private("x", unit="a", parent={"a": "b.c"}), "not by both", "SRD-A003"),
        (lambda: private("x", unit=3), "the name of a column", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: private("x", parent={"a": "b"}), "parent must be like", "SRD-A001"),
        (lambda: private("x", parent={"a": "b.c", "d": "e.f"}), "parent must be like", "SRD-A001"),
        (lambda: private("x", parent="b.c"), "parent must be like", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: private("x", parent={1: "b.c"}), "parent must be like", "SRD-A001"),  # type: ignore[dict-item]
        (lambda: column_declarations({"a": (0, 1)}), "so.bounds", "SRD-A001"),  # type: ignore[dict-item]
        (lambda: column_declarations([1]), "columns must be a dict", "SRD-A001"),  # type: ignore[arg-type]
        (lambda: column_declarations({1: bounds(0, 1)}), "columns must be a dict", "SRD-A001"),  # type: ignore[dict-item]
    ],
)
def test_what_makes_no_sense_is_refused_with_a_remedy(build: Callable[[], Any], words: str, code: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        build()
    assert words in refused.value.message
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("given", "kind", "read"),
    [
        (["Oslo", "Rome", None], Kind.TEXT, ("Oslo", "Rome", None)),
        (range(1, 4), Kind.INTEGER, (1, 2, 3)),
        ((number for number in (3, 1, 2)), Kind.INTEGER, (3, 1, 2)),
        (np.array([1, 2], dtype=np.int8), Kind.INTEGER, (1, 2)),
        (np.array([True, False]), Kind.BOOLEAN, (True, False)),
        (np.array(["a", "b"]), Kind.TEXT, ("a", "b")),
        (pl.Series(["a", None]), Kind.TEXT, ("a", None)),
        (pd.Series(pd.to_datetime(["2024-01-02 03:04:05"])), Kind.TIMESTAMP, (datetime(2024, 1, 2, 3, 4, 5),)),
        ([np.datetime64("2024-01-02")], Kind.DATE, (date(2024, 1, 2),)),
        ([np.datetime64("2024-01-02T03:04:05.000001000", "ns")], Kind.TIMESTAMP, (datetime(2024, 1, 2, 3, 4, 5, 1),)),
        (
            [datetime(2024, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))],
            Kind.TIMESTAMP,
            (datetime(2024, 1, 1, 23),),
        ),
    ],
    ids=lambda case: type(case).__name__ if not isinstance(case, Kind) else case.value,
)
def test_keys_are_plain_values_of_one_kind(given: Any, kind: Kind, read: tuple[Any, ...]) -> None:
    declared = keys(given)
    assert declared.key_kind is kind
    assert declared.keys == read
    assert all(type(key) in (str, int, bool, date, datetime, type(None)) for key in declared.keys or ())


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_text_keys_are_canonical(text: str) -> None:
    variants = {unicodedata.normalize(form, text) for form in ("NFC", "NFD")} | {text}
    assert {keys([each]).keys for each in variants} == {(unicodedata.normalize("NFC", text),)}


def test_one_column_may_have_it_all() -> None:
    declared = column(bounds=(1, 5), keys=[1, 2, 3, 4, 5], kind="integer", granularity=1, nullable=False)
    assert declared == ColumnDeclaration(Kind.INTEGER, Range.of(1, 5), (1, 2, 3, 4, 5), False, 1.0)
    assert ColumnDeclaration().key_kind is None


def test_tables_are_frozen_and_show_no_source() -> None:
    secret = pd.DataFrame({"id": ["CANARY"]})
    table = private(secret, parent={"customer_id": "customers.id"}, columns={"x": bounds(0, 1)}, limits=limits(rows=3))
    assert table.parent == ("customer_id", "customers", "id")
    assert table.limits == Limits(rows=3)
    assert "CANARY" not in repr(table)
    with pytest.raises(TypeError):
        table.columns["y"] = bounds(0, 1)  # type: ignore[index]
    assert public(secret).is_public


def test_keys_by_the_million_belong_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sordino.data.declare.MOST_KEYS", 3)
    with pytest.raises(ArgumentError, match="put them in a public table"):
        keys(range(4))


@pytest.mark.parametrize(
    ("column_name", "epsilons", "words"),
    [
        (3, {"a": 1}, "column must be the name"),
        ("", {"a": 1}, "column must be the name"),
        ("kind", {}, "epsilons must say an ε for each class"),
        ("kind", [("a", 1)], "epsilons must say an ε for each class"),
        ("kind", {"a": 0}, "must be greater than 0"),
        ("kind", {"a": 1, 2: 1}, "of one kind"),
        ("kind", {None: 1, "a": 1}, "there is no class None"),
        ("kind", {0.5: 1}, "a key must be a text"),
    ],
)
def test_classes_of_people_that_cannot_be_are_refused(column_name: Any, epsilons: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        personal(column_name, epsilons)


def test_classes_of_people_are_exact() -> None:
    assert personal("kind", {"a": 0.1, "b": "0.3"}).classes == (("a", Fraction(1, 10)), ("b", Fraction(3, 10)))
