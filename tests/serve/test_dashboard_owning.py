"""The owner's pages: registering, budgets, policies, caps, tokens, members, approvals; and who may not."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from serve.places import ANALYST, AUDITOR, COUNT, DECLARATIONS, OTHER, OWNER, count
from serve.visits import Visit
from sordino.gate import ApprovalError

Who = Callable[[str | None], Visit]

HOSTILE = "<script>alert('x')</script>"
HOSTILE_SQL = """SELECT COUNT(*) AS "<script>alert('x')</script>" FROM trips"""
RIDES = DECLARATIONS.replace("name: trips", "name: rides").strip()
PAGES = ("", "/register", "/register?anew=trips", "/datasets/trips", "/caps", "/tokens", "/members")
FORMS: dict[str, dict[str, Any]] = {
    "/admin/propose": {"name": "rides", "source": "trips.parquet", "unit": "rider"},
    "/admin/check": {"declarations": RIDES},
    "/admin/register": {"declarations": RIDES, "epsilon": "1", "sure": "yes"},
    "/admin/datasets/trips/budget": {"epsilon": "2", "reason": "more", "sure": "yes"},
    "/admin/datasets/trips/policy": {"most": "50"},
    "/admin/caps": {"kind": "analyst", "name": "ann", "epsilon": "1", "sure": "yes"},
    "/admin/tokens": {"subject": "zoe", "role": "owner", "days": "9"},
    "/admin/tokens/{token}": {"sure": "yes"},
    "/admin/members": {"subject": "zoe", "role": "owner"},
    "/admin/members/dismissal": {"leaving": "mia", "sure": "yes"},
    "/approvals/{approval}": {"decision": "approve"},
}


def wish(somebody: Visit) -> str:
    """Let an analyst ask for more than the owner lets pass, and return the id of what waits."""
    somebody.service.set_policy(OWNER, "trips", {"approval": "0.25"})
    with pytest.raises(ApprovalError):
        somebody.service.run(ANALYST, "query", count("0.5"))
    return str(somebody.service.approvals(OWNER)[0]["id"])


def state(somebody: Visit) -> list[Any]:
    service = somebody.service
    lists = [service.datasets(OWNER), service.tokens(OWNER), service.members(OWNER), service.approvals(OWNER)]
    return [*lists, service.scopes(OWNER), service.dataset(OWNER, "trips")["policy"]]


@pytest.mark.parametrize("role", ["analyst", "auditor"])
def test_the_office_is_the_owners(visit: Who, role: str) -> None:
    somebody = visit(role)
    ids = {"approval": wish(somebody), "token": somebody.service.tokens(OWNER)[0]["id"]}
    somebody.service.admit(OWNER, "mia", "analyst")
    before = state(somebody)
    assert [somebody.see(f"/admin{path}").status_code for path in PAGES] == [403] * len(PAGES)
    assert somebody.see(f"/admin/tokens/{ids['token']}").status_code == 403
    for address, fields in FORMS.items():
        assert somebody.fill(address.format(**ids), **fields).status_code == 403
    assert state(somebody) == before


def test_no_form_is_taken_without_the_sessions_own_token(visit: Who) -> None:
    owner = visit("owner")
    ids = {"approval": wish(owner), "token": owner.service.tokens(OWNER)[0]["id"]}
    owner.service.admit(OWNER, "mia", "analyst")
    before = state(owner)
    for address, fields in FORMS.items():
        assert owner.send(address.format(**ids), **fields).status_code == 403
        assert owner.send(address.format(**ids), csrf="0" * 64, **fields).status_code == 403
    assert state(owner) == before
    for address, fields in FORMS.items():
        if "tokens/" not in address:
            assert owner.fill(address.format(**ids), **fields).status_code in (200, 303)


def test_a_data_set_is_proposed_checked_and_registered(visit: Who) -> None:
    owner = visit("owner")
    proposed = owner.fill("/admin/propose", name="rides", source="trips.parquet", unit="rider")
    assert "Nothing is stored yet" in proposed.text
    text = unescape(re.findall(r"(?s)<textarea id=\"declarations\"[^>]*>\n(.*?)</textarea>", proposed.text)[0])
    assert "fare: {bounds: [low, high]}  # real" in text
    checked = owner.fill("/admin/check", declarations=RIDES, epsilon="2")
    assert "This can be opened, and would be public" in checked.text
    assert "rides protects each rider" in checked.text
    assert 'value="2"' in checked.text
    assert [each["name"] for each in owner.service.datasets(OWNER)] == ["trips"]
    unsure = owner.fill("/admin/register", declarations=RIDES, epsilon="2", refresh="month")
    assert unsure.status_code == 422
    assert "tick the box" in unsure.text
    assert RIDES in unescape(unsure.text)
    assert '<option value="month" selected>' in unsure.text
    done = owner.fill("/admin/register", declarations=RIDES.replace("\n", "\r\n"), epsilon="2", sure="yes")
    assert done.headers["location"] == "/admin/datasets/rides?done=registered"
    assert "The data set is registered" in owner.see(done.headers["location"]).text
    assert owner.service.declarations(OWNER, "rides") == RIDES
    assert owner.service.budget(OWNER, "rides")["epsilon"] == 2.0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"declarations": "name: [trips"}, "SRD-A"),
        ({"declarations": f"name: {HOSTILE}"}, "SRD-A"),
        ({"declarations": RIDES.replace("trips.parquet", "../trips.parquet"), "epsilon": "1"}, "SRD-A"),
        ({"declarations": RIDES.replace("trips.parquet", "nothing.parquet"), "epsilon": "1"}, "SRD-"),
        ({"declarations": RIDES}, "has no budget in this ledger yet"),
        ({"declarations": RIDES, "epsilon": "a lot"}, "epsilon must be a decimal number"),
        ({"declarations": RIDES, "epsilon": "1", "rho": "1"}, "SRD-A"),
        ({"declarations": RIDES.replace("rides", "TRIPS"), "epsilon": "1"}, "SRD-S015"),
        ({"declarations": DECLARATIONS, "epsilon": "7"}, "SRD-L026"),
    ],
)
def test_what_cannot_be_registered_is_said_beside_what_was_typed(visit: Who, fields: dict[str, str], said: str) -> None:
    owner = visit("owner")
    refused = owner.fill("/admin/register", sure="yes", **fields)
    assert refused.status_code in (404, 409, 422)
    assert "This was not done" in refused.text
    assert said in refused.text
    assert fields["declarations"].strip() in unescape(refused.text)
    assert HOSTILE not in refused.text
    assert [each["name"] for each in owner.service.datasets(OWNER)] == ["trips"]


def test_a_proposal_that_fails_keeps_what_was_typed(visit: Who) -> None:
    refused = visit("owner").fill("/admin/propose", name="x", source=f"{HOSTILE}.csv", unit="row")
    assert refused.status_code in (422, 424)
    assert f"{HOSTILE}.csv" in unescape(refused.text)
    assert HOSTILE not in refused.text


def test_a_data_set_is_declared_anew_and_keeps_its_budget(visit: Who) -> None:
    owner = visit("owner")
    assert "Declare a data set anew" in owner.see("/admin/register?anew=trips").text
    assert owner.see("/admin/register?anew=nothing").status_code == 404
    changed = DECLARATIONS.replace("[0, 100]", "[0, 50]")
    assert owner.fill("/admin/register", declarations=changed, sure="yes").status_code == 303
    found = owner.service.dataset(OWNER, "trips")
    assert (found["version"], found["budget"]["budget"]) == (2, "ε = 1")


def test_a_budget_is_raised_with_a_reason(visit: Who) -> None:
    owner = visit("owner")
    address = "/admin/datasets/trips/budget"
    for fields, said in (
        ({"epsilon": "2", "reason": HOSTILE}, "tick the box"),
        ({"epsilon": "2", "sure": "yes"}, "reason must be in words"),
        ({"epsilon": "-2", "reason": "more", "sure": "yes"}, "SRD-A002"),
        ({"rho": "2", "reason": "more", "sure": "yes"}, "SRD-"),
    ):
        refused = owner.fill(address, **fields)
        assert refused.status_code in (409, 422)
        assert said in refused.text
        assert HOSTILE not in refused.text
        assert fields.get("reason", "") in unescape(refused.text)
    assert owner.service.budget(OWNER, "trips")["epsilon"] == 1.0
    done = owner.fill(address, epsilon="2", reason="a second year\r\nof it", sure="yes")
    assert done.headers["location"] == "/admin/datasets/trips?done=budget"
    assert "for good" in owner.see(done.headers["location"]).text
    newest = owner.service.newest_entries(AUDITOR, limit=1)["entries"][0]["entry"]
    assert (newest["kind"], newest["by"], newest["reason"]) == ("budgeted", "olga", "a second year\nof it")
    assert owner.fill("/admin/datasets/nothing/budget", epsilon="2", reason="x", sure="yes").status_code == 404


def test_a_policy_is_in_percent_and_exact(visit: Who) -> None:
    owner = visit("owner")
    address = "/admin/datasets/trips/policy"
    done = owner.fill(address, least="0.1", most="33.3", approval="12.5", pause="60", degrade="yes")
    assert done.status_code == 303
    policy = owner.service.dataset(OWNER, "trips")["policy"]
    assert policy == {"least": "1/1000", "most": "333/1000", "approval": "1/8", "pause": 60, "degrade": True}
    page = owner.see(done.headers["location"]).text
    for value in ("0.1", "33.3", "12.5", "60"):
        assert f'value="{value}"' in page
    assert owner.fill(address, least="0", most="100", pause="0").status_code == 303
    policy = owner.service.dataset(OWNER, "trips")["policy"]
    assert policy == {"least": "0", "most": "1", "approval": None, "pause": 0, "degrade": False}
    for fields in ({"most": "101"}, {"least": "x"}, {"pause": "-1"}, {"pause": "1.5"}, {"approval": "nan"}):
        refused = owner.fill(address, **fields)
        assert refused.status_code == 422
        assert all(f'value="{value}"' in refused.text for value in fields.values())
    assert owner.service.dataset(OWNER, "trips")["policy"] == policy


def test_caps_for_analysts_projects_and_groups(visit: Who) -> None:
    owner = visit("owner")
    assert "There are none yet" in owner.see("/admin/caps").text
    fields = {"kind": "analyst", "name": HOSTILE, "epsilon": "0.5", "refresh": "month"}
    assert "tick the box" in owner.fill("/admin/caps", **fields).text
    assert owner.fill("/admin/caps", **fields, sure="yes").headers["location"] == "/admin/caps?done=cap"
    group = {"kind": "group", "name": "riders", "epsilon": "5", "unit": "rider", "sure": "yes"}
    assert owner.fill("/admin/caps", **group).status_code == 303
    page = owner.see("/admin/caps?done=cap").text
    assert HOSTILE not in page
    assert f"analyst {HOSTILE}" in unescape(page)
    assert owner.service.scope_budget(OWNER, "analyst", HOSTILE)["refresh"] == "month"
    again = owner.fill("/admin/caps", **{**fields, "epsilon": "0.7"}, reason="a bigger study", sure="yes")
    assert again.status_code == 303
    assert owner.service.scope_budget(OWNER, "analyst", HOSTILE)["epsilon"] == 0.7
    for wrong in (
        {"kind": "dataset", "name": "trips"},
        {"kind": "group", "name": "g"},
        {"kind": "project", "name": ""},
    ):
        assert owner.fill("/admin/caps", **wrong, epsilon="1", sure="yes").status_code in (409, 422)


def test_a_token_is_shown_once_and_revoked_for_good(visit: Who) -> None:
    owner = visit("owner")
    issued = owner.fill("/admin/tokens", subject=HOSTILE, role="analyst", days="9", which="some", datasets="trips")
    token = re.findall(r"sordino_[\w-]+", issued.text)[0]
    assert HOSTILE not in issued.text
    listed = owner.see("/admin/tokens").text
    assert token not in listed
    assert f"the token of {HOSTILE}" in unescape(listed)
    who = owner.service.identities.of_token(token)
    assert (who.subject, who.role, who.datasets) == (HOSTILE, "analyst", frozenset({"trips"}))
    holder = Visit(owner.service, owner.client, token)
    assert holder.see("/").status_code == 200
    identifier = next(each["id"] for each in owner.service.tokens(OWNER) if each["subject"] == HOSTILE)
    assert "cannot be made good again" in owner.see(f"/admin/tokens/{identifier}").text
    assert owner.fill(f"/admin/tokens/{identifier}").status_code == 422
    assert holder.see("/").status_code == 200
    done = owner.fill(f"/admin/tokens/{identifier}", sure="yes")
    assert "is revoked" in owner.see(done.headers["location"]).text
    assert holder.see("/").headers["location"] == "/login"
    assert "is revoked already" in owner.see(f"/admin/tokens/{identifier}").text
    assert owner.fill(f"/admin/tokens/{identifier}", sure="yes").status_code == 404
    assert owner.see("/admin/tokens/0123").status_code == 404


def test_a_token_that_cannot_be_issued(visit: Who) -> None:
    owner = visit("owner")
    count_before = len(owner.service.tokens(OWNER))
    good = {"subject": "zoe", "role": "analyst", "days": "9", "which": "all"}
    for wrong in (
        {"subject": ""},
        {"subject": " \u202e"},
        {"role": "king"},
        {"days": "0"},
        {"days": "x"},
        {"which": "some"},
        {"which": ""},  # nobody is let at everything unasked
        {"which": "", "role": "auditor"},
        {"datasets": "trips"},  # ticked, beside the choice of all
    ):
        refused = owner.fill("/admin/tokens", **{**good, **wrong})
        assert refused.status_code == 422
        assert "This was not done" in refused.text
    assert owner.fill("/admin/tokens", **{**good, "subject": "a\x00b"}).status_code == 422
    assert len(owner.service.tokens(OWNER)) == count_before


def test_what_is_ticked_is_what_is_given(visit: Who) -> None:
    owner = visit("owner")
    given = {"role": "analyst", "days": "9", "datasets": "trips"}
    assert owner.fill("/admin/tokens", subject="zoe", **given).status_code == 200
    assert owner.fill("/admin/tokens", subject="max", role="owner", days="9").status_code == 200
    known = {each["subject"]: each["datasets"] for each in owner.service.tokens(OWNER)}
    assert (known["zoe"], known["max"]) == (["trips"], None)
    assert 'value="all" >' in owner.see("/admin/tokens").text  # and neither is chosen beforehand


def test_members_are_admitted_and_dismissed(visit: Who) -> None:
    owner = visit("owner")
    assert "no issuer set" in owner.see("/admin/members").text
    admitted = owner.fill("/admin/members", subject=HOSTILE, role="auditor", which="all")
    page = owner.see(admitted.headers["location"]).text
    assert HOSTILE not in page
    assert "may now log in" in page
    assert owner.fill("/admin/members", subject="", role="auditor").status_code == 422
    assert owner.fill("/admin/members/dismissal", leaving=HOSTILE).status_code == 422
    assert owner.fill("/admin/members/dismissal", leaving="nobody", sure="yes").status_code == 404
    assert owner.fill("/admin/members/dismissal", leaving=HOSTILE, sure="yes").status_code == 303
    assert owner.service.members(OWNER) == []


def test_an_approval_is_decided_and_used_once(visit: Who) -> None:
    owner, ann, bob = visit("owner"), visit("analyst"), visit("other")
    identifier = wish(owner)
    assert "Waiting for your approval: 1" in owner.see("/admin").text
    shown = owner.see(f"/approvals/{identifier}").text
    assert COUNT in shown
    assert "would cost 50 % of the budget" in shown
    assert "Decide" not in ann.see(f"/approvals/{identifier}").text
    assert bob.see(f"/approvals/{identifier}").status_code == 404
    assert identifier not in bob.see("/approvals").text
    assert visit("auditor").see("/approvals").status_code == 403
    assert owner.fill(f"/approvals/{identifier}", decision="perhaps").status_code == 422
    done = owner.fill(f"/approvals/{identifier}", decision="approve", reason="agreed by the board")
    assert "may now run exactly this, once" in owner.see(done.headers["location"]).text
    mine = ann.see(f"/approvals/{identifier}").text
    assert "agreed by the board" in mine
    assert "/console?dataset=trips&amp;sql=SELECT" in mine
    assert "epsilon=0.5" in mine
    assert ann.service.run(ANALYST, "query", count("0.5"))["replayed"] is False
    assert "Approved, and run since" in ann.see(f"/approvals/{identifier}").text
    assert owner.fill(f"/approvals/{identifier}", decision="approve").status_code == 409


def test_to_decline_needs_a_reason_that_the_analyst_reads(visit: Who) -> None:
    owner, ann = visit("owner"), visit("analyst")
    identifier = wish(owner)
    refused = owner.fill(f"/approvals/{identifier}", decision="decline")
    assert "say why" in refused.text
    assert owner.service.approvals(OWNER)[0]["state"] == "pending"
    done = owner.fill(f"/approvals/{identifier}", decision="decline", reason=HOSTILE)
    assert "Declined" in owner.see(done.headers["location"]).text
    mine = ann.see("/approvals").text
    assert HOSTILE not in mine
    assert HOSTILE in unescape(mine)
    with pytest.raises(ApprovalError):
        ann.service.run(ANALYST, "query", count("0.5"))


def test_hostile_questions_are_texts_on_the_owners_pages(visit: Who) -> None:
    owner = visit("owner")
    owner.service.set_policy(OWNER, "trips", {"approval": "0.25"})
    with pytest.raises(ApprovalError):
        owner.service.run(OTHER, "query", {"dataset": "trips", "sql": HOSTILE_SQL, "epsilon": "0.5"})
    identifier = owner.service.approvals(OWNER)[0]["id"]
    for path in ("/admin", "/approvals", f"/approvals/{identifier}"):
        assert HOSTILE not in owner.see(path).text
    assert HOSTILE in unescape(owner.see(f"/approvals/{identifier}").text)


def test_what_was_done_is_not_read_from_the_address(visit: Who) -> None:
    owner = visit("owner")
    for path in ("/admin/tokens", "/admin/members", "/admin/caps", "/admin/datasets/trips", "/approvals"):
        plain, asked = owner.see(path), owner.see(f"{path}?done=You+have+won")
        assert asked.status_code == 200
        assert "You have won" not in asked.text
        assert "alert good" not in plain.text + asked.text
