"""Pages of trainings in a real Chromium: a recipe is priced, begun and looked at; nothing breaks the rules of pages."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, expect

from serve.browsers import served, watched
from serve.digits import ANN, RECIPE, opened
from serve.places import OWNER

pytestmark = [pytest.mark.browser, pytest.mark.service]

PHONE = {"width": 320, "height": 720}


def test_an_analyst_prices_a_recipe_trains_it_and_looks_at_it(tmp_path: Path, browser: Browser) -> None:
    with opened(tmp_path) as service, served(service) as address:
        token = service.issue_token(OWNER, "ann", "analyst", ["digits"])
        with watched(browser, address) as seen:
            page = seen.page
            seen.log_in(token)
            seen.go("/datasets/digits")
            page.get_by_role("link", name="Train a model").click()
            page.get_by_label("What to train, as YAML").fill(yaml.safe_dump(RECIPE))
            page.get_by_role("button", name="Price it").click()
            expect(page.get_by_role("heading", name="What it costs")).to_be_visible()
            expect(page.locator(".drawing svg")).to_be_visible()
            assert not seen.faults()
            page.get_by_role("button", name="Train it").click()
            expect(page.get_by_role("heading", level=1)).to_have_text("A training on digits")
            for _ in range(120):
                if service.jobs.jobs(ANN)[0]["finished"] is not None:
                    break
                page.wait_for_timeout(250)
            page.reload()
            expect(page.get_by_text("20 of 20")).to_be_visible()
            with page.expect_download() as fetched:
                page.get_by_role("link", name="Download weights.npz").click()
            assert fetched.value.suggested_filename == "weights.npz"
            page.set_viewport_size(PHONE)
            assert not seen.wide()
            assert not seen.faults()
            seen.go(f"/releases/{service.jobs.jobs(ANN)[0]['release']}")
            assert not seen.wide()
            assert seen.complaints == []
