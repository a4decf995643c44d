"""The service as the API, the dashboard and the command line use it: who may do what, and what it costs."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from serve.places import ANALYST, AUDITOR, DECLARATIONS, OTHER, OWNER, STRANGER, count, opened, settings_at
from sordino.errors import ArgumentError, BudgetError, ConflictError, FrozenError, LedgerError, QuestionError, RunError
from sordino.gate import ApprovalError
from sordino.ledger.canonical import to_base64
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.ledger.told import told_bytes
from sordino.serve.keeping.identity import Principal
from sordino.serve.keeping.registry import MOST_WISHES
from sordino.serve.refusals import BusyError, ForbiddenError, StateError, UnknownError
from sordino.serve.service import Service


def test_a_question_is_priced_run_and_kept(service: Service) -> None:
    price = service.price(ANALYST, "query", count("0.25"))
    assert price["fits"]
    assert price["part"] == 0.25
    assert price["epsilon"] == "0.25"
    assert price["columns"][0]["name"] == "rides"
    assert service.budget(OWNER, "trips")["used"] == 0  # a price costs nothing
    stages: list[str] = []
    released = service.run(ANALYST, "query", count("0.25"), None, stages.append)
    assert stages == ["planned", "reserved", "running", "settled"]
    assert service.budget(OWNER, "trips")["used"] == 0.25
    assert service.release(ANALYST, released["id"])["answer"] == released["answer"]
    receipt = Receipt.from_json(service.receipt(ANALYST, released["id"]))
    facts = verify_receipt(receipt, service.checkpoint(ANALYST)["key"])
    assert facts.reserved.analyst == "ann"
    assert json.loads(facts.release or b"") == released["answer"]
    (listed,) = service.releases(ANALYST)
    assert (listed["id"], listed["outcome"], listed["part"]) == (released["id"], "settled", 0.25)


def test_all_spending_outlives_the_process(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANALYST, "query", count("0.75"))
    with Service.open(settings_at(tmp_path)) as service:
        assert service.budget(OWNER, "trips")["used"] == 0.75
        with pytest.raises(BudgetError, match=r"epsilon=0\.25 would fit"):
            service.run(OTHER, "query", count("0.5"))


def test_several_accounts_do_not_exceed_the_cap_together(service: Service) -> None:
    granted: list[str] = []
    refused: list[str] = []

    def spend(number: int) -> None:
        who = Principal(f"account {number}", "analyst", frozenset({"trips"}))
        try:
            granted.append(service.run(who, "query", count("0.1"))["id"])
        except BudgetError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(granted), refused) == (10, ["SRD-B001"] * 6)


def test_the_same_key_is_answered_and_charged_once(service: Service) -> None:
    first = service.run(ANALYST, "query", count(), "key")
    again = service.run(ANALYST, "query", count(), "key")
    assert (again["answer"], again["id"], again["replayed"]) == (first["answer"], first["id"], True)
    assert service.budget(OWNER, "trips")["used"] == 0.1
    with pytest.raises(ConflictError):
        service.run(ANALYST, "query", count("0.2"), "key")
    other = service.run(OTHER, "query", count(), "key")  # another's key is another key
    assert other["id"] != first["id"]
    with pytest.raises(ArgumentError):
        service.run(ANALYST, "query", count(), "line\nbreak")


def test_a_replay_needs_no_budget(service: Service) -> None:
    first = service.run(ANALYST, "query", count(1), "key")
    assert service.run(ANALYST, "query", count(1), "key")["answer"] == first["answer"]


@pytest.mark.parametrize(
    ("who", "action"),
    [
        (AUDITOR, lambda service, who: service.price(who, "query", count())),
        (AUDITOR, lambda service, who: service.run(who, "query", count())),
        (AUDITOR, lambda service, who: service.approvals(who)),
        (ANALYST, lambda service, who: service.entries(who, 0, 1)),
        (ANALYST, lambda service, who: service.verify(who)),
        (ANALYST, lambda service, who: service.scopes(who)),
        (ANALYST, lambda service, who: service.tokens(who)),
        (ANALYST, lambda service, who: service.members(who)),
        (ANALYST, lambda service, who: service.admit(who, "x", "owner")),
        (ANALYST, lambda service, who: service.dismiss(who, "x")),
        (ANALYST, lambda service, who: service.issue_token(who, "x", "owner")),
        (ANALYST, lambda service, who: service.revoke_token(who, "x")),
        (ANALYST, lambda service, who: service.register(who, DECLARATIONS)),
        (ANALYST, lambda service, who: service.set_budget(who, "trips", {"epsilon": 9}, "more")),
        (ANALYST, lambda service, who: service.set_policy(who, "trips", {"degrade": True})),
        (ANALYST, lambda service, who: service.cap(who, "analyst", "ann", {"epsilon": 9})),
        (ANALYST, lambda service, who: service.decide(who, "x", True)),
        (ANALYST, lambda service, who: service.scope_budget(who, "analyst", "bob")),
        (ANALYST, lambda service, who: service.add_checkpoint(who, "", "", 0, [], {}, "")),
        (AUDITOR, lambda service, who: service.set_budget(who, "trips", {"epsilon": 9}, "more")),
        (None, lambda service, who: service.transparency(who, "trips")),
    ],
)
def test_roles_are_kept(quiet: Service, who, action) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ForbiddenError):
        action(quiet, who)


@pytest.mark.parametrize(
    "action",
    [
        lambda service: service.dataset(STRANGER, "trips"),
        lambda service: service.price(STRANGER, "query", count()),
        lambda service: service.run(STRANGER, "query", count()),
        lambda service: service.budget(STRANGER, "trips"),
        lambda service: service.transparency(STRANGER, "trips"),
        lambda service: service.releases(STRANGER, dataset="trips"),
        lambda service: service.dataset(ANALYST, "nothing"),
        lambda service: service.release(ANALYST, "1-00"),
        lambda service: service.witnessed(AUDITOR, "key"),
        lambda service: service.decide(OWNER, "nothing", True),
        lambda service: service.revoke_token(OWNER, "nothing"),
        lambda service: service.dismiss(OWNER, "nobody"),
    ],
)
def test_what_one_may_not_know_of_is_unknown(quiet: Service, action) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UnknownError):
        action(quiet)


def test_anothers_release_is_unknown(service: Service) -> None:
    released = service.run(ANALYST, "query", count())
    for look in (service.release, service.receipt):
        with pytest.raises(UnknownError):
            look(OTHER, released["id"])
        assert look(AUDITOR, released["id"])
    assert service.releases(OTHER) == []
    assert len(service.releases(OWNER)) == 1
    assert service.datasets(STRANGER) == []


def test_analysts_see_others_as_one_sum(service: Service) -> None:
    service.run(ANALYST, "query", count("0.1"))
    service.run(OTHER, "query", count("0.2"))
    service.run(OWNER, "query", count("0.3"))
    seen = {each["analyst"]: each["part"] for each in service.budget(ANALYST, "trips")["by_analyst"]}
    assert seen == {"ann": 0.1, "others": 0.5}
    named = {each["analyst"] for each in service.budget(OWNER, "trips")["by_analyst"]}
    assert named == {"ann", "bob", "olga"}
    assert [part for _, part in service.budget(OWNER, "trips")["points"]] == pytest.approx([0.1, 0.3, 0.6])


def test_policies_are_kept_and_approvals_are_used_once(service: Service) -> None:
    service.set_policy(OWNER, "trips", {"least": "0.05", "most": "0.5", "approval": "0.2"})
    for epsilon in ("0.01", "0.6"):
        with pytest.raises(BudgetError) as refused:
            service.run(ANALYST, "query", count(epsilon))
        assert refused.value.code == "SRD-B004"
    assert service.price(ANALYST, "query", count("0.3"))["policy"]["allows"] == "approval"
    assert service.price(ANALYST, "query", count("0.6"))["policy"]["allows"] == "nothing"
    for _ in range(2):
        with pytest.raises(ApprovalError):
            service.run(ANALYST, "query", count("0.3"))
    (wish,) = service.approvals(ANALYST)
    assert service.approvals(OTHER) == []
    assert (wish["state"], wish["question"]["epsilon"]) == ("pending", "0.3")
    assert service.decide(OWNER, wish["id"], True, "fine")["state"] == "approved"
    with pytest.raises(StateError):
        service.decide(OWNER, wish["id"], False)
    with pytest.raises(ApprovalError):
        service.run(OTHER, "query", count("0.3"))  # it was approved for somebody else
    service.run(ANALYST, "query", count("0.3"))
    with pytest.raises(ApprovalError):
        service.run(ANALYST, "query", count("0.3"))
    assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.3)


def test_wishes_of_one_analyst_do_not_hide_those_of_others(service: Service) -> None:
    service.set_policy(OWNER, "trips", {"approval": "0"})
    amounts = [f"0.{number}" for number in range(100, 100 + MOST_WISHES)]
    for amount in (*amounts, amounts[0]):  # the same again is the same wish
        with pytest.raises(ApprovalError):
            service.run(ANALYST, "query", count(amount))
    with pytest.raises(BusyError) as refused:
        service.run(ANALYST, "query", count("0.2"))
    assert refused.value.code == "SRD-S014"
    with pytest.raises(ApprovalError):
        service.run(OTHER, "query", count("0.2"))
    assert len(service.approvals(OWNER)) == MOST_WISHES + 1
    service.decide(OWNER, service.approvals(ANALYST)[0]["id"], False, "no")
    with pytest.raises(ApprovalError):
        service.run(ANALYST, "query", count("0.2"))


def test_an_approval_is_given_back_when_nothing_was_charged(service: Service) -> None:
    service.set_policy(OWNER, "trips", {"approval": "0.5"})
    with pytest.raises(ApprovalError):
        service.run(ANALYST, "query", count("0.7"))
    service.decide(OWNER, service.approvals(OWNER)[0]["id"], True)
    service.run(OTHER, "query", count("0.4"))
    with pytest.raises(BudgetError) as refused:
        service.run(ANALYST, "query", count("0.7"))
    assert refused.value.code == "SRD-B001"
    service.set_budget(OWNER, "trips", {"epsilon": "1.2"}, "another year")
    service.run(ANALYST, "query", count("0.7"))


def test_a_question_that_does_not_fit_is_degraded_if_the_owner_says_so(service: Service) -> None:
    service.set_policy(OWNER, "trips", {"degrade": True})
    service.run(ANALYST, "query", count("0.75"))
    released = service.run(ANALYST, "query", count(2))
    assert "answered for the 0.25 that is left" in released["answer"]["notes"][-1]
    assert released["answer"]["details"]["price"]["epsilon"] == "1/4"
    with pytest.raises(BudgetError):
        service.run(ANALYST, "query", count(2))


def test_the_owners_pause_is_kept(service: Service) -> None:
    service.set_policy(OWNER, "trips", {"pause": 3600})
    service.run(ANALYST, "query", count())
    with pytest.raises(BudgetError) as refused:
        service.run(ANALYST, "query", count())
    assert refused.value.code == "SRD-B003"
    service.run(OTHER, "query", count())


def test_caps_of_analysts_say_what_falls_short(service: Service) -> None:
    service.cap(OWNER, "analyst", "ann", {"epsilon": "0.3"}, "month")
    service.run(ANALYST, "query", count("0.2"))
    assert not service.price(ANALYST, "query", count("0.2"))["fits"]
    assert service.price(ANALYST, "query", count("0.2"))["would_fit"] == {"epsilon": "0.1"}
    with pytest.raises(BudgetError, match=r"analyst 'ann', which begins anew at 20\d\d-\d\d-01T00:00:00Z"):
        service.run(ANALYST, "query", count("0.2"))
    assert service.scope_budget(ANALYST, "analyst", "ann")["used"] == pytest.approx(2 / 3)
    service.cap(OWNER, "analyst", "ann", {"epsilon": "0.6"}, reason="a good year")
    service.run(ANALYST, "query", count("0.2"))
    assert service.scopes(AUDITOR) == ["analyst:ann", "dataset:trips"]
    with pytest.raises(ArgumentError):
        service.cap(OWNER, "dataset", "trips", {"epsilon": 9})


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": None},
        {"epsilon": "NaN"},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": True},
        {"epsilon": "1e400"},
        {"epsilon": 0.1, "rho": 0.1},
        {"sql": ""},
        {"sql": 5},
        {"dataset": 5},
        {"unknown": 1},
        {"words": 5},
        {"find": "no"},
        {"weights": [1]},
        {"weights": {"rides": -1}},
        {"bounding": {"rows": 1}},
        {"bounding": {"method": "weigh", "groups": 3}},
        {"mechanism": "none"},
        {"epsilon": None, "error": {"within": 5}},
        {"epsilon": None, "error": {"within": 5, "of": "rides", "by": 3}},
        {"days": ["2026-11-01"]},
    ],
)
def test_words_that_are_off_are_refused_without_a_charge(quiet: Service, change) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArgumentError):
        quiet.run(ANALYST, "query", {**count(), **change})
    assert quiet.checkpoint(OWNER)["size"] == 1


def test_questions_that_cannot_be_answered_are_refused_without_a_charge(quiet: Service) -> None:
    for sql in ("SELECT * FROM trips", "DROP TABLE trips", "SELECT COUNT(*) FROM nothing", "SELECT 1; SELECT 2"):
        with pytest.raises(QuestionError):
            quiet.run(ANALYST, "query", {**count(), "sql": sql})
    assert quiet.checkpoint(OWNER)["size"] == 1


def test_goals_and_words_reach_the_planner(quiet: Service) -> None:
    goal = {"dataset": "trips", "sql": "SELECT COUNT(*) AS rides FROM trips", "error": {"within": 100, "of": "rides"}}
    price = quiet.price(ANALYST, "query", {**goal, "confidence": 0.9, "bounding": {"method": "weigh", "rows": 2}})
    assert price["confidence"] == 0.9
    assert price["columns"][0]["half_widths"]["100"] <= 100
    sampled = quiet.price(ANALYST, "query", {"dataset": "trips", "sql": goal["sql"], "noise": 40})
    assert float(sampled["epsilon"]) > 0


def test_a_run_that_fails_is_mute_and_its_charge_stands(service: Service, tmp_path: Path) -> None:
    (tmp_path / "trips.parquet").write_bytes(b"not a table any more")
    stages: list[str] = []
    with pytest.raises(RunError) as failed:
        service.run(ANALYST, "query", count(), "key", stages.append)
    assert failed.value.__context__ is None
    assert stages == ["planned", "reserved", "running", "failed"]
    assert service.budget(OWNER, "trips")["used"] == 0.1
    with pytest.raises(RunError):  # the same key is not run again
        service.run(ANALYST, "query", count(), "key")
    assert service.budget(OWNER, "trips")["used"] == 0.1
    (listed,) = service.releases(ANALYST)
    assert (listed["outcome"], listed["code"]) == ("failed", "SRD-R001")
    assert service.release(ANALYST, listed["id"])["answer"] is None
    with pytest.raises(UnknownError):
        service.receipt(ANALYST, listed["id"])


def test_transparency_tells_noise_and_no_answers(service: Service) -> None:
    released = service.run(ANALYST, "query", count())
    value = released["answer"]["columns"][0]["values"][0]
    told = service.transparency(AUDITOR, "trips")
    assert told["releases"][0]["noise"][0]["law"] == "DiscreteLaplace"
    assert told["releases"][0]["analyst"] == "ann"
    assert repr(value) not in json.dumps(told)
    seen = service.transparency(ANALYST, "trips")
    assert "analyst" not in seen["releases"][0]
    assert "sql" not in seen["releases"][0]


def test_transparency_may_be_public(tmp_path: Path) -> None:
    with opened(tmp_path, public_transparency=True) as service:
        assert service.transparency(None, "trips")["unit"] == "rider"
        with pytest.raises(UnknownError):
            service.transparency(None, "nothing")


def test_the_ledger_can_be_audited(service: Service) -> None:
    service.run(ANALYST, "query", count())
    assert service.verify(AUDITOR)["sound"]
    assert [entry["kind"] for entry in service.entries(AUDITOR, 0, 9)] == ["opened", "reserved", "settled"]
    assert service.inclusion(ANALYST, 1)["size"] == 3
    assert service.consistency(ANALYST, 1)["new"] == 3
    with pytest.raises(ArgumentError):
        service.entries(AUDITOR, 2, 1)
    with pytest.raises(ArgumentError):
        service.inclusion(ANALYST, 1, 99)


def test_a_frozen_ledger_answers_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as service:
        service.run(ANALYST, "query", count())
    (tmp_path / "budget.db.witness").unlink()
    with Service.open(settings_at(tmp_path)) as service:
        assert service.frozen is not None
        for action in (service.price, service.run):
            with pytest.raises(FrozenError):
                action(ANALYST, "query", count())
        assert not service.verify(AUDITOR)["sound"]


def test_a_service_is_a_witness_for_another(service: Service, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with opened(elsewhere) as other:
        first, signer = other.checkpoint(OWNER), other.ledger._session.log.key

        def tell(told: Any, old: int, proof: list[str], who: Principal = AUDITOR, **spent: str) -> None:
            totals = {f"dataset:{name}": amount for name, amount in spent.items()}
            signed = told_bytes(first["key"], told["note"], old, totals, anew=False)
            service.add_checkpoint(who, first["key"], told["note"], old, proof, totals, to_base64(signer.sign(signed)))

        tell(first, 0, [], trips="0")
        other.run(ANALYST, "query", count())
        second = other.checkpoint(OWNER)
        proof = other.consistency(OWNER, first["size"])["proof"]
        with pytest.raises(StateError, match="does not extend"):
            tell(second, first["size"], proof[1:])
        with pytest.raises(StateError, match="somebody else"):
            tell(second, first["size"], proof, OWNER)
        tell(second, first["size"], proof)
        with pytest.raises(StateError, match="has size 3"):
            tell(first, first["size"], [])
        assert service.witnessed(AUDITOR, first["key"])["size"] == 3
        for unsigned in ("", to_base64(bytes(64))):
            with pytest.raises(LedgerError, match="SRD-L006"):
                service.add_checkpoint(AUDITOR, first["key"], second["note"], 3, [], {}, unsigned)
        with pytest.raises(LedgerError):
            tell({"note": second["note"].replace("3\n", "4\n", 1)}, 3, [])
        first, signer = service.checkpoint(OWNER), service.ledger._session.log.key
        with pytest.raises(UnknownError):
            tell(first, 1, [])
