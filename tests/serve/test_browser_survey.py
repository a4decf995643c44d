"""Pages of surveys in a real Chromium: an owner runs one; a participant reads what it costs, and sends nothing."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from serve.browsers import served, watched
from serve.places import OWNER, opened
from serve.polls import POLL, reports

pytestmark = [pytest.mark.browser, pytest.mark.service]

PHONE = {"width": 320, "height": 720}


def test_an_owner_runs_a_survey_and_a_participant_reads_it(tmp_path: Path, browser: Browser) -> None:
    with opened(tmp_path) as service, served(service) as address, watched(browser, address) as seen:
        page = seen.page
        seen.log_in(service.issue_token(OWNER, "olga", "owner"))
        page.get_by_role("link", name="Surveys").click()
        page.get_by_label("What is asked, as YAML").fill(POLL)
        assert not seen.faults()
        page.get_by_role("button", name="Define it").click()
        page.get_by_role("button", name="Open round 1").click()
        expect(page.get_by_text("Nothing was said yet.")).to_be_visible()
        _read_by_a_participant(browser, address)
        sent = httpx.post(f"{address}/api/v1/surveys/pets/reports", content=reports(service, 60).tobytes())
        assert sent.json()["taken"] == 60
        page.reload()
        expect(page.get_by_text("60 reports")).to_be_visible()
        assert not seen.faults()
        page.get_by_role("button", name="Close round 1").click()
        expect(page.get_by_text("Round 1 is over.")).to_be_visible()
        assert not seen.complaints


def _read_by_a_participant(browser: Browser, address: str) -> None:
    with watched(browser, address, viewport=PHONE) as seen:
        posts: list[str] = []
        seen.page.on("request", lambda asked: posts.append(asked.url) if asked.method != "GET" else None)
        seen.go("/s/pets")
        expect(seen.page.get_by_role("heading", level=1)).to_have_text("Which pet do you have?")
        expect(seen.page.get_by_text("7.4-fold")).to_be_visible()
        assert seen.page.locator("main form, main input, main button").count() == 0
        assert not posts
        assert not seen.faults()
        assert not seen.wide()
        assert not seen.complaints
