"""Login by OpenID Connect: the authorization code flow with PKCE, by authlib.

``/oidc/login`` sends a browser to the issuer; ``/oidc/callback`` takes it back, exchanges the code, checks the identity
token (signature by the issuer's published keys, issuer, audience, party, expiry, nonce) and begins a session, if an
owner has admitted the subject. A subject is the issuer's `sub`, or the e-mail address where the issuer says that it is
verified and an owner has admitted that.

What must come back unchanged (state, nonce, PKCE verifier) waits in a signed cookie that is good for ten minutes.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import httpx
from authlib.deprecate import AuthlibDeprecationWarning
from authlib.integrations.base_client import OAuthError
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse
from itsdangerous import BadSignature, URLSafeTimedSerializer
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from starlette.concurrency import run_in_threadpool

from sordino.serve.keeping.identity import Identities, new_secret
from sordino.serve.refusals import ForbiddenError, UnauthenticatedError, UnknownError
from sordino.serve.settings import Settings

from .browsing import begin_session, service_of

with warnings.catch_warnings():
    # Some versions say of the HTTP client that we use that they would rather have another; that is theirs to settle.
    warnings.simplefilter("ignore", AuthlibDeprecationWarning)
    from authlib.integrations.httpx_client import AsyncOAuth2Client

router = APIRouter(include_in_schema=False)

_STATE = "sordino_login"
_STATE_SECONDS = 600
_DISCOVERED_SECONDS = 300
_LEEWAY_SECONDS = 60
_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
_FAILED = "the login did not succeed; begin again"


@router.get("/oidc/login")
async def login(request: Request) -> RedirectResponse:
    """Send a browser to the issuer."""
    settings = _configured(request)
    async with _client(request) as client:
        known = await _discovered(request, client)
        verifier, nonce = new_secret(""), new_secret("")
        address, state = client.create_authorization_url(
            known["authorization_endpoint"],
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
    response = RedirectResponse(address, 303)
    kept = _serializer(request).dumps({"state": state, "nonce": nonce, "verifier": verifier})
    response.set_cookie(
        _STATE,
        kept,
        max_age=_STATE_SECONDS,
        httponly=True,
        secure=settings.secure_cookies,
        samesite="lax",
        path="/oidc",
    )
    return response


@router.get("/oidc/callback")
async def callback(request: Request, state: str = "", code: str = "") -> RedirectResponse:
    """Take a browser back from the issuer, and begin its session."""
    settings = _configured(request)
    kept = _kept(request)
    if not state or not code or kept.get("state") != state:
        raise UnauthenticatedError(_FAILED, "SRD-S012")
    async with _client(request) as client:
        known = await _discovered(request, client)
        claims = await _claims(client, known, settings, code, kept)
    cookie = await run_in_threadpool(_begin, service_of(request).identities, claims, settings.session_hours)
    response = RedirectResponse("/", 303)
    begin_session(request, response, cookie)
    response.delete_cookie(_STATE, path="/oidc")
    return response


async def _claims(
    client: AsyncOAuth2Client, known: dict[str, Any], settings: Settings, code: str, kept: dict[str, str]
) -> dict[str, Any]:
    """Exchange the code and return what the identity token says, once all of it has been checked."""
    try:
        token = await client.fetch_token(
            known["token_endpoint"], code=code, grant_type="authorization_code", code_verifier=kept["verifier"]
        )
        keys = (await client.request("GET", known["jwks_uri"], withhold_token=True)).raise_for_status().json()
        decoded = jwt.decode(token["id_token"], KeySet.import_key_set(keys), algorithms=_ALGORITHMS)
        registry = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY_SECONDS,
            iss={"essential": True, "value": known["issuer"]},
            aud={"essential": True, "value": settings.oidc_client or ""},
            nonce={"essential": True, "value": kept["nonce"]},
            exp={"essential": True},
            sub={"essential": True},
        )
        registry.validate(decoded.claims)
        _check_party(decoded.claims, settings.oidc_client)
    except (httpx.HTTPError, JoseError, KeyError, TypeError, ValueError, OAuthError):
        raise UnauthenticatedError(_FAILED, "SRD-S012") from None
    claims: dict[str, Any] = decoded.claims
    return claims


def _check_party(claims: dict[str, Any], client: str | None) -> None:
    """Refuse a token that is for others as well, unless it was made out to this client (OpenID Connect Core, 3.1.3.7).

    Whoever else it is for could have passed it on.
    """
    audience = claims["aud"]
    several = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if several else client) != client:
        raise ValueError("azp")


def _begin(identities: Identities, claims: dict[str, Any], hours: int) -> str:
    """Return the cookie of a session for the subject, or for their verified address, whichever was admitted."""
    names = [claims["sub"]] + ([claims.get("email")] if claims.get("email_verified") is True else [])
    for name in names:
        try:
            return identities.begin_as_member(str(name), hours)
        except ForbiddenError:
            continue
    raise ForbiddenError("you are known, but the owner has not admitted you here; ask them to", "SRD-S012")


def _configured(request: Request) -> Settings:
    settings = service_of(request).settings
    if settings.oidc_issuer is None:
        raise UnknownError("this service has no single sign-on; log in with a token")
    return settings


def _client(request: Request) -> AsyncOAuth2Client:
    settings = service_of(request).settings
    named = settings.oidc_secret_file
    return AsyncOAuth2Client(
        client_id=settings.oidc_client,
        client_secret=None if named is None else Path(named).read_text(encoding="utf-8").strip(),
        token_endpoint_auth_method="none" if named is None else "client_secret_basic",
        scope="openid email",
        redirect_uri=f"{(settings.url or '').rstrip('/')}/oidc/callback",
        transport=getattr(request.app.state, "oidc_transport", None),
        timeout=10.0,
    )


async def _discovered(request: Request, client: AsyncOAuth2Client) -> dict[str, Any]:
    """Return where the issuer does what; asked for once in a while, as anybody can begin a login."""
    kept, asked = getattr(request.app.state, "oidc_discovered", (None, 0.0))
    if kept is None or time.monotonic() - asked > _DISCOVERED_SECONDS:
        kept, asked = await _discover(request, client), time.monotonic()
        request.app.state.oidc_discovered = kept, asked
    found: dict[str, Any] = kept
    return found


async def _discover(request: Request, client: AsyncOAuth2Client) -> dict[str, Any]:
    issuer = (service_of(request).settings.oidc_issuer or "").rstrip("/")
    try:
        found = await client.request("GET", f"{issuer}/.well-known/openid-configuration", withhold_token=True)
        known: dict[str, Any] = found.raise_for_status().json()
        same = known["issuer"].rstrip("/") == issuer
    except (httpx.HTTPError, KeyError, ValueError, AttributeError):
        same = False
    if not same:
        raise UnauthenticatedError("the issuer of logins cannot be reached, or is another one", "SRD-S012")
    return known


def _serializer(request: Request) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(service_of(request).identities.secret, salt="oidc")


def _kept(request: Request) -> dict[str, str]:
    try:
        kept: dict[str, str] = _serializer(request).loads(request.cookies.get(_STATE, ""), max_age=_STATE_SECONDS)
    except BadSignature:
        raise UnauthenticatedError(_FAILED, "SRD-S012") from None
    return kept
