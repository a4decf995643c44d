"""Login by OpenID Connect against an issuer inside the test."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from serve.places import OWNER, opened
from sordino.serve.app import create_app
from sordino.serve.http.browsing import COOKIE

ISSUER = "https://issuer.example"


class FakeIssuer:
    """An issuer that gives a code for a challenge and a signed token for the code and its verifier."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
        self.signer = self.key
        self.claims: dict[str, object] = {}
        self.challenge = ""
        self.tokens_given = 0
        self.discovered = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/.well-known/openid-configuration":
            self.discovered += 1
            return httpx.Response(
                200,
                json={
                    "issuer": ISSUER,
                    "authorization_endpoint": f"{ISSUER}/authorize",
                    "token_endpoint": f"{ISSUER}/token",
                    "jwks_uri": f"{ISSUER}/keys",
                },
            )
        if path == "/keys":
            return httpx.Response(200, json=KeySet([self.key]).as_dict(private=False))
        form = parse_qs(request.content.decode())
        digest = hashlib.sha256(form["code_verifier"][0].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != self.challenge or form["code"] != ["good"]:
            return httpx.Response(400, json={"error": "invalid_grant"})
        self.tokens_given += 1
        token = jwt.encode({"alg": "RS256", "kid": "one"}, self.claims, self.signer)
        return httpx.Response(200, json={"access_token": "x", "token_type": "Bearer", "id_token": token})


class Browser:
    def __init__(self, client: TestClient, issuer: FakeIssuer) -> None:
        self.client = client
        self.issuer = issuer

    def begin(self) -> str:
        sent = self.client.get("/oidc/login", follow_redirects=False)
        assert sent.status_code == 303
        asked = parse_qs(urlsplit(sent.headers["location"]).query)
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["redirect_uri"] == ["https://testserver/oidc/callback"]
        self.issuer.challenge = asked["code_challenge"][0]
        self.issuer.claims = {
            "iss": ISSUER,
            "aud": "client",
            "sub": "zoe",
            "nonce": asked["nonce"][0],
            "exp": int(time.time()) + 300,
        }
        return asked["state"][0]

    def end(self, state: str, code: str = "good") -> httpx.Response:
        found: httpx.Response = self.client.get(
            "/oidc/callback", params={"state": state, "code": code}, follow_redirects=False
        )
        return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    directory: Path = tmp_path_factory.mktemp("oidc")
    with opened(directory, oidc_issuer=ISSUER, oidc_client="client", url="https://testserver") as service:
        service.admit(OWNER, "zoe", "analyst", ["trips"])
        service.admit(OWNER, "yan@example.org", "auditor")
        app = create_app(service)
        issuer = FakeIssuer()
        app.state.oidc_transport = httpx.MockTransport(issuer)
        with TestClient(app, base_url="https://testserver") as client:
            yield Browser(client, issuer)


@pytest.fixture(autouse=True)
def _fresh(browser: Browser) -> None:
    browser.client.cookies.clear()
    browser.issuer.signer = browser.issuer.key


def test_a_member_comes_in(browser: Browser) -> None:
    ended = browser.end(browser.begin())
    assert ended.status_code == 303
    cookie = ended.headers["set-cookie"]
    assert all(word in cookie for word in (COOKIE, "HttpOnly", "Secure", "SameSite=lax"))
    service = browser.client.app.state.desk.service  # type: ignore[attr-defined]
    assert service.identities.of_session(browser.client.cookies[COOKIE]).who.subject == "zoe"


def test_a_verified_address_will_do(browser: Browser) -> None:
    for verified, status in ((True, 303), (False, 403), ("true", 403)):
        state = browser.begin()
        browser.issuer.claims |= {"sub": "123", "email": "yan@example.org", "email_verified": verified}
        assert browser.end(state).status_code == status


def test_logins_that_anybody_begins_do_not_all_reach_the_issuer(browser: Browser) -> None:
    for _ in range(5):
        browser.begin()
    assert browser.end(browser.begin()).status_code == 303
    assert browser.issuer.discovered <= 1


def test_whoever_was_not_admitted_stays_out(browser: Browser) -> None:
    state = browser.begin()
    browser.issuer.claims["sub"] = "eve"
    refused = browser.end(state)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "SRD-S012")
    assert COOKIE not in browser.client.cookies


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://other.example"},
        {"aud": "another client"},
        {"aud": ["client", "another client"]},
        {"aud": ["client", "another client"], "azp": "another client"},
        {"azp": "another client"},
        {"nonce": "another"},
        {"exp": 1},
        {"sub": None},
    ],
)
def test_tokens_that_are_off_are_refused(browser: Browser, change: dict[str, object]) -> None:
    state = browser.begin()
    browser.issuer.claims = {
        name: value for name, value in (browser.issuer.claims | change).items() if value is not None
    }
    refused = browser.end(state)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "SRD-S012")
    assert COOKIE not in browser.client.cookies


@pytest.mark.parametrize(
    "change", [{"azp": "client"}, {"aud": ["client"]}, {"aud": ["client", "another"], "azp": "client"}]
)
def test_tokens_that_were_made_out_to_this_service(browser: Browser, change: dict[str, object]) -> None:
    state = browser.begin()
    browser.issuer.claims |= change
    assert browser.end(state).status_code == 303


def test_a_token_that_another_key_signed_is_refused(browser: Browser) -> None:
    state = browser.begin()
    browser.issuer.signer = RSAKey.generate_key(2048, {"kid": "one"}, private=True)
    assert browser.end(state).status_code == 401


def test_what_began_elsewhere_is_refused(browser: Browser) -> None:
    state = browser.begin()
    given = browser.issuer.tokens_given
    assert browser.end("another state").status_code == 401
    assert browser.end("").status_code == 401
    kept = dict(browser.client.cookies)
    browser.client.cookies.clear()
    assert browser.end(state).status_code == 401  # no cookie: another browser
    browser.client.cookies.set("sordino_login", kept["sordino_login"][:-2] + "xx", path="/oidc")
    assert browser.end(state).status_code == 401
    assert browser.issuer.tokens_given == given


def test_a_wrong_code_is_refused(browser: Browser) -> None:
    assert browser.end(browser.begin(), "bad").status_code == 401


def test_without_an_issuer_there_is_no_such_login(quiet_call) -> None:  # type: ignore[no-untyped-def]
    assert quiet_call.client.get("/oidc/login").status_code == 404
