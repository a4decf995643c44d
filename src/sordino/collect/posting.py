"""Sending bytes to a service by HTTP, and hearing what it says: never more than is asked, never for ever.

**Guarantee**: what is sent goes to the address that is named and nowhere else (no redirect is followed).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from sordino.errors import ArgumentError, SourceError

_SECONDS = 60
_LARGEST = 1 << 26
BYTES = {"content-type": "application/octet-stream"}
_BUSY = (408, 429, 503)


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Follow none: what was meant for one address is not for another."""


_OPENER = build_opener(_NoRedirect)


def answered(url: str, body: bytes | None = None, headers: Mapping[str, str] = BYTES, silent: str = "") -> bytes:
    """Return what a service answers; raise what it refuses in its own words, and `silent` if it says nothing."""
    request = Request(url, body, dict(headers) if body is not None else {})  # noqa: S310  (https or http, by its caller)
    try:
        with _OPENER.open(request, timeout=_SECONDS) as response:
            found: bytes = response.read(_LARGEST)
            return found
    except HTTPError as error:
        raise _refused(error) from None
    except (URLError, OSError, ValueError):
        words = silent or "the service of this survey does not answer; send the same report later"
        raise SourceError(words, "SRD-C715") from None


def _refused(error: HTTPError) -> ArgumentError | SourceError:
    """Return what the service says, in its own words and code."""
    try:
        said = json.loads(error.read(_LARGEST))["error"]
        code, message = str(said["code"]), str(said["message"])
    except (ValueError, KeyError, TypeError):
        code, message = "SRD-C715", "the service of this survey does not take this"
    return (SourceError if error.code in _BUSY else ArgumentError)(message, code)
