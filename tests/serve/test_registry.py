"""Registration: checked before it is stored, under its name with its budget, within the directory of data."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text as statement

from serve.places import ANALYST, DECLARATIONS, OWNER, count, opened, settings_at
from sordino.errors import ArgumentError, BudgetError, LedgerError, SordinoError
from sordino.gate import Policy
from sordino.serve.keeping.registry import Registry, plain_policy, read_policy
from sordino.serve.keeping.tables import FORM, engine_at
from sordino.serve.refusals import StateError
from sordino.serve.service import Service


def test_registering_again_keeps_the_budget(service: Service) -> None:
    service.run(ANALYST, "query", count("0.6"))
    changed = DECLARATIONS.replace("[0, 100]", "[0, 50]")
    for budget in (None, {"epsilon": 1}):
        assert service.register(OWNER, changed, budget)["budget"]["used"] == 0.6
    assert service.dataset(OWNER, "trips")["version"] == 3
    (fare,) = [each for each in service.dataset(ANALYST, "trips")["tables"][0]["columns"] if each["name"] == "fare"]
    assert fare["bounds"] == [0, 50]
    with pytest.raises(BudgetError):
        service.run(ANALYST, "query", count("0.6"))
    with pytest.raises(LedgerError) as refused:
        service.register(OWNER, changed, {"epsilon": 9})
    assert refused.value.code == "SRD-L026"


def test_another_spelling_or_unit_gets_no_fresh_budget(service: Service) -> None:
    for text in (
        DECLARATIONS.replace("name: trips", "name: Trips"),
        DECLARATIONS.replace("unit: rider", "unit: city"),
        DECLARATIONS.replace("unit: rider", "unit: row"),
    ):
        with pytest.raises(StateError) as refused:
            service.register(OWNER, text, {"epsilon": 9})
        assert refused.value.code == "SRD-S015"
    assert service.checkpoint(OWNER)["size"] == 1


def test_the_same_people_under_another_name_share_a_group(tmp_path: Path) -> None:
    grouped = {"epsilon": 1, "groups": ["riders"]}
    with pytest.raises(LedgerError):
        opened(tmp_path, grouped)
    with Service.open(settings_at(tmp_path)) as service:
        service.cap(OWNER, "group", "riders", {"epsilon": 1}, unit="rider")
        service.register(OWNER, DECLARATIONS, grouped)
        service.register(OWNER, DECLARATIONS.replace("name: trips", "name: rides"), grouped)
        service.run(OWNER, "query", count("0.7"))
        rides = {"dataset": "rides", "sql": "SELECT COUNT(*) AS n FROM rides", "epsilon": "0.7"}
        with pytest.raises(BudgetError, match="group 'riders'"):
            service.run(OWNER, "query", rides)
        assert service.scope_budget(OWNER, "group", "riders")["used"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a list",
        "name: x",
        DECLARATIONS.replace("trips.parquet", "nothing.parquet"),
        DECLARATIONS.replace("source: trips.parquet", "source: /etc/passwd"),
        DECLARATIONS.replace("source: trips.parquet", "source: ../trips.parquet"),
        DECLARATIONS.replace("source: trips.parquet", "source: sub/../../x*.csv"),
        DECLARATIONS.replace("unit: rider", "unit: nobody"),
        DECLARATIONS.replace("fare:", "nothing:"),
        DECLARATIONS.replace("name: trips", "name: 'a b'"),
        "name: x\n" * 100_000 + "#" * 400_000,
    ],
)
def test_what_cannot_be_opened_is_not_stored(quiet: Service, text: str) -> None:
    with pytest.raises(SordinoError):
        quiet.register(OWNER, text, {"epsilon": 1})
    assert [each["name"] for each in quiet.datasets(OWNER)] == ["trips"]


@pytest.mark.parametrize(
    ("budget", "policy"),
    [
        (None, None),
        ({}, None),
        ({"epsilon": 1, "rho": 1}, None),
        ({"epsilon": "NaN"}, None),
        ({"epsilon": 1, "unknown": 1}, None),
        ({"epsilon": 1, "refresh": "century"}, None),
        ({"epsilon": 1}, {"unknown": 1}),
        ({"epsilon": 1}, {"most": 2}),
        ({"epsilon": 1}, {"pause": -1}),
        ({"epsilon": 1}, {"degrade": "yes"}),
    ],
)
def test_budgets_and_policies_that_are_off(quiet: Service, budget, policy) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SordinoError):
        quiet.register(OWNER, DECLARATIONS.replace("name: trips", "name: rides"), budget, policy)
    assert [each["name"] for each in quiet.datasets(OWNER)] == ["trips"]


def test_a_link_out_of_the_directory_is_refused(service: Service, tmp_path: Path) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere.parquet"
    elsewhere.write_bytes((tmp_path / "trips.parquet").read_bytes())
    (tmp_path / "link.parquet").symlink_to(elsewhere)
    with pytest.raises(ArgumentError, match="outside"):
        service.register(OWNER, DECLARATIONS.replace("trips.parquet", "link.parquet"))


def test_budgets_are_raised_with_a_reason(service: Service) -> None:
    assert service.set_budget(OWNER, "trips", {"epsilon": 2}, "a new year")["epsilon"] == 2
    assert service.entries(OWNER, 1, 2)[0]["entry"]["reason"] == "a new year"
    with pytest.raises(SordinoError):
        service.set_budget(OWNER, "trips", {"epsilon": 3}, "")
    with pytest.raises(ArgumentError):
        service.set_budget(OWNER, "trips", {"epsilon": 3, "refresh": "day"}, "more")


def test_policies_are_exact() -> None:
    policy = Policy(least="0.1", most="0.3", approval="0.2", pause=5, degrade=True)  # type: ignore[arg-type]
    assert read_policy(plain_policy(policy)) == policy
    assert plain_policy(policy)["least"] == "1/10"


def test_two_registries_share_the_tables(tmp_path: Path) -> None:
    one, two = Registry(str(tmp_path / "a.db")), Registry(str(tmp_path / "a.db"))
    one.put_dataset("x", "tables", "text", "olga")
    two.put_dataset("x", "tables", "other", "olga")
    row = one.dataset("x")
    assert row is not None
    assert (row.declarations, row.version) == ("other", 2)
    wish = one.ask_approval("x", "ann", "digest", "query", "{}", "m")
    assert two.ask_approval("x", "ann", "digest", "query", "{}", "m") == wish
    assert two.take_approval("ann", "digest") is None
    assert two.decide_approval(wish, "approved", "olga", "")
    assert one.take_approval("ann", "digest") == wish
    assert two.take_approval("ann", "digest") is None
    one.return_approval(wish)
    assert two.take_approval("ann", "digest") == wish
    one.close()
    two.close()


def test_tables_of_another_form_are_refused(tmp_path: Path) -> None:
    engine = engine_at(str(tmp_path / "a.db"))
    with engine.begin() as connection:
        connection.execute(statement(f"UPDATE {FORM.version_table} SET version_num = '9999'"))  # noqa: S608
    engine.dispose()
    with pytest.raises(LedgerError) as refused:
        engine_at(str(tmp_path / "a.db"))
    assert refused.value.code == "SRD-L052"
    (tmp_path / "b.db").write_bytes(b"not a database" * 100)
    with pytest.raises(LedgerError) as refused:
        engine_at(str(tmp_path / "b.db"))
    assert refused.value.code == "SRD-L050"


def test_only_owners_are_told_why_a_data_set_does_not_open(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (tmp_path / "trips.parquet").unlink()
    with Service.open(settings_at(tmp_path)) as service:
        with pytest.raises(StateError) as refused:
            service.price(ANALYST, "query", count())
        assert (refused.value.code, str(tmp_path) in refused.value.message) == ("SRD-S018", False)
        with pytest.raises(ArgumentError):
            service.price(OWNER, "query", count())


def test_a_cap_says_whom_it_protects_if_it_is_a_groups(quiet: Service) -> None:
    with pytest.raises(ArgumentError, match="say its unit"):
        quiet.cap(OWNER, "group", "riders", {"epsilon": 1})
    with pytest.raises(ArgumentError, match="have none"):
        quiet.cap(OWNER, "analyst", "ann", {"epsilon": 1}, unit="rider")


def test_many_services_may_start_on_a_new_database_at_once(place: str) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            engine_at(place).dispose()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_tables_that_are_up_to_date_cost_no_migration(tmp_path: Path) -> None:
    place = str(tmp_path / "a.db")
    engine_at(place).dispose()
    program = f"import sys; from sordino.serve.keeping.tables import engine_at; engine_at({place!r})"
    words = [sys.executable, "-c", f"{program}; print(*sys.modules)"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)  # noqa: S603
    assert "sqlalchemy" in ran.stdout.split()
    assert "alembic" not in ran.stdout.split()
