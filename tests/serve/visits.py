"""Visiting pages in tests without a browser: who logs in has a cookie, and forms carry what their page gave them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from fastapi.testclient import TestClient
from httpx import Response

from sordino.serve.service import Service

HTML = {"accept": "text/html"}
HTMX = {"accept": "*/*", "hx-request": "true"}
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)">')


class Visit:
    """Somebody at the dashboard; ``token`` of None is nobody."""

    def __init__(self, service: Service, client: TestClient, token: str | None = None) -> None:
        self.service = service
        self.client = client
        self.client.cookies.clear()
        if token is not None:
            assert self.send("/login", token=token).status_code == 303
        self.cookies = dict(client.cookies)

    def see(self, path: str, headers: dict[str, str] = HTML) -> Response:
        self._be()
        return self.client.get(path, headers=headers, follow_redirects=False)

    def send(self, path: str, headers: dict[str, str] = HTML, **fields: Any) -> Response:
        """Send a form as it stands here, without what a page would have put into it."""
        self._be()
        return self.client.post(path, data=fields, headers=headers, follow_redirects=False)

    def fill(self, path: str, headers: dict[str, str] = HTML, **fields: Any) -> Response:
        """Send a form with the token of the session."""
        return self.send(path, headers, csrf=self.csrf, **fields)

    @property
    def csrf(self) -> str:
        return hidden(self.see("/").text)["csrf"]

    def _be(self) -> None:
        if hasattr(self, "cookies"):
            self.client.cookies.clear()
            self.client.cookies.update(self.cookies)


def hidden(page: str, form: str = "") -> dict[str, str]:
    """Return the hidden fields of a page, or of the form to an address of it."""
    if form:
        page = page.split(f'action="{form}"')[1].split("</form>")[0]
    return {name: unescape(value) for name, value in _HIDDEN.findall(page)}
