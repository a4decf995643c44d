"""What cannot be asked by method calls is refused where it is written, with what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from query.framed import PEOPLE, ROWS, Arrangeable, table
from sordino.errors import ArgumentError, QuestionError
from sordino.query.frame import aggregates as so
from sordino.query.frame import windows as windows
from sordino.query.frame.expression import Formula, col, lit
from sordino.query.frame.frame import Frame
from sordino.query.frame.when import when

Act = Callable[[], object]


def trips() -> Frame[Any]:
    return table("trips")


LAZY: dict[str, Act] = {
    "write & for and": lambda: trips().filter((col("fare") > 1) and col("paid")),
    r"\| for or": lambda: trips().filter((col("fare") > 1) or col("paid")),
    "~ for not": lambda: trips().filter(not col("paid")),
    r"\.between\(a, b\)": lambda: 1 < col("fare") < 5,
    r"\.is_in": lambda: col("fare") in [col("tip")],
    r"write \.is_null\(\)": lambda: col("fare") == None,  # noqa: E711
    r"\.is_not_null\(\)": lambda: col("fare") != None,  # noqa: E711
}

WRITTEN: dict[str, Act] = {
    "two columns called 'city'": lambda: trips().select("city", city=col("note")),
    "agg would give two columns called 'city'": lambda: trips().group_by("city").agg(City=so.count()),
    r"needs its value; write when\(condition\)\.then": lambda: trips().filter(when(col("paid"))),
    "name its parts first by with_columns": lambda: nested(200),
    "deeply or too long": lambda: doubled(40),
    "only one has mayor": lambda: trips().select("city").union(table("cities").select("city", "mayor")),
    "two data sets cannot be asked": lambda: trips().join(table("cities", ROWS), on="city"),
    "cube needs a group_by with keys, once": lambda: trips().group_by().cube(),
    "rollup needs a group_by with keys, once": lambda: trips().group_by("city").cube().rollup(),
    "without listed_in": lambda: trips().group_by("city", listed_in="cities").rollup(),
    "there is no key 'town' in group_by; there are city": lambda: trips().group_by("city").grouping_sets("town"),
    "there are none with names": lambda: trips().group_by(col("day").month()).grouping_sets("month"),
    "the key 'note' is in none of the sets": lambda: trips().group_by("city", "note").grouping_sets("city", []),
    "the key 1 is in none of the sets": lambda: trips().group_by(col("day").month()).grouping_sets([]),
    "grouping_sets needs a group_by with keys": lambda: trips().group_by("city").cube().grouping_sets("city"),
    "100 steps": lambda: stepped(101),
    r"\.where\(…\) is not possible": lambda: so.count_people().where(col("paid")),
}

ORDER: dict[str, Act] = {
    "cannot stand where one row is spoken of": lambda: trips().filter(so.count() > 3),
    r"write \.having\(…\) after \.agg": lambda: trips().with_columns(n=so.sum("fare")),
    r"\.per_person\(…\)\.filter": lambda: trips().select(n=so.sum("fare")),
    "aggregates go into": lambda: trips().group_by(n=so.count()).agg(m=so.count()),
    "never into each other": lambda: trips().agg(n=so.sum(so.count())),
    "sum.*of many rows": lambda: trips().agg(n=so.count().where(so.sum("fare") > 3)),
    "single rows are never shown": lambda: trips().run(epsilon=1),
    "nothing to price or run": lambda: trips().group_by("city").price(epsilon=1),
    r"\.agg\(rides=so\.count": lambda: trips().filter(col("paid")).plan(),
    "name it first by with_columns": lambda: trips().filter(windows.rank("fare") == 1),
    "and use that name": lambda: trips().agg(n=so.sum("fare").each_person()),
    "having after limit": lambda: Arrangeable.of().limit(3).having(col("rides") > 1),
    "order_by after limit": lambda: Arrangeable.of().limit(3).order_by("rides"),
    "limit after limit": lambda: Arrangeable.of().limit(3).limit(2),
}

WHOSE: dict[str, tuple[str, Act]] = {
    "no column here holds the rider": ("Q404", lambda: trips().select("fare").per_person(n=so.count())),
    "keys come from a public table": (
        "Q404",
        lambda: trips().group_by("city", listed_in="ratings").agg(n=so.count()),
    ),
    "the key 'city' is integer, but the keys' table has text": (
        "Q404",
        lambda: trips().group_by(city="seats", listed_in="cities").agg(n=so.count()),
    ),
    "there is no column 'seats'": (
        "Q103",
        lambda: trips().group_by("seats", listed_in="cities").agg(n=so.count()),
    ),
    "a join of two private tables must be keyed by the person": ("Q105", lambda: trips().join("ratings", on="city")),
    "must be keyed by the person": ("Q105", lambda: trips().semi_join("ratings", on="city")),
    "rows that belong to nobody": ("Q105", lambda: table("cities").join("trips", on="city", how="left")),
    "a public table cannot be narrowed": ("Q105", lambda: table("cities").anti_join("trips", on="city")),
    "private and public rows": (
        "Q105",
        lambda: trips().select("city").union(table("cities").select("city")),
    ),
    "per_person is not possible where single rows": (
        "Q105",
        lambda: table("trips", ROWS).per_person(n=so.count()),
    ),
    "a window is not possible where single rows": (
        "Q105",
        lambda: table("trips", ROWS).with_columns(n=windows.rank("fare")),
    ),
    "so a window is not possible; keep that column": (
        "Q404",
        lambda: trips().select("fare").select(n=so.mean("fare").each_person()),
    ),
    "RANK needs an order": ("Q102", lambda: trips().with_columns(n=windows.rank([]))),
    "there is no function 'MEDIAN'": ("Q103", lambda: trips().with_columns(n=so.median("fare").each_person())),
    "DISTINCT in a subquery must be keyed": ("Q105", lambda: trips().select("city").distinct()),
    "MEDIAN is not possible in a subquery": ("Q102", lambda: trips().per_person(m=so.median("fare"))),
    "a group for each person": ("Q106", lambda: trips().group_by("rider").agg(n=so.count())),
    "cannot be grouped by reals": ("Q106", lambda: trips().group_by("fare").agg(n=so.count())),
    "would be shown row by row": ("Q106", lambda: trips().agg(x=col("fare"))),
    "no aggregate is asked for": ("Q106", lambda: trips().agg(x=lit(1))),
    "which groups there are is public": ("Q106", lambda: trips().group_by("city").keys()),
    "all tables in this question are public": ("Q106", lambda: table("cities").agg(n=so.count())),
    "did you mean fare": ("Q103", lambda: trips().filter(col("fair") > 1)),
    "there is no column 'wage'": ("Q103", lambda: trips().agg(x=so.sum("wage"))),
    "did you mean trips": ("Q103", lambda: table("trip")),
    "could mean cities.city or trips.city": (
        "Q103",
        lambda: trips().join("cities", on={"note": "city"}).filter(col("city") == "Oslo"),
    ),
    "there is no table or alias 'town'": ("Q103", lambda: trips().filter(col("town.city") == "Oslo")),
    "needs numbers, not text": ("Q104", lambda: trips().with_columns(x=col("city") + 1)),
    "a condition must be true or false": ("Q104", lambda: trips().filter(col("fare"))),
    "none of them NULL|NULL in a list": ("Q104", lambda: trips().filter(col("seats").is_in([1, None]))),
    "a value of type Series cannot be part": ("Q104", lambda: col("fare") == pd.Series([1.0])),
    "a value of type ndarray cannot be part": ("Q104", lambda: lit(np.array([1.0, 2.0]))),
    "cannot be matched": ("Q104", lambda: trips().join("cities", on={"city": "mayor"})),
    "lists, which cannot be computed with": (
        "Q320",
        lambda: trips().agg(x=so.histogram("fare", 3) + 1),
    ),
}

ARGUMENTS: dict[str, Act] = {
    "a set is a list of keys' names": lambda: trips().group_by("city").grouping_sets(3),  # type: ignore[arg-type]
    r"\[\] is the total": lambda: trips().group_by("city").grouping_sets([col("city")]),  # type: ignore[list-item]
    "a column is named by a text, not by int": lambda: col(3),  # type: ignore[arg-type]
    "a column is named by a text, not an empty one": lambda: so.sum(""),
    "not by list; name several one by one": lambda: trips().group_by(["city", "note"]),  # type: ignore[arg-type]
    "a column is named by a text, not by float": lambda: so.quantile(0.5, "fare"),  # type: ignore[arg-type]
    r"named by a text, not by int \[": lambda: so.top(2, "city"),  # type: ignore[arg-type]
    "edges must be a whole number": lambda: so.histogram("fare", 2.5),
    "a table is named by a text": lambda: table(3),  # type: ignore[arg-type]
    "the other side must be a table's name or a frame": lambda: trips().join(3, on="city"),  # type: ignore[arg-type]
    "on must name the columns": lambda: trips().join("cities", on=[]),
    "on must name": lambda: trips().join("cities", on=3),  # type: ignore[arg-type]
    "how must be one of": lambda: trips().join("cities", on="city", how="outer"),
    "filter needs a condition": lambda: trips().filter(),
    "select needs a column": lambda: trips().select(),
    "with_columns needs a column": lambda: trips().with_columns(),
    "agg needs something to compute": lambda: trips().agg(),
    'agg needs aggregates such as n=so.mean\\("fare"\\), not str': lambda: trips().agg(n="fare"),  # type: ignore[arg-type]
    "per_person needs something": lambda: trips().per_person("city"),
    "having needs a condition": lambda: Arrangeable.of().having(),
    "order_by needs a column": lambda: Arrangeable.of().order_by(),
    "count must be a whole number": lambda: Arrangeable.of().limit(2.5),  # type: ignore[arg-type]
    "offset must be at least 0": lambda: Arrangeable.of().limit(2, -1),
    "pattern must be a constant text": lambda: col("note").like(3),  # type: ignore[arg-type]
    "values must be a list": lambda: col("note").is_in("abc"),
    "kind must be one of": lambda: col("note").cast("decimal"),
    "unit must be one of": lambda: col("day").truncate("decade"),
    "days must be a whole number": lambda: col("day").add_days(1.5),  # type: ignore[arg-type]
    "two edges at least": lambda: so.histogram("fare", [1]),
    "k must be at least 1": lambda: so.top("city", 0),
    "regression explains one column by others": lambda: so.regression("fare"),
    "fractions must be a list": lambda: so.quantile("fare", "half"),
}


def nested(depth: int) -> Formula:
    formula = col("fare")
    for _ in range(depth):
        formula = formula + 1
    return formula


def doubled(times: int) -> Formula:
    formula = col("fare")
    for _ in range(times):
        formula = formula + formula
    return formula


def stepped(count: int) -> Frame[Any]:
    frame = trips()
    for place in range(count):
        frame = frame.with_columns(x=lit(place))
    return frame


def refused(act: Act, error: type[Exception], message: str, code: str) -> None:
    with pytest.raises(error, match=message) as caught:
        act()
    assert str(caught.value).endswith(f"[SRD-{code}]")


@pytest.mark.parametrize("message", LAZY)
def test_expressions_are_no_truths_of_their_own(message: str) -> None:
    refused(LAZY[message], QuestionError, message, "Q402")


@pytest.mark.parametrize("message", WRITTEN)
def test_what_does_not_fit_together_is_refused(message: str) -> None:
    refused(WRITTEN[message], QuestionError, message, "Q401")


@pytest.mark.parametrize("message", ORDER)
def test_what_stands_in_the_wrong_place_is_refused(message: str) -> None:
    refused(ORDER[message], QuestionError, message, "Q403")


@pytest.mark.parametrize("message", WHOSE)
def test_the_rules_of_sql_hold(message: str) -> None:
    code, act = WHOSE[message]
    refused(act, QuestionError, message, code)


@pytest.mark.parametrize("message", ARGUMENTS)
def test_arguments_of_the_wrong_kind_are_refused(message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ARGUMENTS[message]()


def test_expressions_have_no_hash_so_that_no_set_compares_them() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(col("fare"))


def test_the_text_says_what_was_called() -> None:
    asked = (
        Arrangeable.of(rides=so.count().where(col("fare") > 3), each=so.sum("fare") / so.count())
        .having(col("rides") > 10)
        .order_by("-rides", col("city"))
        .limit(3, 1)
    )
    assert asked.text == (
        "table('trips').group_by('city').agg(rides=count().where(col('fare') > 3), each=sum('fare') / count())"
        ".having(col('rides') > 10).order_by('-rides', col('city')).limit(3, 1)"
    )


def test_the_text_of_a_frame_says_what_was_called() -> None:
    frame = (
        trips()
        .filter(col("paid"), col("fare") > 3)
        .with_columns(net=col("fare") * 0.8)
        .join(table("cities").select("city", "country"), on="city", how="left")
        .semi_join("ratings", on=["rider"])
        .per_person("country", total=so.sum("net"))
        .union(table("ratings").select("rider", country="city", total=col("stars") * 1.0))
    )
    assert repr(frame) == (
        "table('trips').filter(col('paid'), col('fare') > 3).with_columns(net=col('fare') * 0.8)"
        ".join(table('cities').select('city', 'country'), on='city', how='left').semi_join('ratings', on=['rider'])"
        ".per_person('country', total=sum('net'))"
        ".union(table('ratings').select('rider', country=col('city'), total=col('stars') * 1.0))"
    )
    assert repr(frame.group_by("country", listed_in="cities")) == (f"{frame!r}.group_by('country', listed_in='cities')")
    assert repr(frame.group_by("country").rollup()) == f"{frame!r}.group_by('country').rollup()"


def test_the_text_of_a_window_says_what_was_called() -> None:
    frame = trips().select(
        nth=windows.row_number(order_by=["day", "-fare"], within="city"),
        rise=col("fare") - windows.lag("fare", order_by="day"),
        usual=so.mean("fare").each_person("city", col("day").month()),
    )
    assert repr(frame) == (
        "table('trips').select(nth=row_number(order_by=['day', '-fare'], within='city'), "
        "rise=col('fare') - lag('fare', order_by='day'), usual=mean('fare').each_person('city', col('day').month()))"
    )


def test_columns_are_listed_with_what_is_known() -> None:
    assert trips().select("fare").columns == {"fare": PEOPLE.tables["trips"].columns["fare"]}
