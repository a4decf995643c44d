"""The dashboard in a real Chromium: an analyst prices, runs and is refused; nothing breaks its rules on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from serve.browsers import Watched, served, watched
from serve.places import ANALYST, OTHER, OWNER, count, opened
from sordino.serve.app import STATIC
from sordino.serve.service import Service

pytestmark = pytest.mark.service

CITIES = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"
PHONE = {"width": 320, "height": 720}


@contextmanager
def opened_house(directory: Path) -> Iterator[tuple[Service, str]]:
    with opened(directory, {"epsilon": 1, "refresh": "month"}) as service, served(service) as address:
        service.run(OTHER, "query", count("0.1"))
        yield service, address


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """One house for all tests that do not mind what others spent there."""
    with opened_house(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[tuple[Service, str]]:
    """A house of its own, for a test that looks at what is left."""
    with opened_house(tmp_path) as found:
        yield found


def price(page: Page) -> None:
    page.get_by_role("button", name="Price", exact=True).click()
    expect(page.locator("#busy")).to_be_hidden()


def drawn(page: Page) -> None:
    """Wait for the drawings, and see that each has something on it."""
    for drawing in page.locator(".drawing").all():
        expect(drawing.locator("svg")).to_be_visible()
        assert drawing.locator("svg path").count() > 1


def test_an_analyst_prices_runs_and_is_refused(untouched: tuple[Service, str], browser: Browser) -> None:
    service, address = untouched
    with watched(browser, address) as seen:
        page = seen.page
        seen.log_in(service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        expect(page.get_by_role("heading", level=1)).to_have_text("Data sets")
        page.get_by_role("link", name="Ask about trips").click()
        expect(page.get_by_role("button", name="Run")).to_be_disabled()

        sql = page.get_by_label("Question, in SQL")
        sql.press_sequentially("SELECT ci")
        expect(page.locator("#completions li")).to_have_text(["city"])
        sql.press("ArrowDown")
        sql.press("Enter")
        expect(sql).to_have_value("SELECT city")
        sql.press_sequentially(CITIES.removeprefix("SELECT city"))
        page.get_by_label("ε", exact=True).last.fill("0.5")
        sql.press("Control+Enter")
        expect(page.get_by_role("heading", name="Price", exact=True)).to_be_visible()
        expect(page.locator("#priced")).to_contain_text(re.compile(r"Left afterwards\s*40 %"))
        run = page.get_by_role("button", name="Run")
        expect(run).to_be_enabled()

        sql.press_sequentially(" ")
        expect(run).to_be_disabled()
        expect(page.get_by_text("The question was changed since")).to_be_visible()
        price(page)
        run.click()
        expect(page.get_by_role("heading", name="Answer")).to_be_visible()
        expect(page.locator("#answered tbody tr")).to_have_count(3)
        expect(page.locator("#schema")).to_contain_text("60 % of ε = 1 used")
        drawn(page)
        assert page.locator(".drawing").count() == 2
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the receipt").click()
        assert '"release"' in Path(download.value.path()).read_text()
        assert seen.faults() == []

        price(page)
        expect(page.locator("#priced")).to_contain_text("This does not fit.")
        expect(page.locator("#priced")).to_contain_text("begins anew")
        expect(run).to_be_disabled()
        page.get_by_role("button", name="Price that").click()
        expect(page.locator("#priced")).to_contain_text(re.compile(r"Left afterwards\s*0 %"))
        sql.fill("SELECT COUNT(*) FROM tripz")
        price(page)
        expect(page.locator("mark")).to_have_text("tripz")
        assert seen.faults() == []
        assert service.budget(ANALYST, "trips")["used"] == 0.6
        assert seen.complaints == []


def test_a_long_run_is_polled(house: tuple[Service, str], browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    service, address = house
    monkeypatch.setattr(service, "settings", service.settings.with_changes(threshold_seconds=0))
    with watched(browser, address) as seen:
        seen.log_in(service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        seen.go("/console?dataset=trips&sql=SELECT COUNT(*) AS rides FROM trips&epsilon=0.01")
        price(seen.page)
        seen.page.get_by_role("button", name="Run").click()
        expect(seen.page.get_by_role("list", name="Stages of this run")).to_be_visible()
        expect(seen.page.get_by_role("heading", name="Answer")).to_be_visible()
        assert seen.complaints == []


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", {"width": 1280, "height": 900}), ("dark", PHONE)], ids=["desk", "phone"]
)
def test_pages_keep_to_their_rules(
    house: tuple[Service, str], browser: Browser, scheme: str, size: dict[str, int], tmp_path: Path
) -> None:
    service, address = house
    with watched(browser, address, color_scheme=scheme, viewport=size) as seen:
        seen.go("/login")
        assert seen.faults() == []
        seen.log_in(service.issue_token(OWNER, "olga", "owner"))
        for path in ("/", "/datasets/trips", "/console?dataset=trips", "/docs/errors"):
            seen.go(path)
            assert not seen.wide(), path
            assert path == "/docs/errors" or seen.faults() == [], path
            drawn(seen.page)
            picture = tmp_path / "page.png"
            seen.page.screenshot(path=picture, full_page=path != "/docs/errors")
            assert picture.stat().st_size > 5000
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground))) > 600) == (scheme == "light")
        assert seen.complaints == []


def test_who_has_no_mouse_gets_around(house: tuple[Service, str], browser: Browser) -> None:
    service, address = house
    with watched(browser, address) as seen:
        seen.log_in(service.issue_token(OWNER, "olga", "owner"))
        keys = seen.page.keyboard
        keys.press("Tab")
        expect(seen.page.get_by_text("Skip to the content")).to_be_focused()
        expect(seen.page.get_by_text("Skip to the content")).to_be_in_viewport()
        keys.press("Enter")
        expect(seen.page.locator("main")).to_be_focused()
        seen.go("/console?dataset=trips")
        seen.page.get_by_label("Question, in SQL").focus()
        keys.type("SEL")
        keys.press("Tab")
        expect(seen.page.get_by_label("Question, in SQL")).not_to_be_focused()
        outline = "element => getComputedStyle(element).outlineStyle"
        assert seen.page.locator(":focus").evaluate(outline) == "solid"


def test_without_scripts_a_question_is_asked_all_the_same(house: tuple[Service, str], browser: Browser) -> None:
    service, address = house
    with watched(browser, address, java_script_enabled=False) as seen:
        page = seen.page
        page.goto(address + "/login")
        page.get_by_label("Your token").fill(service.issue_token(OWNER, "ann", "analyst", ["trips"]))
        page.get_by_role("button", name="Log in").click()
        page.goto(address + "/console")
        page.get_by_label("Question, in SQL").fill("SELECT COUNT(*) AS rides FROM trips")
        page.locator("#epsilon").fill("0.01")
        page.get_by_role("button", name="Price", exact=True).click()
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answered tbody tr")).to_have_count(1)
        page.goto(address + "/datasets/trips")
        page.get_by_text("Budget left over time, as a table").click()
        expect(page.get_by_role("table", name="What was used by when")).to_be_visible()


@pytest.mark.parametrize("place", [0, 1], ids=["light", "dark"])
def test_colours_have_contrast(place: int) -> None:
    css = (STATIC / "dashboard.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", blocks[place]))
    for ground in ("paper", "surface", "sunken", "tint"):
        assert _contrast(colours["ink"], colours[ground]) >= 7, ground
        assert _contrast(colours["faint"], colours[ground]) >= 4.5, ground
        assert _contrast(colours["accent"], colours[ground]) >= 4.5, ground
    for kind in ("good", "warning", "bad"):
        assert _contrast(colours[kind], colours[f"{kind}-tint"]) >= 4.5, kind
        assert _contrast(colours[kind], colours["surface"]) >= 4.5, kind
        assert _contrast(colours["accent"], colours[f"{kind}-tint"]) >= 4.5, kind
    assert _contrast(colours["on-accent"], colours["accent"]) >= 4.5
    assert _contrast(colours["edge"], colours["surface"]) >= 3


def _contrast(one: str, other: str) -> float:
    """Return the ratio of WCAG 2: 1 for the same colour, 21 for black on white."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_watch_sees_what_goes_wrong(house: tuple[Service, str], browser: Browser) -> None:
    _, address = house
    with watched(browser, address) as seen:
        seen.go("/login")
        assert _provoked(seen, "document.body.innerHTML = '<p style=\"color: red\">x</p>'", "policy: style-src")
        assert _provoked(seen, "setTimeout(() => { try { eval('1') } catch { } })", "policy: script-src")
        assert _provoked(seen, "console.error('broken')", "broken")
        assert "not one h1" in seen.faults()
        assert _provoked(seen, "location = 'http://127.0.0.2:9/'", "another host")


def _provoked(seen: Watched, script: str, complaint: str) -> bool:
    seen.page.evaluate(f"() => {{ {script} }}")
    seen.page.wait_for_timeout(100)
    return any(complaint in each for each in seen.complaints)
