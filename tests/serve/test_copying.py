"""What can be taken along from the dashboard: answers as files, questions in other tongues, examples to begin with."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from io import StringIO
from typing import Any

import pandas as pd
import pytest

import sordino as so
from serve.places import COUNT, OWNER
from serve.visits import Visit, hidden
from sordino.serve.dashboard.charts import intervals
from sordino.serve.questions.copied import copies
from sordino.serve.questions.starters import starters

Who = Callable[[str | None], Visit]

CITIES = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"
GOAL = {"within": "50", "of": "rides", "size": "100"}


def released(visit: Visit, sql: str = CITIES) -> str:
    asked = {"dataset": "trips", "sql": sql, "epsilon": "0.2"}
    return str(visit.service.run(OWNER, "query", asked)["id"])


def test_an_answer_is_downloaded_as_csv_and_as_json(visit: Who) -> None:
    owner = visit("owner")
    identifier = released(owner)
    page = owner.see(f"/releases/{identifier}").text
    for kind in ("csv", "json"):
        assert f'href="/releases/{identifier}/answer.{kind}" download' in page
    whole = owner.see(f"/releases/{identifier}/answer.json")
    (city, rides, _) = whole.json()["columns"]
    table = owner.see(f"/releases/{identifier}/answer.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert table.headers["content-disposition"] == f'attachment; filename="answer-{identifier}.csv"'
    frame = pd.read_csv(StringIO(table.text))
    assert list(frame.columns) == ["city", "rides", "rides_low", "rides_high", "fare", "fare_low", "fare_high"]
    assert (list(frame["city"]), list(frame["rides_low"])) == (city["values"], rides["low"])


def test_files_are_for_who_may_see_the_release(visit: Who) -> None:
    identifier = released(visit("owner"))
    for end in ("answer.csv", "answer.json"):
        assert visit("analyst").see(f"/releases/{identifier}/{end}").status_code == 404
        assert visit("owner").see(f"/releases/0-{'0' * 32}/{end}").status_code == 404


def test_programs_fetch_csv_by_an_address(visit: Who) -> None:
    owner = visit("owner")
    identifier = released(owner)
    assert owner.service.table(OWNER, identifier) == owner.see(f"/releases/{identifier}/answer.csv").text


def test_an_answer_here_is_written_as_csv(tmp_path: Any) -> None:
    table = {"rider": [1, 2, 3], "city": ["Oslo", "Rome", None]}
    rides = so.dataset("rides", pd.DataFrame(table), unit="rider", columns={"city": so.keys(["Oslo", 'a,"b"'])})
    account = so.account(rides, so.budget(epsilon=10))
    answer = account.sql("SELECT city, COUNT(*) AS n FROM rides GROUP BY city").run(epsilon=5)
    text = answer.to_csv(tmp_path / "answer.csv")
    assert (tmp_path / "answer.csv").read_text() == text
    assert list(pd.read_csv(StringIO(text))["city"]) == answer.to_pandas()["city"].tolist()
    with pytest.raises(so.errors.ArgumentError, match="cannot be written"):
        answer.to_csv(tmp_path / "nowhere" / "answer.csv")


def test_a_priced_question_is_copied_in_three_tongues(visit: Who) -> None:
    ann = visit("analyst")
    form = {"dataset": "trips", "sql": COUNT, "spend": "epsilon", "epsilon": "0.25"}
    page = ann.fill("/console/price", **form).text
    assert "Copy as Python, SQL, curl" in page
    assert "house.account(&#39;trips&#39;).sql(" in page
    assert hidden(page, "/console/run")["epsilon"] == "0.25"


@pytest.mark.parametrize("sql", [COUNT, "SELECT COUNT(*) AS \"a'b\"\nFROM trips WHERE city = 'O''Hare $HOME'"])
@pytest.mark.parametrize("words", [{"epsilon": "0.5"}, {"error": GOAL}, {"rho": "0.1", "delta": "1e-6"}])
def test_copies_are_what_they_say(sql: str, words: dict[str, Any]) -> None:
    question = {"dataset": "trips", "sql": sql, **words}
    found = copies(question, "https://sordino.example/")
    assert found["SQL"] == sql
    compile(found["Python"], "copied", "exec")
    *_, flag, said = shlex.split(found["curl"])
    assert (flag, json.loads(said)) == ("-d", question)


def test_an_empty_console_shows_examples_that_can_be_asked(visit: Who) -> None:
    ann = visit("analyst")
    found = starters(ann.service.dataset(OWNER, "trips"))
    assert len(found) == 3
    page = ann.see("/console?dataset=trips").text
    assert page.count("/console?dataset=trips&amp;sql=SELECT") == 3
    for sql in found:
        assert ann.service.price(OWNER, "query", {"dataset": "trips", "sql": sql, "epsilon": "0.1"})["fits"]
    assert "Examples to begin with" not in ann.see("/console?dataset=trips&sql=SELECT+1").text


def test_a_data_set_that_is_no_table_has_no_examples() -> None:
    assert starters(None) == []


def test_days_are_drawn_as_lines_over_time() -> None:
    days = {"name": "day", "kind": "date", "values": ["2026-01-02", "2026-01-01", None, "2026-01-01"]}
    city = {"name": "city", "kind": "text", "values": ["Oslo", "Oslo", "Oslo", "Rome"]}
    rides = {
        "name": "rides",
        "kind": "real",
        "values": [2.0, 1.0, 9.0, 5.0],
        "low": [1, 0, 8, None],
        "high": [3, 2, 10, 6],
    }
    ((name, spec),) = intervals({"columns": [days, city, rides]})
    band, line = spec["layer"]
    assert (name, spec["encoding"]["color"]["field"]) == ("rides", "series")
    assert [row["moment"] for row in line["data"]["values"]] == ["2026-01-02", "2026-01-01", "2026-01-01"]
    assert len(band["data"]["values"]) == 2
    hours = {"name": "hour", "kind": "timestamp", "values": ["2026-01-01T05:00:00", "2026-01-01T06:00:00"]}
    ((_, alone),) = intervals({"columns": [hours, {**rides, "values": [1, 2], "low": [0, 1], "high": [2, 3]}]})
    assert "color" not in alone["encoding"]
    assert alone["layer"][1]["data"]["values"][0]["moment"] == "2026-01-01T05:00:00Z"
