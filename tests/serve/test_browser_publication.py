"""Pages of publications in a real Chromium: priced, published, looked at, fetched; none breaks the rules of pages."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, expect

from serve.browsers import served, watched
from serve.movements import ANN, ASKED, opened
from serve.places import OWNER

pytestmark = [pytest.mark.browser, pytest.mark.service]

PHONE = {"width": 320, "height": 720}


def test_an_analyst_prices_a_publication_and_looks_at_it(tmp_path: Path, browser: Browser) -> None:
    with opened(tmp_path) as service, served(service) as address:
        token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
        with watched(browser, address) as seen:
            page = seen.page
            seen.log_in(token)
            seen.go("/datasets/trips")
            page.get_by_role("link", name="Publish").click()
            page.get_by_label("Recipe, parameters and what to spend, as YAML").fill(yaml.safe_dump(ASKED))
            page.get_by_role("button", name="Price it").click()
            expect(page.get_by_role("heading", name="What it costs")).to_be_visible()
            assert not seen.faults()
            page.get_by_role("button", name="Publish it").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("mobility of trips")
            for _ in range(400):
                if service.jobs.jobs(ANN)[0]["finished"] is not None:
                    break
                page.wait_for_timeout(250)
            page.reload()
            expect(page.get_by_role("img", name="A picture of what was published")).to_be_visible()
            width = page.evaluate("document.querySelector('img.wide').naturalWidth")
            assert width > 500
            with page.expect_download() as fetched:
                page.get_by_role("link", name="Download publication.zip").click()
            assert fetched.value.suggested_filename == "publication.zip"
            page.set_viewport_size(PHONE)
            assert not seen.wide()
            assert not seen.faults()
            seen.go(f"/releases/{service.jobs.jobs(ANN)[0]['release']}")
            assert not seen.wide()
            assert seen.complaints == []
