"""The client in a real Chromium sends the very bits that the Python side sends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route

import sordino.collect.client
from collect.client.vectors import OTHERS, WAYS, other_vectors, vectors
from serve.browsers import chromium

pytestmark = pytest.mark.browser

CLIENT = Path(sordino.collect.client.__file__).parent
ORIGIN = "https://client.test"
AT_ONCE = 500

DIFFERING = """async ([module, given]) => {
  const { randomizers, Words } = await import(module);
  for (const more of ["ways.js", "directions.js"]) await import(new URL(more, module).href);
  const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const hex = (found) => Array.from(found, (each) => each.toString(16).padStart(2, "0")).join("");
  return given.filter(([way, value, random, wanted]) =>
    hex(randomizers[way.protocol](way, value, new Words(bytes(random)))) !== wanted).length;
}"""


def _handed_out(route: Route) -> None:
    """Hand out the client's own files as a server does, and an empty page beside them."""
    name = route.request.url.removeprefix(f"{ORIGIN}/")
    if name.endswith(".js"):
        route.fulfill(body=(CLIENT / name).read_text(), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>empty</title>", content_type="text/html")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as browser:
        found = browser.new_page()
        found.route(f"{ORIGIN}/**", _handed_out)
        found.goto(f"{ORIGIN}/")
        yield found


def differing(page: Page, given: list[Any]) -> int:
    """Return how many payloads differ, a few hundred at a time."""
    parts = (given[start : start + AT_ONCE] for start in range(0, len(given), AT_ONCE))
    return sum(page.evaluate(DIFFERING, [f"{ORIGIN}/sordino.js", part]) for part in parts)


def made(name: str, count: int, seed: int) -> list[Any]:
    return [list(each) for each in (other_vectors if name in OTHERS else vectors)(name, count, seed)]


@pytest.mark.parametrize("name", [*WAYS, *OTHERS])
def test_chromium_sends_the_same_bits(page: Page, name: str) -> None:
    assert differing(page, made(name, 60, seed=10)) == 0


@pytest.mark.long
@pytest.mark.parametrize("name", [*WAYS, *OTHERS])
def test_chromium_sends_the_same_bits_ten_thousand_times(page: Page, name: str) -> None:
    assert differing(page, made(name, 10_000, seed=11)) == 0


def test_a_difference_is_seen(page: Page) -> None:
    given = list(map(list, vectors("k-ary", 20, seed=12)))
    payload = given[7][3]
    given[7][3] = ("00" if payload[:2] != "00" else "ff") + payload[2:]
    assert differing(page, given) == 1
