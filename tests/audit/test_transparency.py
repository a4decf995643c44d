"""The transparency report: it says what the ledger holds, a stranger can check it, and it gives nothing away."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sordino as so
from sordino.accounting.bound import Bound
from sordino.accounting.events import Laplace
from sordino.accounting.plan import Single
from sordino.audit.transparency.checks import Checked
from sordino.audit.transparency.report import Report
from sordino.errors import ArgumentError, LedgerError, RunError
from sordino.ledger.canonical import encode
from sordino.ledger.keys import SigningKey
from sordino.query.answer.answer import Answer
from sordino.serve.local import House

CANARY = 48271.390625
WORD = "zanzibar-canary-9137"
CITIES = "SELECT city, COUNT(*) AS rides_by_city, AVG(fare) AS fare FROM trips GROUP BY city"


def table() -> pa.Table:
    riders = [number // 3 for number in range(300)]
    fares = [float(number % 50) for number in range(300)]
    cities = ["Oslo", "Rome", "Bern"] * 100
    fares[7], cities[8] = CANARY, WORD
    return pa.table({"rider": riders, "fare": fares, "city": cities})


@dataclass
class Place:
    """A ledger with some releases, and its key."""

    house: House
    key: Path
    first: Answer

    @property
    def public(self) -> str:
        return self.house.ledger.key.text

    def report(self, **words: Any) -> Report:
        return so.audit.report(self.house, "trips", **words)

    def signed(self, **words: Any) -> Report:
        return self.report(**words).sign(self.key)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A data set with four charges: numbers, a median, Gaussian noise, and one that failed; its budget was raised."""
    folder = tmp_path_factory.mktemp("open")
    trips = so.dataset(
        "trips",
        table(),
        unit="rider",
        columns={"fare": so.bounds(0, 100), "city": so.keys(["Oslo", "Rome", "Bern"])},
        limits=so.limits(rows=5),
    )
    with so.open(folder / "budget.db") as house:
        account = house.account(trips, so.budget(epsilon=3, delta="1e-6"), analyst="ann-the-analyst")
        first = account.sql(CITIES).run(epsilon="0.5")
        account.sql("SELECT MEDIAN(fare) AS middle FROM trips").run(epsilon="0.25")
        house.raise_budget("trips", so.budget(epsilon=4, delta="1e-6"), reason="more questions", by="olga")
        account.sql("SELECT COUNT(*) AS n FROM trips").run(rho="0.01")
        work = account.begin(Single(Laplace(scale=10), Bound.scalar(1, unit=trips.unit)))
        work.fail(RunError("nothing came of it", "SRD-R001"))
        yield Place(house, folder / "budget.db.key", first)


# ---- what it says ---------------------------------------------------------------------------------------------------


def test_it_says_what_the_ledger_holds(place: Place) -> None:
    told = place.report(purpose="Planning of bus lines").content
    spent = told["spent"]
    assert (spent["charges"], spent["settled"], spent["failed"], spent["open"]) == (4, 3, 1, 0)
    assert told["protected"]["unit"] == "rider"
    assert told["protected"]["neighbours"] == "add-remove"
    assert [row["price"] for row in told["releases"]][:2] == [
        {"epsilon": "1/2", "delta": "0", "rho": None},
        {"epsilon": "1/4", "delta": "0", "rho": None},
    ]
    assert [each["rule"]["budget"] for each in told["budget"]["rules"]] == [
        '{"delta":"1/1000000","epsilon":"3","own_delta_share":"1/4"}',
        '{"delta":"1/1000000","epsilon":"4","own_delta_share":"1/4"}',
    ]
    balance = place.house.ledger.look(lambda state: state.balances["dataset:trips"].lifetime)
    assert told["spent"]["lifetime"] == " ".join(map(str, balance))
    assert told["stated"]["purpose"] == "Planning of bus lines"
    assert told["stated"]["contact"] == "not stated"


def test_parts_of_a_release_add_up_to_its_share(place: Place) -> None:
    for row in place.report().content["releases"]:
        parts = sum(float(part["share"]) for part in row["parts"])
        assert parts == pytest.approx(float(row["share"]), rel=2e-3)  # each is rounded up to four digits


def test_errors_are_those_of_the_noise_that_was_priced(place: Place) -> None:
    row = place.report().content["releases"][0]
    (noise,) = row["noise"]
    assert noise["law"] == "DiscreteLaplace"
    scale = float(noise["scale"]) * (1 / 2048)
    assert float(noise["half_width_in_rows"]) == pytest.approx(scale * 3.0, rel=0.01)  # ln 20 = 3.0
    release = place.report(release=place.first).content["releases"][0]
    low, high = place.first.interval("rides_by_city")
    width = next(each["half_width"] for each in release["columns"] if each["name"] == "rides_by_city")
    assert float(width) == pytest.approx(float((high - low).max() / 2), rel=1e-3)


def test_the_pyramid_has_its_levels_and_the_unit_of_rows_is_called_a_hazard(place: Place, tmp_path: Path) -> None:
    levels = place.report().content["pyramid"]
    assert [[part["name"] for part in level["components"]] for level in levels] == [
        ["Privacy parameters", "Unit of privacy"],
        ["Algorithms and correctness", "Utility", "Bias"],
        ["Access control", "Trust model", "Side channels", "Data collection exposure"],
    ]
    assert "hazard" not in json.dumps(levels)
    rows = so.dataset("rows", pa.table({"x": [1, 2]}), unit=so.ROW)
    with so.open(tmp_path / "b.db") as house:
        house.account(rows, so.budget(epsilon=1)).sql("SELECT COUNT(*) AS n FROM rows").run(epsilon=1)
        assert "hazard" in json.dumps(so.audit.report(house, "rows").content["pyramid"][0])


ENUMERATIONS = {
    ("basic", "data_product_type"): {"Summary statistics", "SQL queries"},
    ("dp_variant", "variant_name"): {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
    ("deployment_model", "model_name"): {"Local", "Central", "Shuffle", "Federated", "Varies"},
    ("deployment_model", "release_type"): {"One release", "Many releases"},
    ("deployment_model", "access_type"): {"Interactive", "Non-interactive"},
}


def test_the_record_has_the_fields_of_the_registry(place: Place) -> None:
    blank, full = (
        place.report(**said).registry()
        for said in (
            {},
            {
                "purpose": "Planning",
                "curator": "City",
                "description": "Rides",
                "region": "Oslo",
                "sector": "Government",
            },
        )
    )
    assert set(full) == {"url_slug", "status", "tier", "deployment"}
    assert (full["status"], full["tier"], blank["tier"]) == ("Draft", 3, 1)
    deployment = full["deployment"]
    assert set(deployment["basic"]) == {
        "name",
        "data_curators",
        "intended_use",
        "data_product_type",
        "data_product_region",
        "description",
        "publication_date",
        "data_product_sector",
    }
    for (section, field), allowed in ENUMERATIONS.items():
        assert deployment[section][field] in allowed
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 4.0, "delta": 1e-6}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", deployment["basic"]["publication_date"])
    one = place.report(release=place.first).registry()["deployment"]
    assert one["privacy_loss"]["privacy_parameters"] == {"epsilon": 0.5}
    assert one["deployment_model"]["release_type"] == "One release"


# ---- what it does not say -------------------------------------------------------------------------------------------


def test_no_value_of_data_is_in_it(place: Place) -> None:
    for told in (place.signed(), place.signed(named=True), place.signed(release=place.first)):
        for text in (told.to_json(), told.to_html()):
            assert str(CANARY) not in text
            assert WORD not in text
            for value in place.first["rides_by_city"]:
                assert f"{value:.6g}" not in text


def test_without_names_nothing_of_a_question_is_in_it(place: Place) -> None:
    pieces = ("ann-the-analyst", "SELECT", "rides_by_city", "COUNT(*)", "fare")
    plain, named = place.signed(), place.signed(named=True)
    for text in (plain.to_json(), plain.to_html()):
        assert not [piece for piece in pieces if piece in text]
    assert not [piece for piece in pieces if piece not in named.to_json()]


# ---- what a stranger can check --------------------------------------------------------------------------------------


def outcomes(checked: Checked) -> dict[str, str]:
    return {check.name: check.outcome for check in checked.checks}


@pytest.mark.parametrize("words", [{}, {"named": True}], ids=["plain", "named"])
def test_a_signed_report_holds_and_survives_its_file(place: Place, words: dict[str, Any]) -> None:
    told = place.signed(**words)
    again = Report.from_json(told.to_json())
    assert again == told
    checked = again.check(place.public)
    assert checked.holds, str(checked)
    assert outcomes(checked)["entries"] == ("holds" if words else "not checked")
    assert outcomes(checked)["charges"] == outcomes(checked)["totals"] == outcomes(checked)["prices"] == "holds"


def test_a_release_is_checked_with_its_receipt_and_its_body(place: Place) -> None:
    told = place.signed(release=place.first)
    body = place.first.to_json().encode()
    assert told.check(place.public, release=body).holds
    wrong = told.check(place.public, release=body + b" ")
    assert not wrong.holds
    assert "altered" in str(wrong)
    by_receipt = place.report(release=place.first.receipt)
    assert by_receipt.content["subject"] == told.content["subject"]


def test_who_did_not_sign_is_not_believed(place: Place) -> None:
    other = SigningKey.generate("elsewhere.example")
    assert outcomes(place.report().check(place.public))["signature"] == "broken"
    foreign = place.report().sign(other)
    assert outcomes(foreign.check(place.public))["signature"] == "broken"
    assert foreign.check(place.public, signer=other.verifier.text).holds
    assert outcomes(place.signed().check(other.verifier.text))["checkpoint"] == "broken"


def forged(told: Report, key: Path, change: Callable[[dict[str, Any]], None]) -> Report:
    """Return the report that somebody with the ledger's own key would sign after a change."""
    content = copy.deepcopy(told.content)
    change(content)
    return Report(encode(content).decode()).sign(key)


def less(content: dict[str, Any]) -> None:
    row = content["releases"][0]
    row["charge"] = " ".join(str(int(units) * 9 // 10) for units in row["charge"].split())


def cheaper(content: dict[str, Any]) -> None:
    content["releases"][0]["price"]["epsilon"] = "2/5"


def cheaper_rho(content: dict[str, Any]) -> None:
    content["releases"][2]["price"]["rho"] = "1/200"


def noisier(content: dict[str, Any]) -> None:
    content["releases"][0]["noise"][0]["scale"] = "99999"


def another_event(content: dict[str, Any]) -> None:
    content["releases"][3]["event"] = '{"coordinates":"1","kind":"discrete-laplace","scale":"1","sensitivity":"1"}'


def forgotten(content: dict[str, Any]) -> None:
    content["releases"].pop(1)
    content["spent"]["charges"] -= 1


def smaller_total(content: dict[str, Any]) -> None:
    content["spent"]["lifetime"] = " ".join("0" for _ in content["spent"]["lifetime"].split())


def smaller_loss(content: dict[str, Any]) -> None:
    content["spent"]["loss"]["epsilon"] = "0.1"


def tighter_caps(content: dict[str, Any]) -> None:
    for each in content["budget"]["rules"]:
        each["rule"]["caps"] = " ".join(str(int(cap) // 50) for cap in each["rule"]["caps"].split())


def looser_caps(content: dict[str, Any]) -> None:
    rule = content["budget"]["rules"][0]["rule"]
    rule["caps"] = " ".join(str(int(cap) * 2) for cap in rule["caps"].split())


def another_unit(content: dict[str, Any]) -> None:
    content["protected"]["unit"] = "family"


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (less, "charges"),
        (another_event, "charges"),
        (another_unit, "charges"),
        (cheaper, "prices"),
        (cheaper_rho, "prices"),
        (noisier, "noise"),
        (forgotten, "totals"),
        (smaller_total, "totals"),
        (smaller_loss, "totals"),
        (tighter_caps, "caps"),
        (looser_caps, "the form of the report"),
    ],
)
def test_wrong_arithmetic_is_found_even_under_the_right_signature(
    place: Place, change: Callable[[dict[str, Any]], None], broken: str
) -> None:
    checked = forged(place.report(), place.key, change).check(place.public)
    assert outcomes(checked)["signature"] == "holds"
    assert outcomes(checked)[broken] == "broken", str(checked)


@pytest.mark.parametrize("change", [less, another_event, forgotten, looser_caps, tighter_caps])
def test_what_differs_from_the_enclosed_entries_is_found(
    place: Place, change: Callable[[dict[str, Any]], None]
) -> None:
    checked = forged(place.report(named=True), place.key, change).check(place.public)
    assert outcomes(checked)["agreement"] == "broken", str(checked)


def test_an_altered_entry_is_found(place: Place) -> None:
    def alter(content: dict[str, Any]) -> None:
        entry = content["evidence"][1]
        entry["entry"] = entry["entry"].replace("ann-the-analyst", "bob-the-analyst")

    checked = forged(place.report(named=True), place.key, alter).check(place.public)
    assert outcomes(checked)["entries"] == "broken"


def test_nothing_is_said_twice_or_beside_what_is_signed(place: Place) -> None:
    text = place.signed().to_json()
    assert Report.from_json(text).check(place.public).holds
    beside = text.replace("{", '{"summary": "nothing was ever spent",', 1)
    twice = text.replace("{", '{"report": {"spent": "nothing"},', 1)
    within = text.replace('"spent": {', '"spent": {}, "spent": {', 1)
    assert len({text, beside, twice, within}) == 4
    for changed in (beside, twice, within):
        with pytest.raises(ArgumentError, match="SRD-V060"):
            Report.from_json(changed)


def test_a_release_beside_the_report_of_a_data_set_is_a_mistake_and_no_verdict(place: Place) -> None:
    with pytest.raises(ArgumentError, match="no single release"):
        place.signed().check(place.public, release=b"{}")


def test_any_change_after_signing_is_found(place: Place) -> None:
    told = place.signed()
    for name in ("budget", "limits", "made", "pyramid", "registry", "releases", "spent", "stated", "subject"):
        content = copy.deepcopy(told.content)
        content[name] = "something else"
        assert not Report(encode(content).decode(), told.note).check(place.public).holds, name


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"report": {}, "note": null}', "<html>", '{"report": 1.5, "note": 2}']
)
def test_what_is_no_report_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="SRD-V060"):
        Report.from_json(text)


# ---- other budgets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "spend"),
    [({"epsilon": 1}, {"epsilon": "0.1"}), ({"rho": "0.5"}, {"rho": "0.01"})],
    ids=["pure", "zcdp"],
)
@pytest.mark.parametrize("refresh", [None, "day"])
def test_every_calculus_and_budgets_that_begin_anew(
    tmp_path: Path, budget: dict[str, Any], spend: dict[str, Any], refresh: Any
) -> None:
    rows = so.dataset("rows", pa.table({"who": [1, 2]}), unit="who", limits=so.limits(rows=1))
    with so.open(tmp_path / "b.db") as house:
        account = house.account(rows, so.budget(**budget), refresh=refresh)
        for _ in range(3):
            account.sql("SELECT COUNT(*) AS n FROM rows").run(**spend)
        told = so.audit.report(account).sign(tmp_path / "b.db.key")
        assert told.check(house.ledger.key.text).holds
        assert ("over a lifetime nothing is promised" in told.text) == (refresh is not None)
        assert told.to_html()


def test_private_keys_bring_a_delta_of_their_own(tmp_path: Path) -> None:
    words = so.dataset(
        "words", pa.table({"who": list(range(200)), "word": ["a", "b"] * 100}), unit="who", limits=so.limits(rows=1)
    )
    with so.open(tmp_path / "b.db") as house:
        account = house.account(words, so.budget(epsilon=2, delta="1e-5"))
        account.sql("SELECT word, COUNT(*) AS n FROM words GROUP BY word").run(epsilon=1, delta="1e-6")
        told = so.audit.report(account).sign(tmp_path / "b.db.key")
        checked = told.check(house.ledger.key.text)
        assert outcomes(checked)["prices"] == "holds", str(checked)
        assert checked.holds
        assert "what is rare is missing" in told.text


QUESTIONS = {
    "totals and their parts": "SELECT city, COUNT(*) AS n FROM people GROUP BY ROLLUP(city)",
    "spread": "SELECT VARIANCE(age) AS v, CORR(age, pay) AS c FROM people",
    "quantiles": "SELECT city, MEDIAN(age) AS m, MAX(age) AS x FROM people GROUP BY city",
    "people": "SELECT COUNT(DISTINCT who) AS n, SUM(pay) AS s FROM people WHERE age > 30",
    "found bounds": "SELECT AVG(debt) AS d FROM people",
    "private keys": "SELECT job, AVG(age) AS a FROM people GROUP BY job",
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any, Path]]:
    folder = tmp_path_factory.mktemp("people")
    size = range(400)
    columns = {
        "who": [number // 2 for number in size],
        "city": [("Oslo", "Rome")[number % 2] for number in size],
        "sex": [("f", "m")[number // 2 % 2] for number in size],
        "job": [("cook", "nurse")[number // 2 % 2] for number in size],
        "age": [float(20 + number % 60) for number in size],
        "pay": [float(number % 90) for number in size],
        "debt": [float(number % 7) for number in size],
    }
    declared = {
        "age": so.bounds(0, 100),
        "pay": so.bounds(-10, 100),
        "city": so.keys(["Oslo", "Rome"]),
        "sex": so.keys(["f", "m"]),
    }
    data = so.dataset("people", pa.table(columns), unit="who", columns=declared, limits=so.limits(rows=2))
    with so.open(folder / "b.db") as house:
        yield house, house.account(data, so.budget(epsilon=100, delta="1e-4")), folder / "b.db.key"


@pytest.mark.parametrize("spend", [{"epsilon": 1}, {"rho": "0.05"}], ids=["epsilon", "rho"])
@pytest.mark.parametrize("text", QUESTIONS.values(), ids=QUESTIONS)
def test_no_kind_of_question_is_accused(people: tuple[Any, Any, Path], text: str, spend: dict[str, Any]) -> None:
    house, account, key = people
    words = {"delta": "1e-6"} if "job" in text else {}
    answer = account.sql(text).run(**spend, **words)
    checked = so.audit.report(account, release=answer).sign(key).check(house.ledger.key.text)
    assert checked.holds, str(checked)


def test_a_data_set_without_releases_has_a_report(tmp_path: Path) -> None:
    rows = so.dataset("rows", pa.table({"x": [1]}), unit=so.ROW)
    with so.open(tmp_path / "b.db") as house:
        house.account(rows, so.budget(epsilon=1))
        told = so.audit.report(house, "rows").sign(tmp_path / "b.db.key")
        assert told.check(house.ledger.key.text).holds
        assert "Nothing was released yet" in told.to_html()


def test_what_was_burnt_after_a_loss_is_told_and_adds_up(tmp_path: Path) -> None:
    rows = so.dataset("rows", pa.table({"x": [1]}), unit=so.ROW)
    with so.open(tmp_path / "b.db") as house:
        account = house.account(rows, so.budget(epsilon=1))
        account.account.reserve(Laplace(scale=10), Bound.scalar(1, unit=rows.unit))  # and nobody settled it
        house.ledger.freeze("drill")
        house.ledger.restore("olga", "a drill")
        told = so.audit.report(house, "rows", named=True).sign(tmp_path / "b.db.key")
        assert told.content["spent"]["failed"] == 1
        assert len(told.content["burnt"]) == 1
        checked = told.check(house.ledger.key.text)
        assert checked.holds, str(checked)


# ---- misuse ---------------------------------------------------------------------------------------------------------


def test_misuse_names_the_remedy(place: Place) -> None:
    with pytest.raises(ArgumentError, match=r"has no field 'purposes'; it has title, purpose"):
        place.report(purposes="x")
    with pytest.raises(ArgumentError, match="sector must be one of"):
        place.report(sector="Trains")
    with pytest.raises(ArgumentError, match="printable"):
        place.report(purpose="a\x1bb")
    with pytest.raises(ArgumentError, match="say which data set"):
        so.audit.report(place.house)
    with pytest.raises(LedgerError, match="has no budget in this ledger"):
        so.audit.report(place.house, "nothing")
    with pytest.raises(LedgerError, match="take the id from the receipt"):
        place.report(release="99-0123456789abcdef")
    with pytest.raises(ArgumentError, match="has no ledger to report on"):
        so.audit.report(so.account(so.dataset("m", pa.table({"x": [1]}), unit=so.ROW), so.budget(epsilon=1)))


# ---- the page -------------------------------------------------------------------------------------------------------


def test_the_page_needs_nobody_else_and_escapes_what_people_wrote(place: Place) -> None:
    page = place.signed(purpose="<script>alert(1)</script>", title="R&D <b>").to_html()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "R&amp;D &lt;b&gt;" in page
    assert not re.findall(r'(?:src|href)="', page)
    assert "url(" not in page
    assert '<html lang="en">' in page
    assert page.count("<h1>") == 1
    for asked in ("prefers-color-scheme: dark", "@media print", 'name="viewport"', 'role="img"'):
        assert asked in page
    headings = re.findall(r"<h([1-6])", page)
    assert all(int(after) <= int(before) + 1 for before, after in pairwise(headings))


def test_many_releases_are_on_the_page_in_part_and_in_the_file_in_full(place: Place) -> None:
    content = place.report().content
    content["releases"] *= 40
    page = Report(encode(content).decode()).to_html()
    assert "60 older ones are in the JSON" in page
    assert "Nobody has signed this report" in page
