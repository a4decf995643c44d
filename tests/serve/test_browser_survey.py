"""Pages of surveys in a real Chromium: an owner runs one, people answer it, and only reports leave."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Route, expect

from serve.browsers import served, watched
from serve.places import OWNER, opened
from serve.polls import POLL, polled, reports
from sordino.serve.surveys import owners

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
        expect(page.get_by_text("61 reports")).to_be_visible()
        assert not seen.faults()
        page.get_by_role("button", name="Close round 1").click()
        expect(page.get_by_text("Round 1 is over.")).to_be_visible()
        assert not seen.complaints


def _read_by_a_participant(browser: Browser, address: str) -> None:
    with watched(browser, address, viewport=PHONE) as seen:
        posts: list[bytes] = []
        seen.page.on(
            "request", lambda asked: posts.append(asked.post_data_buffer or b"") if asked.method != "GET" else None
        )
        seen.go("/s/pets")
        expect(seen.page.get_by_role("heading", level=1)).to_have_text("Which pet do you have?")
        expect(seen.page.get_by_text("7.4-fold")).to_be_visible()
        seen.page.get_by_label("dog").check()
        assert not seen.faults()
        assert not seen.wide()
        assert not posts
        seen.page.get_by_role("button", name="Send an unclear answer").click()
        expect(seen.page.get_by_role("status")).to_contain_text("Thank you.")
        (report,) = posts
        assert len(report) == 50  # an unclear answer, and nothing else
        assert b"dog" not in report
        expect(seen.page.get_by_role("button", name="Send an unclear answer")).to_be_disabled()  # one a day
        seen.page.reload(wait_until="networkidle")
        expect(seen.page.get_by_text("share of this survey is used")).to_be_visible()
        expect(seen.page.get_by_role("button", name="Send an unclear answer")).to_be_disabled()
        assert not seen.complaints


def _answers(browser: Browser, address: str, value: str, code: str | None = None, path: str = "/s/pets") -> None:
    """Answer as one more person: a browser of their own, which has kept nothing."""
    with watched(browser, address) as seen:
        seen.go(path)
        seen.page.get_by_label(value, exact=True).check()
        if code is not None:
            seen.page.get_by_label("Your one-time code").fill(code)
        seen.page.get_by_role("button", name=re.compile("^Send ")).click()
        expect(seen.page.get_by_role("status")).to_contain_text("Thank you.")
        complaints = [each for each in seen.complaints if "another host" not in each]
        assert not complaints


@pytest.mark.parametrize("people", [6, pytest.param(100, marks=pytest.mark.long)])
def test_people_answer_in_their_browsers_and_the_estimate_shows(tmp_path: Path, browser: Browser, people: int) -> None:
    with polled(tmp_path, POLL + "intake: codes\n") as service, served(service) as address:
        codes = owners.new_codes(service, OWNER, "pets", people)
        for each, code in enumerate(codes):
            _answers(browser, address, ("cat", "dog", "none")[each % 3], code)
        with watched(browser, address) as seen:
            seen.log_in(service.issue_token(OWNER, "olga", "owner"))
            seen.go("/surveys/pets")
            expect(seen.page.get_by_text(f"{people} reports")).to_be_visible()
        found = owners.close(service, OWNER, "pets")["estimate"]
        assert found["reports"] == people
        for row in found["values"]:
            assert abs(row["estimate"] - people / 3) < 6 * row["standard_error"]


def test_a_report_that_was_not_acknowledged_is_sent_again_as_it_is(tmp_path: Path, browser: Browser) -> None:
    with polled(tmp_path) as service, served(service) as address, watched(browser, address) as seen:
        bodies: list[bytes] = []

        def lost(route: Route) -> None:
            bodies.append(route.request.post_data_buffer or b"")
            route.abort() if len(bodies) == 1 else route.continue_()

        seen.page.route("**/reports", lost)
        seen.go("/s/pets")
        for told in ("does not answer", "Thank you."):
            seen.page.get_by_label("cat").check()
            seen.page.get_by_role("button", name="Send an unclear answer").click()
            expect(seen.page.get_by_role("status")).to_contain_text(told)
        assert bodies[0] == bodies[1]
        assert owners.close(service, OWNER, "pets")["estimate"]["reports"] == 1


def test_a_script_that_was_changed_does_not_run(tmp_path: Path, browser: Browser) -> None:
    with polled(tmp_path) as service, served(service) as address, watched(browser, address) as seen:
        seen.page.route(
            "**/client/sordino.js",
            lambda route: route.fulfill(body="export const Device = 1;", content_type="text/javascript"),
        )
        seen.go("/s/pets")
        assert seen.page.locator("main form").count() == 0
        expect(seen.page.get_by_text("Answer by sordino's Python client")).to_be_visible()
        assert any("integrity" in each for each in seen.complaints)


def test_numbers_words_and_what_is_remembered_have_a_field(tmp_path: Path, browser: Browser) -> None:
    values = "values: [cat, dog, none]\nepsilon: 2"
    asked = {
        "number: {low: 0, high: 10}\nepsilon: 2": lambda page: page.get_by_label("Your number").fill("7.5"),
        "words: {longest: 5}\nepsilon: 2": lambda page: page.get_by_label("Your word").fill("Tea"),
        values + "\nevery_day: {longitudinal: 3}": lambda page: page.get_by_label("cat").check(),
    }
    for place, (text, answer) in enumerate(asked.items()):
        (tmp_path / str(place)).mkdir()
        with (
            polled(tmp_path / str(place), POLL.replace(values, text)) as service,
            served(service) as address,
            watched(browser, address) as seen,
        ):
            seen.go("/s/pets")
            answer(seen.page)
            seen.page.get_by_role("button", name="Send an unclear answer").click()
            expect(seen.page.get_by_role("status")).to_contain_text("Thank you.")
            assert owners.show(service, OWNER, "pets")["estimate"]["reports"] == 1
