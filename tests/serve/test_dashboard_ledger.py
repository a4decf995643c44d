"""Pages of releases, receipts and the ledger: whose they are, what they say, and what of what was tampered with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from httpx import Response

import sordino
from serve.places import ANALYST, AUDITOR, CANARY_TEXT, OTHER, OWNER, count
from serve.tampering import RENAMED, alter
from serve.visits import HTML, HTMX, Visit
from sordino.accounting.event import EVENT_TYPES
from sordino.errors import FrozenError
from sordino.ledger.entries import KINDS
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.serve.dashboard import entry_words, explorer, released
from sordino.serve.keeping.identity import Principal
from sordino.serve.telling import event_words

Who = Callable[[str | None], Visit]

HOSTILE = "<script>alert(1)</script>"
GROUPS = 'SELECT city, COUNT(*) AS "<b>rides</b>" FROM trips GROUP BY city'


def verified(somebody: Visit) -> str:
    """Let a verification run as a browser does: begin, then ask again while it says so."""
    begun = somebody.fill("/ledger/verify", HTMX)
    for _ in range(2000):
        if 'hx-trigger="every' not in begun.text:
            return begun.text
        time.sleep(0.01)
        begun = somebody.see("/ledger/verify", HTMX)
    raise AssertionError("it never ended")


def test_releases_are_an_analysts_own(visit: Who) -> None:
    ann = visit("analyst")
    mine = ann.service.run(ANALYST, "query", count(0.1))["id"]
    theirs = ann.service.run(OTHER, "query", count(0.1))["id"]
    listed = ann.see("/releases").text
    assert mine in listed
    assert theirs not in listed
    for path in ("", "/receipt.json"):
        assert ann.see(f"/releases/{mine}{path}").status_code == 200
        assert ann.see(f"/releases/{theirs}{path}").status_code == 404
        assert ann.see(f"/releases/7-0123456789abcdef{path}").status_code == 404
    for role in ("owner", "auditor"):
        all_of_them = visit(role).see("/releases?dataset=trips").text
        assert mine in all_of_them
        assert theirs in all_of_them
    assert visit("stranger").see("/releases").text.count("/releases/") == 0
    assert visit("stranger").see("/releases?dataset=trips").status_code == 404


def test_releases_come_page_by_page(visit: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(released, "PAGE", 2)
    ann = visit("analyst")
    ids = [ann.service.run(ANALYST, "query", count(0.1))["id"] for _ in range(3)]
    first = ann.see("/releases").text
    assert [identifier in first for identifier in ids] == [False, True, True]
    assert '<a href="?before=3" rel="next">' in first
    second = ann.see("/releases?before=3").text
    assert [identifier in second for identifier in ids] == [True, False, False]
    assert 'rel="next"' not in second


def test_a_release_says_all_that_is_known_of_it(visit: Who) -> None:
    ann = visit("analyst")
    found = ann.service.run(ANALYST, "query", {"dataset": "trips", "sql": GROUPS, "epsilon": "0.2"})
    page = ann.see(f"/releases/{found['id']}").text
    for words in ("ε = 0.2", "20 %", "Oslo", "Intervals at 95 %", "discrete Laplace noise", "P[k] ∝ exp(−|k| / "):
        assert words in page
    assert "All rows of one rider weigh 5 in all at most" in page
    assert "This receipt holds" in page
    assert "&lt;b&gt;rides&lt;/b&gt;" in page
    assert "<b>rides" not in page
    assert 'href="/ledger/' not in page
    assert 'href="/ledger/1"' in visit("auditor").see(f"/releases/{found['id']}").text
    assert CANARY_TEXT not in page


def test_the_receipt_is_downloaded_byte_for_byte(visit: Who) -> None:
    ann = visit("analyst")
    identifier = ann.service.run(ANALYST, "query", count(0.1))["id"]
    given = ann.see(f"/releases/{identifier}/receipt.json")
    assert given.headers["content-disposition"] == f'attachment; filename="receipt-{identifier}.json"'
    assert given.headers["content-type"] == "application/json"
    facts = verify_receipt(Receipt.from_json(given.text), ann.service.ledger.key.text)
    assert facts.reserved.id == identifier


def test_what_came_to_nothing_is_said(visit: Who) -> None:
    ann, ledger = visit("analyst"), visit("owner").service.ledger
    identifier = ann.service.run(ANALYST, "query", count(0.1))["id"]
    record = ann.service.journal.record(identifier)
    assert record is not None
    record.settled, record.code = None, "SRD-R001"
    page = ann.see(f"/releases/{identifier}").text
    assert "Nothing came of this" in page
    assert "What was charged stays charged" in page
    record.code = None
    assert "not settled yet" in ann.see(f"/releases/{identifier}").text
    assert ledger.verify().sound


@pytest.mark.parametrize("role", ["analyst", "stranger", "auditor", "owner"])
def test_whoever_is_known_may_have_a_receipt_checked(visit: Who, role: str) -> None:
    somebody = visit(role)
    text = somebody.service.run(ANALYST, "query", count(0.1))["receipt"]
    assert "nothing of it is kept" in somebody.see("/receipts").text
    holds = somebody.fill("/receipts", text=text).text
    assert "This receipt holds" in holds
    assert "discrete Laplace noise" in holds
    assert somebody.send("/receipts", text=text).status_code == 403
    altered = somebody.fill("/receipts", text=text.replace("0.95", "0.96")).text
    assert "This receipt does not hold" in altered
    assert "the release was altered" in altered
    assert "SRD-L010" in altered
    charge = somebody.fill("/receipts", text=text.replace('\\"analyst\\":\\"ann\\"', '\\"analyst\\":\\"bob\\"')).text
    assert "the charge in this receipt is not entry 1" in charge


def test_a_receipt_may_be_uploaded(visit: Who) -> None:
    ann = visit("analyst")
    text = ann.service.run(ANALYST, "query", count(0.1))["receipt"]

    def upload(content: bytes) -> Response:
        fields = {"csrf": ann.csrf, "text": HOSTILE}
        files = {"file": ("receipt.json", content, "application/json")}
        return ann.client.post("/receipts", data=fields, files=files, headers=HTML)

    assert "This receipt holds" in upload(text.encode()).text
    wrong = upload(b"\xff\x00<script>")
    assert "SRD-L008" in wrong.text
    assert HOSTILE not in wrong.text
    assert HOSTILE in unescape(wrong.text)


def test_the_ledger_is_for_owners_and_auditors(visit: Who) -> None:
    ann = visit("analyst")
    for path in ("/ledger", "/ledger/0", "/ledger/verify"):
        assert ann.see(path).status_code == 403
    assert ann.fill("/ledger/verify").status_code == 403
    assert visit(None).see("/ledger").headers["location"] == "/login?next=/ledger"


def test_entries_in_words_with_bytes_and_proof(visit: Who, monkeypatch: pytest.MonkeyPatch) -> None:
    auditor = visit("auditor")
    auditor.service.run(ANALYST, "query", count(0.1))
    auditor.service.set_budget(OWNER, "trips", {"epsilon": 2}, f"a second year {HOSTILE}")
    page = auditor.see("/ledger").text
    for words in (
        "olga opened data set trips with a budget of ε = 1. Each rider is protected (add-remove).",
        "a query of ann was charged to data set trips: discrete Laplace noise.",
        "was settled: its digest stands here for good.",
        "olga set the budget of data set trips to ε = 2. The reason: a second year &lt;script&gt;",
        "It has seen 4 of 4 entries, as many as there are.",
    ):
        assert words in page
    assert HOSTILE not in page
    entry = auditor.see("/ledger/1").text
    assert unescape(entry).count(auditor.service.entries(AUDITOR, 1, 2)[0]["canonical"]) == 1
    assert "The proof holds" in entry
    assert auditor.see("/ledger/4").status_code == 404
    assert auditor.see("/ledger/-1").status_code == 422
    settled = auditor.see("/ledger?kind=settled&dataset=trips").text
    assert ('href="/ledger/2"' in settled, 'href="/ledger/1"' in settled) == (True, False)
    assert "None of these" in auditor.see("/ledger?kind=restored").text
    assert "None of these" in auditor.see("/ledger?dataset=%3Cscript%3E").text
    monkeypatch.setattr(explorer, "PAGE", 3)
    assert 'href="/ledger?before=1#entries"' in auditor.see("/ledger").text
    assert 'href="/ledger/0"' in auditor.see("/ledger?before=1").text


def test_an_auditor_verifies(visit: Who) -> None:
    auditor = visit("auditor")
    auditor.service.run(ANALYST, "query", count(0.1))
    assert "Verify now" in auditor.see("/ledger").text
    assert "All 3 entries were read and replayed" in verified(auditor)
    assert auditor.send("/ledger/verify").status_code == 403
    plain = auditor.fill("/ledger/verify")
    assert (plain.status_code, plain.headers["location"]) == (303, "/ledger#verify")
    assert auditor.see("/ledger/verify").headers["location"] == "/ledger#verify"
    ends = time.monotonic() + 60
    while "Begun by ada" not in (page := auditor.see("/ledger").text) and time.monotonic() < ends:
        time.sleep(0.1)  # while it still runs, nothing is told of it yet
    assert "Begun by ada" in page


def test_a_tampered_ledger_is_named_and_said_to_be_frozen(visit: Who, tmp_path: Path) -> None:
    auditor = visit("auditor")
    auditor.service.run(ANALYST, "query", count(0.1))
    alter(tmp_path, RENAMED)
    found = verified(auditor)
    assert 'The first bad entry is <a href="/ledger/1">entry 1</a>' in found
    assert "SRD-L064" in found
    page = auditor.see("/ledger")
    assert page.status_code == 200
    for words in ("nothing is charged or answered", "they are the evidence", "nobody vouches", "a query of bob"):
        assert words in page.text
    assert "There is no proof while the ledger is frozen" in auditor.see("/ledger/1").text
    assert visit("analyst").see("/releases").status_code == 503


@pytest.mark.parametrize("code", ["SRD-L061", "SRD-L062", "SRD-L063", "SRD-L064", "SRD-L068", "SRD-L069"])
def test_what_to_do_about_a_frozen_ledger(visit: Who, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    auditor = visit("auditor")

    def frozen(*_: object) -> None:
        raise FrozenError(HOSTILE, code)

    monkeypatch.setattr(auditor.service.ledger, "look", frozen)
    page = auditor.see("/ledger").text
    assert code in page
    assert HOSTILE not in page
    assert all(step.split(":")[0] in unescape(page) for step in entry_words.remedies(code))


def test_every_kind_of_entry_and_event_has_words() -> None:
    assert set(entry_words.KINDS) == set(KINDS)
    assert set(event_words.EVENTS) == set(EVENT_TYPES)
    burnt = {"by": "olga", "reason": "a fire", "lost_from": 3, "lost_to": 5, "burnt": []}
    for kind, entry in {
        "failed": {"id": "1-00", "code": "SRD-R001"},
        "part": {"id": "1-00", "number": 3},
        "refreshed": {"scope": "analyst:ann", "period": 7},
        "checkpointed": {"note": "origin\n4096\nroot\n\nsignature"},
        "frozen": {"code": "SRD-L061"},
        "restored": burnt,
        "continued": burnt | {"key": "example.org/ledger/restored-1+00000000+AQ"},
    }.items():
        assert entry_words.sentence({"kind": kind, "entry": entry}).endswith((".", "fire"))


def test_noise_never_seems_wider_and_losses_never_smaller_than_they_are() -> None:
    (told,) = event_words.told_of(
        {"kind": "discrete-laplace", "scale": "5555555/100000000000", "sensitivity": "2/3", "coordinates": "1"}
    )
    assert told.figures.startswith("scale 5.55555e-05;")
    assert "0.666667 at most" in told.figures
    assert event_words.price({"epsilon": "1/3", "delta": "1/1000000", "rho": None}) == "ε = 0.333334, δ = 1e-06"
    sampled = {
        "kind": "poisson-sampled",
        "rate": "1/100",
        "event": {"kind": "laplace", "scale": "4", "sensitivity": "1"},
    }
    (told,) = event_words.told_of({"kind": "repeated", "count": "1000", "event": sampled})
    assert told.name == "1\u00a0000 times: on a sample of rate 0.01: Laplace noise"


def test_hostile_names_are_texts_wherever_they_stand(visit: Who) -> None:
    owner = visit("owner")
    hostile = Principal(HOSTILE, "analyst", frozenset({"trips"}))
    released_ = owner.service.run(hostile, "query", {"dataset": "trips", "sql": GROUPS, "epsilon": "0.1"})
    paths = ("/releases", f"/releases/{released_['id']}", "/ledger", "/ledger/1", "/transparency/trips")
    for path in paths:
        page = owner.see(path).text
        assert HOSTILE not in page
        assert HOSTILE in unescape(page)
    assert HOSTILE in json.dumps(owner.see("/transparency/trips/report.json").json())


def test_whoever_audits_needs_no_web_framework() -> None:
    read = [path.read_text() for path in (Path(sordino.__file__).parent / "audit").rglob("*.py")]
    assert any("sordino.serve.telling.event_words" in text for text in read)
    framework = (
        "sordino.serve.dashboard",
        "sordino.serve.api",
        "sordino.serve.app",
        "sordino.serve.http.browsing",
    )
    assert not [name for name in framework if any(name in text for text in read)]
    assert "fastapi" not in Path(event_words.__file__).read_text()
