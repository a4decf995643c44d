from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from serve.browsers import chromium
from serve.places import OWNER, opened
from serve.visits import Visit
from sordino.serve.app import create_app
from sordino.serve.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with opened(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service for tests in which nothing may be charged."""
    with opened(tmp_path_factory.mktemp("quiet")) as found:
        yield found
        assert found.checkpoint(OWNER)["size"] == 1


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for `browsers.watched`."""
    with chromium() as found:
        yield found


class Caller:
    """A client with tokens by role; every call says as whom."""

    def __init__(self, service: Service, client: TestClient) -> None:
        self.service = service
        self.client = client
        self.tokens = {
            "owner": service.issue_token(OWNER, "olga", "owner"),
            "analyst": service.issue_token(OWNER, "ann", "analyst", ["trips"]),
            "other": service.issue_token(OWNER, "bob", "analyst", ["trips"]),
            "stranger": service.issue_token(OWNER, "eve", "analyst", ["another"]),
            "auditor": service.issue_token(OWNER, "ada", "auditor"),
        }

    def __call__(self, who: str | None, method: str, path: str, **words):  # type: ignore[no-untyped-def]
        headers = dict(words.pop("headers", {}))
        if who is not None:
            headers["Authorization"] = f"Bearer {self.tokens.get(who, who)}"
        address = path if path.startswith(("/healthz", "/metrics", "/docs", "/static")) else f"/api/v1{path}"
        return self.client.request(method, address, headers=headers, **words)


@pytest.fixture
def call(service: Service) -> Iterator[Caller]:
    with TestClient(create_app(service)) as client:
        yield Caller(service, client)


@pytest.fixture(scope="module")
def quiet_call(quiet: Service) -> Iterator[Caller]:
    with TestClient(create_app(quiet)) as client:
        yield Caller(quiet, client)


Visits = Callable[[str | None], Visit]


def _visits(call: Caller) -> Visits:
    return lambda role: Visit(call.service, call.client, None if role is None else call.tokens[role])


@pytest.fixture
def visit(call: Caller) -> Visits:
    """Somebody at the dashboard, by role: owner, analyst, other, stranger, auditor, or None for nobody."""
    return _visits(call)


@pytest.fixture(scope="module")
def quiet_visit(quiet_call: Caller) -> Visits:
    """The same for tests in which nothing may be charged."""
    return _visits(quiet_call)
