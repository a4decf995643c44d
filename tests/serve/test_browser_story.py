"""The whole story in a real Chromium: an owner registers and issues tokens, an analyst prices, runs and waits for an
approval, an auditor verifies the ledger and a receipt, and sees what was tampered with."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from serve.browsers import Watched, served, watched
from serve.places import ANALYST, OWNER, count, opened, settings_at, write_trips
from serve.tampering import RENAMED, alter
from sordino.serve.service import Service
from sordino.serve.telling import verifying
from sordino.serve.telling.proofs import verify

pytestmark = pytest.mark.service

SQL = "SELECT city, COUNT(*) AS rides FROM trips GROUP BY city"
FILLED = """name: trips
unit: rider
source: trips.parquet
columns:
  city: {keys: [Oslo, Rome, Bern]}
limits: {rows: 5}"""
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def keeps_its_rules(seen: Watched) -> None:
    assert seen.faults() == []
    assert seen.complaints == []
    assert not seen.wide()


def issued(seen: Watched, subject: str, role: str) -> str:
    """Issue a token in the browser, and return it as it is shown."""
    page = seen.page
    seen.go("/admin/tokens")
    page.get_by_label("For whom").fill(subject)
    page.get_by_label("As", exact=True).select_option(role)
    if role == "analyst":  # who reads the whole ledger must be let at all data sets
        page.get_by_label("only these:").check()
        page.get_by_label("trips").check()
    else:
        page.get_by_label("all of them").check()
    press(page, "Issue")
    expect(page.get_by_text("it is shown this once")).to_be_visible()
    keeps_its_rules(seen)
    return page.locator("#token").inner_text()


def register(seen: Watched) -> None:
    """Register a data set in the browser: proposed, filled in, checked, registered; then set when to ask the owner."""
    page = seen.page
    page.get_by_role("link", name="Register a data set").click()
    page.get_by_label("Name", exact=True).fill("trips")
    page.get_by_label("Source", exact=True).fill("trips.parquet")
    page.get_by_label("Unit", exact=True).fill("rider")
    press(page, "Propose")
    declarations = page.get_by_label("Declarations (YAML)")
    expect(declarations).to_have_value(re.compile(r"fare: \{bounds: \[low, high\]\}"))
    keeps_its_rules(seen)
    declarations.fill(FILLED)
    press(page, "Check")
    expect(page.get_by_text("This can be opened, and would be public")).to_be_visible()
    expect(page.get_by_role("table", name="Columns of trips")).to_contain_text("Oslo")
    page.get_by_label("ε", exact=True).fill("1")
    page.get_by_label("Yes, register it").check()
    press(page, "Register")
    expect(page.get_by_text("The data set is registered")).to_be_visible()
    page.get_by_label("Approval above (%)").fill("30")
    press(page, "Change the policy")
    expect(page.get_by_text("The policy was changed")).to_be_visible()
    keeps_its_rules(seen)


def ask(page: Page, epsilon: str) -> None:
    page.get_by_label("Question, in SQL").fill(SQL)
    page.locator("#epsilon").fill(epsilon)
    press(page, "Price")
    expect(page.get_by_role("heading", name="Price", exact=True)).to_be_visible()


def test_the_whole_story(browser: Browser, tmp_path: Path) -> None:
    write_trips(tmp_path)
    with Service.open(settings_at(tmp_path)) as service, served(service) as address:
        with watched(browser, address) as owner, watched(browser, address) as analyst:
            owner.log_in(service.issue_token(OWNER, "olga", "owner"))
            register(owner)
            tokens = {role: issued(owner, subject, role) for subject, role in (("ann", "analyst"), ("ada", "auditor"))}
            analyst.log_in(tokens["analyst"])
            release = _asks_and_waits(analyst)
            _approves(owner)
            _asks_again(analyst)
        assert service.budget(OWNER, "trips")["used"] == pytest.approx(0.6)
        with watched(browser, address) as auditor:
            auditor.log_in(tokens["auditor"])
            receipt = _verifies(auditor, release, tmp_path)
            _sees_through(auditor, receipt, tmp_path)


def _asks_and_waits(seen: Watched) -> str:
    """Run a small question, then ask for a large one; return the address of what was released."""
    page = seen.page
    seen.go("/console")
    ask(page, "0.2")
    press(page, "Run")
    expect(page.get_by_role("heading", name="Answer")).to_be_visible()
    page.get_by_role("link", name="The release").click()
    expect(page.get_by_text("This receipt holds")).to_be_visible()
    expect(page.locator(".drawing svg").first).to_be_visible()
    keeps_its_rules(seen)
    release = page.url
    seen.go("/console")
    ask(page, "0.4")
    press(page, "Ask for approval")
    expect(page.get_by_text("Nothing was charged")).to_be_visible()
    seen.go("/approvals")
    expect(page.get_by_text("waits", exact=True)).to_be_visible()
    keeps_its_rules(seen)
    return release


def _approves(seen: Watched) -> None:
    page = seen.page
    seen.go("/admin")
    expect(page.get_by_text("Waiting for your approval: 1")).to_be_visible()
    page.get_by_role("link", name="ann asks about trips").click()
    expect(page.get_by_text("would cost 40 % of the budget")).to_be_visible()
    page.get_by_label("Reason").fill("agreed by the board")
    keeps_its_rules(seen)
    press(page, "Approve")
    expect(page.get_by_text("may now run exactly this, once")).to_be_visible()
    keeps_its_rules(seen)


def _asks_again(seen: Watched) -> None:
    page = seen.page
    seen.go("/approvals")
    expect(page.get_by_text("agreed by the board")).to_be_visible()
    page.locator(".entries a").first.click()
    page.get_by_role("link", name="Ask the same again").click()
    expect(page.get_by_label("Question, in SQL")).to_have_value(SQL)
    press(page, "Price")
    expect(page.get_by_text("The owner approved of this.")).to_be_visible()
    press(page, "Run")
    expect(page.get_by_role("heading", name="Answer")).to_be_visible()
    keeps_its_rules(seen)


def _verifies(seen: Watched, release: str, folder: Path) -> Path:
    """Verify the ledger live and a downloaded receipt; return the receipt's file."""
    page = seen.page
    seen.go("/ledger")
    press(page, "Verify now")
    expect(page.get_by_text(re.compile(r"All \d+ entries were read and replayed"))).to_be_visible()
    expect(page.get_by_role("button", name="Verify again")).to_be_visible()
    keeps_its_rules(seen)
    page.goto(release)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the receipt").click()
    receipt = folder / download.value.suggested_filename
    download.value.save_as(receipt)
    assert re.fullmatch(r"receipt-\d+-[0-9a-f]+\.json", receipt.name)
    seen.go("/receipts")
    page.get_by_label("The receipt's file").set_input_files(receipt)
    press(page, "Check")
    expect(page.get_by_text("This receipt holds")).to_be_visible()
    expect(page.get_by_text("still holds these")).to_be_visible()
    keeps_its_rules(seen)
    return receipt


def _sees_through(seen: Watched, receipt: Path, folder: Path) -> None:
    """See that a tampered receipt is named, and then a tampered ledger, which freezes."""
    page = seen.page
    seen.go("/receipts")
    page.get_by_label("Or its text").fill(receipt.read_text().replace("0.95", "0.99"))
    press(page, "Check")
    expect(page.get_by_text("the release was altered")).to_be_visible()
    keeps_its_rules(seen)
    alter(folder, RENAMED)
    seen.go("/ledger#verify")
    press(page, "Verify again")
    expect(page.get_by_text("The first bad entry is")).to_be_visible()
    seen.go("/ledger")
    expect(page.get_by_text("This ledger is frozen: nothing is charged or answered")).to_be_visible()
    keeps_its_rules(seen)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    folder = tmp_path_factory.mktemp("story")
    with opened(folder, {"epsilon": 1}, public_transparency=True) as service, served(service) as address:
        service.run(ANALYST, "query", {"dataset": "trips", "sql": SQL, "epsilon": "0.1"})
        for _ in range(3):
            service.run(ANALYST, "query", count("0.01"))
        service.admit(OWNER, "a-very-long-name@" + "sub." * 20 + "example.org", "analyst")
        service.cap(OWNER, "project", "w" * 120, {"epsilon": 1})
        yield service, address


def test_pages_keep_to_their_rules_on_a_phone(house: tuple[Service, str], browser: Browser) -> None:
    service, address = house
    release = service.releases(ANALYST)[-1]["id"]
    with watched(browser, address, **PHONE) as seen:
        seen.log_in(service.issue_token(OWNER, "olga", "owner"))
        token = service.tokens(OWNER)[0]["id"]
        for path in (
            "/releases",
            f"/releases/{release}",
            "/receipts",
            "/ledger",
            "/ledger/1",
            "/admin",
            "/admin/register?anew=trips",
            "/admin/datasets/trips",
            "/admin/caps",
            "/admin/tokens",
            f"/admin/tokens/{token}",
            "/admin/members",
            "/approvals",
            "/transparency",
            "/transparency/trips",
        ):
            seen.go(path)
            assert seen.page.get_by_role("heading", level=1).count() == 1, path
            assert (path, seen.faults(), seen.complaints, seen.wide()) == (path, [], [], False)


def test_the_slider_explains_at_once(house: tuple[Service, str], browser: Browser) -> None:
    _, address = house
    with watched(browser, address, **PHONE) as seen:
        seen.go("/epsilon")
        meaning = seen.page.locator("#meaning")
        expect(meaning.locator("output")).to_have_text("ε = 1")
        seen.page.get_by_label("ε, from 0.05 to 8").fill("3")
        expect(meaning.locator("output")).to_have_text("ε = 3")
        expect(meaning).to_contain_text("at most 20.1 times")
        seen.page.get_by_label("δ", exact=True).select_option("1e-6")
        expect(meaning.locator("output")).to_have_text("ε = 3, δ = 1e-06")
        keeps_its_rules(seen)


def test_without_scripts_pages_do_the_same(
    house: tuple[Service, str], browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, address = house
    looked_at = threading.Event()
    monkeypatch.setattr(verifying, "verify", lambda *asked: (looked_at.wait(30), verify(*asked))[1])
    with watched(browser, address, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(f"{address}/epsilon")
        page.get_by_label("δ", exact=True).select_option("1e-5")
        press(page, "Explain")
        expect(page.locator("#meaning output")).to_have_text("ε = 1, δ = 1e-05")
        page.goto(f"{address}/login")
        page.get_by_label("Your token").fill(service.issue_token(OWNER, "ada", "auditor"))
        press(page, "Log in")
        page.goto(f"{address}/ledger")
        page.get_by_role("button", name=re.compile("Verify")).click()
        expect(page.get_by_text("Look again")).to_be_visible()
        looked_at.set()
        for _ in range(100):
            if page.get_by_text("Look again").count() == 0:
                break
            with page.expect_request(f"{address}/ledger"):  # not only scrolled to
                page.get_by_text("Look again").click()
            page.wait_for_load_state()
        expect(page.get_by_text("entries were read and replayed")).to_be_visible()
        page.goto(f"{address}/transparency/trips")
        page.get_by_text("Part of the budget that each release cost, as a table").click()
        expect(page.get_by_role("table", name="Releases, the newest first")).to_be_visible()
