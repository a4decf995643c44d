"""A real browser on a real server: a service on a free port of loopback, in a thread, and pages in Chromium.

Every page is watched: `Watched.complaints` holds what its console said, which requests went to
another host, and which violated the content security policy.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ConsoleMessage, Page, Request, expect, sync_playwright

from servers import needs
from sordino.serve.app import create_app
from sordino.serve.service import Service

EXECUTABLE = "/usr/bin/chromium"
expect.set_options(timeout=30_000)  # a busy machine is slow, and nothing here is about time

_FAULTS = """() => {
  const faults = [], all = (what) => [...document.querySelectorAll(what)];
  const levels = all("h1, h2, h3, h4").filter(h => h.checkVisibility()).map(h => Number(h.tagName[1]));
  if (levels.filter(level => level === 1).length !== 1) faults.push("not one h1");
  levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) faults.push("a heading skips a level"); });
  for (const field of all("input:not([type=hidden]), select, textarea"))
    if (!field.labels.length) faults.push("no label: " + field.name);
  for (const named of all("button, a[href], summary"))
    if (!named.textContent.trim() && !named.ariaLabel) faults.push("no name: " + named.outerHTML);
  for (const image of all("img:not([alt])")) faults.push("no alt: " + image.src);
  for (const what of ["main", "header", "footer"]) if (all(what).length !== 1) faults.push("not one " + what);
  const ids = all("[id]").map(each => each.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push("twice: " + id);
  for (const each of all("[aria-describedby], [aria-controls]"))
    for (const id of (each.getAttribute("aria-describedby") || each.getAttribute("aria-controls")).trim().split(/ +/))
      if (!document.getElementById(id)) faults.push("nothing is called " + id);
  if (document.documentElement.lang !== "en" || !document.title) faults.push("no language or title");
  return faults;
}"""


@contextmanager
def served(service: Service) -> Iterator[str]:
    """Serve on a free port, and yield the address; the server has stopped when the block ends."""
    needs("service")
    server = uvicorn.Server(uvicorn.Config(create_app(service), host="127.0.0.1", port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            thread.join(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def chromium() -> Iterator[Chromium]:
    """Start a browser, and end it with the block."""
    needs("browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page of somebody who may be logged in, and what went wrong on it."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(self.address + path, wait_until="networkidle")

    def log_in(self, token: str) -> None:
        self.go("/login")
        self.page.get_by_label("Your token").fill(token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(lambda url: "/login" not in url)

    def faults(self) -> list[str]:
        """Return what would stand in the way of somebody who does not see the page, or has no mouse."""
        return list(self.page.evaluate(_FAULTS))

    def wide(self) -> bool:
        """Whether the page is wider than its window, so that it would have to be scrolled sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"))


@contextmanager
def watched(browser: Chromium, address: str, **look: Any) -> Iterator[Watched]:
    """Open a page in a context of its own: viewport={"width": 360, "height": 740}, color_scheme="dark", …"""
    context = browser.new_context(**look)
    page = context.new_page()
    found = Watched(page, address)

    def console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            found.complaints.append(f"console: {message.text}")

    def request(asked: Request) -> None:
        if not asked.url.startswith((address, "data:")):
            found.complaints.append(f"another host: {asked.url}")

    page.on("console", console)
    page.on("request", request)
    page.on("pageerror", lambda error: found.complaints.append(f"script: {error}"))
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " event => console.error('policy: ' + event.violatedDirective + ' ' + event.sourceFile))"
    )
    try:
        yield found
    finally:
        context.close()
