"""The parts of an audit of a service: chances, questions, observables, canaries, proofs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from serve.places import ANALYST, count, opened
from sordino.audit.dice import dice
from sordino.audit.probing import tampering
from sordino.audit.probing.canaries import Ears
from sordino.audit.probing.finding import Notebook
from sordino.audit.probing.line import Seen
from sordino.audit.probing.observables import GROUP, numbers, of_refusal_or_price, of_run
from sordino.audit.probing.oracle import chance
from sordino.audit.probing.questions import Columns, Grammar, Probe
from sordino.errors import ArgumentError, QuestionError
from sordino.query.sql.text import read_text

# ---- chances --------------------------------------------------------------------------------------------------------


@given(
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.05, 1.0]),
    st.sampled_from([0.0, 1e-9, 0.1]),
)
@settings(max_examples=300, deadline=None)
def test_no_private_service_is_likelier_than_its_bound(
    counts: tuple[int, int, int], other: float, epsilon: float, delta: float
) -> None:
    draws, seen, seen_without = counts
    probability = min(1.0, math.exp(epsilon) * other + delta)
    truth = binom.sf(seen - 1, draws, probability) * binom.cdf(seen_without, draws, other)
    assert truth <= chance(seen, seen_without, draws, epsilon, delta) * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("other", [0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.1)])
def test_chances_of_honest_services_are_p_values(other: float, epsilon: float, delta: float) -> None:
    draws, both = 12, range(13)
    here = binom.pmf(both, draws, min(1.0, math.exp(epsilon) * other + delta))
    there = binom.pmf(both, draws, other)
    table = np.array([[chance(x, y, draws, epsilon, delta) for y in both] for x in both])
    for level in (0.2, 0.05, 1e-2, 1e-4, 1e-6):
        assert np.outer(here, there)[table <= level].sum() <= level


def test_what_is_certain_is_unlikely_and_what_is_usual_is_not() -> None:
    assert chance(24, 0, 24) < 1e-12
    assert chance(24, 0, 24, epsilon=0.05) < 1e-9
    assert chance(24, 24, 24) == 1.0
    assert chance(1, 0, 24, delta=1e-9) > 1e-3  # the other may show it as rarely
    assert chance(24, 0, 24, epsilon=5.0) > 1e-6
    assert chance(24, 0, 24, delta=1.0) == 1.0


# ---- questions ------------------------------------------------------------------------------------------------------

SCHEMA: dict[str, Any] = {
    "tables": [
        {
            "name": "trips",
            "owned": {"by": "column", "column": "rider"},
            "columns": [
                {"name": "rider", "kind": "integer"},
                {"name": "fare", "kind": "real", "bounds": [0, 100]},
                {"name": "tips", "kind": "real"},
                {"name": "city", "kind": "text", "keys": ["Oslo", "Xi'an"], "keys_in_all": 2},
                {"name": "note", "kind": "text"},
            ],
        },
        {"name": "cities", "owned": {"by": "nobody"}, "columns": []},
    ]
}


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_questions_are_of_every_kind_and_can_be_read(seed: int) -> None:
    grammar = Grammar(SCHEMA, dice(seed))
    asked = grammar.first() + [grammar.next() for _ in range(20)]
    assert any(question.keys and question.public for question in asked)
    assert any(question.keys and not question.public for question in asked)
    assert any("CAST(note" in question.sql for question in asked)
    for question in asked:
        random_rows = any(word in question.sql for word in ("GROUP BY note", "HAVING", "ORDER BY n", "GROUP BY rider"))
        assert question.public or random_rows, question.sql
        if question.sql.startswith("SELEC "):
            with pytest.raises(QuestionError):
                read_text(question.sql)
        else:
            read_text(question.sql)


def test_the_same_dice_draw_the_same_questions() -> None:
    first, second = (Grammar(SCHEMA, dice(4)) for _ in range(2))
    assert [first.next() for _ in range(30)] == [second.next() for _ in range(30)]


def test_a_data_set_without_people_is_refused() -> None:
    with pytest.raises(ArgumentError, match="nothing to ask"):
        Grammar({"tables": SCHEMA["tables"][1:]}, dice(0))


def test_a_table_with_nothing_but_people_can_be_asked() -> None:
    bare = {"name": "visits", "owned": {"by": "row"}, "columns": []}
    grammar = Grammar({"tables": [bare]}, dice(0))
    assert grammar.first() == [Probe("SELECT COUNT(*) AS n FROM visits")]
    assert all("visits" in grammar.next().sql for _ in range(20))
    assert Columns(bare).unit is None


# ---- observables ----------------------------------------------------------------------------------------------------


def seen(body: Any, status: int = 200, **headers: str) -> Seen:
    return Seen("POST /api/v1/query/run", status, {"content-length": "5", **headers}, json.dumps(body), 0.1)


def released(keys: list[str], values: list[float], **more: Any) -> Seen:
    columns = [
        {"name": "city", "kind": "text", "values": keys},
        {"name": "n", "kind": "integer", "values": values, "low": values, "high": values},
    ]
    answer = {"columns": columns, "notes": [], "details": {"event": "e", "time": "now"}, **more}
    charge = {"id": "1", "key": "k", "time": 1, "sequence": 1, "event": "e", "charges": ["1"]}
    return seen({"id": str(values), "answer": answer, "receipt": json.dumps({"reserved": json.dumps(charge)})})


PUBLIC, PRIVATE = (Probe("…", ("city",), public) for public in (True, False))


def test_noise_is_not_observed_and_all_else_is() -> None:
    assert of_run(released(["Oslo"], [1.5]), PUBLIC) == of_run(released(["Oslo"], [2.5]), PUBLIC)
    first = of_run(released(["Oslo", "Rome"], [1, 2]), PUBLIC)
    assert first != of_run(released(["Rome", "Oslo"], [1, 2]), PUBLIC)
    assert first != of_run(released(["Oslo"], [1]), PUBLIC)
    assert first != of_run(released(["Oslo", "Rome"], [1, 2], notes=["2 rows"]), PUBLIC)
    assert first["charges of the charge"] == '["1"]'
    assert not {name for name in first if "time" in name or name.startswith(("id ", "key "))}


def test_of_private_keys_it_is_observed_which_are_there() -> None:
    found = of_run(released(["Oslo", "Rome"], [1, 2]), PRIVATE)
    assert {name for name in found if name.startswith(GROUP)} == {'group ["Oslo"]', 'group ["Rome"]'}
    assert "rows and their order" not in found


def test_of_what_touches_no_data_everything_is_observed() -> None:
    price = {"epsilon": "0.1", "columns": [{"half_widths": {"100": 3.0}}]}
    wider = {"epsilon": "0.1", "columns": [{"half_widths": {"100": 3.5}}]}
    assert of_refusal_or_price(seen(price)) == of_refusal_or_price(seen(price))
    assert of_refusal_or_price(seen(price)) != of_refusal_or_price(seen(wider))
    error = {"error": {"code": "SRD-Q001", "message": "no"}}
    assert of_refusal_or_price(seen(error, 422))["error code"] == "SRD-Q001"
    assert of_run(seen(error, 422), PUBLIC) == of_refusal_or_price(seen(error, 422))
    assert of_refusal_or_price(seen(price, rows="3")) != of_refusal_or_price(seen(price, rows="4"))
    assert of_refusal_or_price(seen(price, **{"x-request-id": "3"})) == of_refusal_or_price(
        seen(price, **{"x-request-id": "4"})
    )


def test_numbers_are_the_noisy_ones() -> None:
    assert numbers(released(["Oslo", "Rome"], [1, 2]), PUBLIC) == [1.0, 2.0]


# ---- canaries -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["a zanzibar-9137 b", "48271.390625", "48271.39", "48271,390625"])
def test_canaries_are_heard_in_every_spelling(said: str) -> None:
    for response in (seen({"x": said}), seen({}, **{"x-note": said})):
        ears = Ears(("zanzibar-9137", 48271.390625))
        ears(response)
        (finding,) = ears.probed().findings
        assert said not in str(finding)


def test_what_is_no_canary_is_not_heard() -> None:
    ears = Ears(("zanzibar-9137", 48271.390625))
    ears(seen({"x": "48271", "y": "zanzibar"}))
    assert (ears.probed().findings, ears.probed().checks) == ((), 2)
    assert Ears(()).probed().skipped == "no canaries were named"


# ---- proofs ---------------------------------------------------------------------------------------------------------


def test_receipts_of_ours_hold_and_no_change_of_them_does(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        text, key = service.run(ANALYST, "query", count(0.1))["receipt"], service.ledger.key.text
    assert tampering._holds(text, key)
    changes = dict(tampering._changes(text))
    assert len(changes) >= 10
    for place, changed in changes.items():
        assert changed != text, place
        assert not tampering._holds(changed, key), place


def test_a_receipt_that_binds_nothing_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        text = service.run(ANALYST, "query", count(0.1))["receipt"]
    monkeypatch.setattr(tampering, "_holds", lambda *_: True)
    note = Notebook("tampering")
    tampering._receipts(note, text, "", "POST /api/v1/query/run")
    assert [each.name for each in note.probed().findings] == ["a changed receipt verifies"]
    monkeypatch.setattr(tampering, "_holds", lambda *_: False)
    note = Notebook("tampering")
    tampering._receipts(note, "not a receipt", "", "POST /api/v1/query/run")
    assert [each.name for each in note.probed().findings] == ["a receipt does not verify"]
