from __future__ import annotations

import json
from datetime import UTC, date, datetime
from fractions import Fraction
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from query.answers import CITY, COUNT, DAY, LAW, by_city, by_day, counts, histogram, means, question
from sordino.accounting import events
from sordino.accounting.bound import Bound, Unit
from sordino.data.kinds import Kind
from sordino.errors import ArgumentError
from sordino.noise import RoundedGaussian
from sordino.query.answer.answer import Answer
from sordino.query.answer.arrange import arrange, assemble
from sordino.query.answer.arrow import column_array, column_list
from sordino.query.answer.details import Noisy, build_details
from sordino.query.answer.display import plain, width
from sordino.query.estimate.estimate import Chosen, Linear, Picked, Several
from sordino.query.estimate.evaluate import evaluate
from sordino.query.model.bounding import Bounding
from sordino.query.model.expression import ColumnRef
from sordino.query.model.literals import literal
from sordino.query.model.operations import call


def test_columns_rows_and_intervals() -> None:
    answer = by_city()
    assert len(answer) == 3
    assert answer.names == ["city", "trips", "fare"]
    assert answer.noisy_names == ["trips", "fare"]
    assert "fare" in answer
    assert answer["city"] == ["Mill", "Old Town", "Harbour"]
    assert answer["fare"].tolist() == [1.0, 5.0, 9.0]
    assert [end.tolist() for end in answer.interval("trips")] == [[970, 475, -20], [1030, 535, 40]]
    low, high = answer.interval("trips", confidence="0.5")
    assert (high - low)[0] == 2 * LAW.tail("0.5")
    assert answer.standard_error("trips") is not None
    assert answer.standard_error("city") is None
    assert next(iter(answer)) == {"city": "Mill", "trips": 1000, "fare": 1.0}
    assert answer.head(1)["city"] == ["Mill"]
    assert answer.head(99).notes == ["fares were clipped"]


def test_what_is_not_there_is_refused_by_name() -> None:
    answer = by_city()
    with pytest.raises(ArgumentError, match="did you mean 'fare'"):
        _ = answer["fares"]
    with pytest.raises(ArgumentError, match="it has 'city', 'trips', 'fare'"):
        answer.interval("q")
    with pytest.raises(ArgumentError, match="no noisy numbers"):
        answer.interval("city")
    with pytest.raises(ArgumentError, match="confidence"):
        answer.interval("fare", confidence=1)
    with pytest.raises(ArgumentError, match="confidence"):
        Answer([], [], confidence=2)
    with pytest.raises(ArgumentError, match="one name for each column"):
        Answer(["a", "a"], [evaluate(literal(1), {})] * 2)


def test_tables_of_every_make() -> None:
    answer = by_city(order=((COUNT, False),))
    table = answer.to_arrow(intervals=True)
    assert table.column_names == ["city", "trips", "trips_low", "trips_high", "fare", "fare_low", "fare_high"]
    assert table.schema.field("trips").type == pa.int64()
    assert table.schema.field("trips_low").type == pa.float64()
    frame = answer.to_pandas()
    assert frame["trips"].tolist() == [10, 505, 1000]
    assert answer.to_polars(intervals=True, confidence=0.5).columns == table.column_names
    assert answer.to_polars()["fare"].to_list() == [9.0, 5.0, 1.0]


def test_interval_columns_do_not_take_others_names() -> None:
    values = {"k0": ["a"], "a0": counts(1)}
    answer = assemble(question([("n", COUNT), ("n_low", CITY), ("n", COUNT)]), values)
    assert answer.names == ["n", "n_low", "n_2"]
    assert answer.to_arrow(intervals=True).column_names == [
        "n",
        "n_low_",
        "n_high",
        "n_low",
        "n_2",
        "n_2_low",
        "n_2_high",
    ]


def test_arrow_types_follow_from_the_plan() -> None:
    kinds = {
        "k0": (Kind.TEXT, ["a", None], pa.string()),
        "k1": (Kind.DATE, [date(2026, 1, 1), None], pa.date32()),
        "k2": (Kind.TIMESTAMP, [datetime(2026, 1, 1), None], pa.timestamp("us")),
        "k3": (Kind.BOOLEAN, [True, None], pa.bool_()),
        "k4": (Kind.INTEGER, [2**60, None], pa.int64()),
        "k5": (Kind.REAL, [0.5, None], pa.float64()),
        "a0": (Kind.INTEGER, counts(3, np.nan), pa.int64()),
        "a1": (Kind.INTEGER, means(3, np.nan), pa.float64()),
        "a2": (Kind.TEXT, Picked(["x", None]), pa.string()),
        "a3": (Kind.TEXT, Picked([["x"], []], lists=True), pa.list_(pa.string())),
        "a4": (Kind.REAL, Several((means(1, 2), means(3, np.nan))), pa.list_(pa.float64())),
    }
    values: dict[str, Any] = {name: value for name, (_, value, _) in kinds.items()}
    asked = question([(name, ColumnRef(kind, name)) for name, (kind, _, _) in kinds.items()])
    for empty in (False, True):
        answer = assemble(asked, values)
        table = (answer.head(0) if empty else answer).to_arrow(intervals=True)
        for name, (_, _, wanted) in kinds.items():
            assert table.schema.field(name).type == wanted, name
    assert assemble(asked, values).to_arrow().to_pylist()[1] == {
        **dict.fromkeys(("k0", "k1", "k2", "k3", "k4", "k5", "a0", "a1", "a2")),
        "a3": [],
        "a4": [2.0, None],
    }


def test_what_is_no_number_of_rows_and_no_switch_is_refused() -> None:
    answer = assemble(question([("n", COUNT)]), {"k0": ["a"], "a0": counts(1)})
    for rows in ("2", -1, 1.5):
        with pytest.raises(ArgumentError, match="rows must be"):
            answer.head(rows)  # type: ignore[arg-type]
    for convert in (answer.to_arrow, answer.to_pandas, answer.to_polars):
        with pytest.raises(ArgumentError, match="intervals must be True or False; say how sure by confidence"):
            convert(0.9)  # type: ignore[arg-type]


def test_labelled_lists_are_structures() -> None:
    answer = histogram(["Mill"])
    assert answer.to_arrow().to_pylist() == [
        {
            "city": "Mill",
            "trips": [{"label": f"[{a}, {b})", "value": v} for a, b, v in ((0, 1, 0), (1, 2, 10), (2, 9, 20))],
        }
    ]
    assert answer.to_arrow(intervals=True)["trips_high"].to_pylist() == [[30.0, 40.0, 50.0]]


# ---- arrangement ----------------------------------------------------------------------------------------------------


def order_of(**how: Any) -> list[int]:
    values = {
        "k0": ["b", "a", None, "a"],
        "k1": [date(2026, 1, 4), date(2026, 1, 3), date(2026, 1, 2), None],
        "a0": counts(5, 7, 5, np.nan),
    }
    rows = arrange(question([("n", COUNT)], **how), values)
    return [0, 1, 2, 3] if rows is None else rows.tolist()


def test_rows_stay_in_key_order_unless_asked() -> None:
    assert order_of() == [0, 1, 2, 3]


def test_ties_stay_in_key_order_and_null_is_last() -> None:
    assert order_of(order=((COUNT, False),)) == [0, 2, 1, 3]
    assert order_of(order=((COUNT, True),)) == [1, 0, 2, 3]
    assert order_of(order=((CITY, False),)) == [1, 3, 0, 2]
    assert order_of(order=((CITY, True), (DAY, False))) == [0, 1, 3, 2]
    assert order_of(order=((DAY, False),)) == [2, 1, 0, 3]


def test_having_keeps_what_is_true_of_noisy_values() -> None:
    assert order_of(having=call("greater", COUNT, literal(5))) == [1]
    assert order_of(having=call("greater_equal", COUNT, literal(5)), limit=1, offset=1) == [1]


def test_limits() -> None:
    assert order_of(limit=2) == [0, 1]
    assert order_of(offset=3) == [3]
    assert order_of(limit=0) == []
    assert order_of(offset=9, limit=2) == []


def test_choices_by_noisy_values_are_said_openly() -> None:
    assert len(by_city().notes) == 1
    assert any("HAVING" in note for note in by_city(having=call("greater", COUNT, literal(9))).notes)
    assert any("favours" in note for note in by_city(order=((COUNT, True),), limit=1).notes)
    assert by_city(limit=1).notes[-1] == "rows beyond LIMIT are left out"


# ---- looks ----------------------------------------------------------------------------------------------------------


TABLE = """\
city           trips         fare
────────  ──────────  ───────────
Mill      1,000 ± 30  1.00 ± 0.30
Old Town    505 ± 30  5.00 ± 0.30
Harbour      10 ± 30  9.00 ± 0.30
intervals at 95 %, noise only
note: fares were clipped"""


def test_an_answer_reads_as_a_table() -> None:
    assert repr(by_city()) == TABLE
    assert repr(assemble(question([("city", CITY)]), {"k0": ["Mill"]})) == "city\n────\nMill"


def test_long_answers_are_cut() -> None:
    answer = by_city([f"district {place}" for place in range(1000)])
    assert "… 980 more rows" in repr(answer)
    assert "district 20" not in repr(answer)
    assert "the first 60 shown" in answer._repr_html_()
    assert repr(answer.head(0)).splitlines()[0].split() == ["city", "trips", "fare"]


def test_lopsided_open_and_missing_values_are_written_out() -> None:
    values = {
        "a0": Chosen(
            np.array([5.0, 5.0, np.nan, 2e20]),
            lambda _: (np.array([4.0, -np.inf, 0.0, 1e20]), np.array([9.0, np.inf, 1.0, 3e20])),
        ),
        "k0": ["a\x1b[31m\n", None, "長い" * 40, True],
        "k1": [0.25, 1.0, None, -1e-20],
    }
    text = repr(assemble(question([("k", CITY), ("x", MEAN_OF_A0), ("real", ColumnRef(Kind.REAL, "k1"))]), values))
    assert "5 (4 … 9)" in text
    assert "(−∞ … ∞)" in text
    assert "2e+20 ± 1e+20" in text
    assert "NULL" in text
    assert "\x1b" not in text
    assert "0.2500" in text


MEAN_OF_A0 = ColumnRef(Kind.REAL, "a0")


def test_texts_are_made_harmless_and_short() -> None:
    assert (
        plain("a\x1b[0m\u202eb\n") == "a\N{REPLACEMENT CHARACTER}[0m\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
    )
    assert len(plain("x" * 1000)) == 48
    assert plain(["a", None, True]) == "a, NULL, true"
    assert width("長a\u0301") == 3


def test_lists_are_written_with_their_labels() -> None:
    assert "[0, 1): 0, [1, 2): 10, [2, 9): 20" in repr(histogram(["Mill"]))
    assert "0, 10, 20" in repr(histogram(["Mill"], None))
    parts = (means(0.123), means(4.5))
    several = assemble(question([("q", MEAN_OF_A0)]), {"a0": Several(parts)})
    assert "0.1" in repr(several)


def test_numbers_without_usual_reach_have_two_decimals() -> None:
    silent = Linear(np.array([1.5]), [])
    assert "1.50 ± 0.00" in repr(assemble(question([("x", MEAN_OF_A0)]), {"a0": silent}))


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_escaped_and_accessible() -> None:
    evil = '<script>alert("x")</script>'
    values = {"k0": [evil, "ok"], "a0": counts(1, 2)}
    answer = assemble(question([(evil, CITY), ("n", COUNT)]), values, notes=[evil], details={"question": evil})
    page = answer._repr_html_()
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert "script" not in reader.tags
    assert reader.open == []
    assert page.count('scope="row"') == 2
    assert page.count('scope="col"') == 2
    assert "<caption>2 rows; intervals at 95 %, noise only</caption>" in page
    assert "http" not in page


def test_html_without_notes_receipt_or_noise() -> None:
    page = assemble(question([("k", CITY)]), {"k0": ["a"], "a0": counts(1)})._repr_html_()
    assert "details" not in page
    assert "<caption>1 row</caption>" in page


def test_confidence_is_shown_as_given() -> None:
    values = {"a0": counts(1)}
    answer = assemble(question([("n", COUNT)]), values, confidence=Fraction(999, 1000))
    assert "intervals at 99.9 %, noise only" in repr(answer)


# ---- details --------------------------------------------------------------------------------------------------------


def test_details_are_json_and_hold_no_value() -> None:
    bound = Bound.scalar(1, unit=Unit("rider"))
    event = events.DiscreteLaplace(Fraction(10), 1, 1)
    details = build_details(
        question="SELECT COUNT(*) FROM trips",
        dataset="rides",
        bound=bound,
        event=event,
        price={"epsilon": Fraction(1, 10), "delta": 0, "rho": None},
        bounding=Bounding("groups", groups=3, rows_per_group=2),
        noises=[Noisy("COUNT(*)", 1, LAW, Fraction(1)), Noisy("SUM(fare)", 2, RoundedGaussian(9), Fraction(1, 4))],
        plan={"groups": 3},
        moment=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    )
    answer = assemble(question([("n", COUNT)]), {"a0": counts(98765)}, details=details, events=[event])
    assert json.loads(json.dumps(answer.details)) == answer.details
    assert answer.details["price"] == {"epsilon": "1/10", "delta": "0", "rho": None}
    assert answer.details["unit"] == "rider"
    assert answer.details["bounding"] == {"method": "groups", "groups": 3, "rows_per_group": 2}
    assert answer.details["noise"][0]["scale"] == "10"
    assert answer.details["noise"][1] == {
        "of": "SUM(fare)",
        "numbers": 2,
        "law": "RoundedGaussian",
        "variance": "9",
        "step_in_rows": "1/4",
        "standard_deviation_in_rows": "0.7535",
    }
    assert answer.details["time"] == "2026-01-02T03:04:05+00:00"
    assert "98765" not in json.dumps(answer.details)
    assert answer.events == (event,)
    answer.details["unit"] = "someone else"
    assert answer.details["unit"] == "rider"


def test_days_are_shown_as_dates() -> None:
    assert "2026-01-01" in repr(by_day(["Mill"]))


@pytest.mark.parametrize(
    ("kind", "values", "whole"),
    [
        (Kind.REAL, np.array([1.5, np.nan, np.inf, -0.0]), False),
        (Kind.INTEGER, np.array([3.0, np.nan, -(2.0**52)]), True),
        (Kind.REAL, [1, None, 2.5], False),
        (Kind.INTEGER, [1, None, 2**60], False),
        (Kind.TEXT, ["a", None, ""], False),
        (Kind.BOOLEAN, [True, None, False], False),
        (Kind.DATE, [date(2024, 2, 29), None], False),
        (Kind.TIMESTAMP, [datetime(2024, 2, 29, 12, 30, 1, 5), None], False),
    ],
)
def test_a_list_holds_what_the_array_holds(kind: Kind, values: Any, whole: bool) -> None:
    column = SimpleNamespace(kind=kind, values=values, whole=whole, bare=None)
    given, expected = column_list(column), column_array(column).to_pylist()  # type: ignore[arg-type]
    assert repr(given) == repr(expected)
