"""The owner's look at the data through the service: before a budget alone, and for nobody else."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

from serve.commanding import commands_in
from serve.places import ANALYST, AUDITOR, CANARY_TEXT, DECLARATIONS, OWNER
from serve.visits import Visit
from sordino.serve.looking import look, marked
from sordino.serve.refusals import ForbiddenError, StateError
from sordino.serve.service import Service

RIDES = DECLARATIONS.replace("name: trips", "name: rides").strip()


def test_an_owner_looks_before_a_budget_is_opened_and_never_after(service: Service) -> None:
    found = look(service.house, OWNER, RIDES)
    for words in ("table rides: 300 rows", "owned          300 of 300", "299 of 300 (99.7 %) in bounds", "in keys"):
        assert words in found["report"]
    assert CANARY_TEXT not in found["report"]
    assert "48271" not in found["report"]
    for who in (ANALYST, AUDITOR):
        with pytest.raises(ForbiddenError):
            look(service.house, who, RIDES)
    with pytest.raises(StateError, match="has a budget already"):
        look(service.house, OWNER, DECLARATIONS)
    changed = found["declarations"].replace("[0, 100]", "[0, 50000]")
    service.register(OWNER, changed, {"epsilon": 1})
    asked = {"dataset": "rides", "sql": "SELECT SUM(fare) AS fare FROM rides", "epsilon": "0.5"}
    said = "set after looking at the data, which no budget covers: what is declared of rides.fare"
    assert said in service.price(OWNER, "query", asked)["notes"]
    assert said in service.run(OWNER, "query", asked)["answer"]["notes"]
    with pytest.raises(StateError, match="has a budget already"):
        look(service.house, OWNER, changed)


def test_marks_of_a_second_look_replace_those_of_the_first(service: Service) -> None:
    once = look(service.house, OWNER, RIDES)["declarations"]
    assert once.count("looked:") == 1
    later = look(service.house, OWNER, once.replace("[0, 100]", "[0, 9]"))["declarations"]
    assert later.count("looked:") == 1
    assert later.splitlines()[-1] == once.splitlines()[-1]  # what was declared first is what counts
    assert marked("name: x", {}) == "name: x\nlooked: {}\n"


def test_the_page_shows_it_to_the_owner(visit: Callable[[str | None], Visit]) -> None:
    olga = visit("owner")
    shown = olga.fill("/admin/look", declarations=RIDES)
    assert shown.status_code == 200
    text = unescape(shown.text)
    assert "For the owner's eyes alone" in text
    assert "299 of 300 (99.7 %) in bounds" in text
    assert "looked: {rides.fare:" in text
    assert "has a budget already" in unescape(olga.fill("/admin/look", declarations=DECLARATIONS).text)
    assert visit("analyst").fill("/admin/look", declarations=RIDES).status_code == 403


def test_the_command_marks_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = commands_in(tmp_path, monkeypatch)
    file = tmp_path / "rides.yaml"
    file.write_text(RIDES)
    assert "299 of 300 (99.7 %) in bounds" in run("look", "rides.yaml")  # without a ledger
    assert "looked: {rides.fare:" in file.read_text()
    run.begin()
    assert "table rides: 300 rows" in run("look", "rides.yaml")
    with pytest.raises(StateError, match="has a budget already"):
        run("look", "trips.yaml")


def test_a_table_is_declared_in_the_browser_without_yaml(visit: Callable[[str | None], Visit]) -> None:
    olga = visit("owner")
    begun = olga.fill("/admin/propose", name="rides", source="trips.parquet", unit="rider")
    text = unescape(begun.text)
    assert 'name="low.fare"' in text
    assert 'name="column" value="rider"' not in text
    start = text.split("<textarea")[1].split(">", 1)[1].split("</textarea>")[0]
    typed = {"declarations": start, "column": ["fare", "city"], "low.fare": "0", "high.fare": "99.5", "is.fare": "real"}
    typed |= {"keys.city": "Oslo, Rome, NULL", "is.city": "text", "limit.rows": "5"}
    wrong = olga.fill("/admin/write", **{**typed, "high.fare": ""})
    assert "bounds of 'fare' need both ends" in unescape(wrong.text)
    shown = unescape(olga.fill("/admin/write", **typed).text)
    said = shown.split("<textarea")[1].split(">", 1)[1].split("</textarea>")[0]
    for words in ("bounds: [0, 99.5]", "keys: [Oslo, Rome, null]", "limits: {rows: 5}", "unit: rider"):
        assert words in said
    assert 'value="99.5"' in shown
    assert olga.fill("/admin/register", declarations=said, epsilon="1", sure="yes").status_code in (200, 303)
    told = olga.service.dataset(OWNER, "rides")["tables"][0]
    assert told["limits"] == {"rows": 5}
    assert {each["name"]: each.get("bounds") for each in told["columns"]}["fare"] == [0, 99.5]
    assert visit("analyst").fill("/admin/write", **typed).status_code == 403
