"""Taking part over HTTP: what a service asks, and how a report gets there. Nothing but reports is ever sent.

    poll = asked_at("https://privacy.example.org/s/pets")
    send(Device("device.json").report(poll, "cat"), "https://privacy.example.org/s/pets")

**Guarantee**: the survey that is answered is the one whose digest the report carries; it is built anew here from what
the service says, so a service cannot have a device answer by another randomizer than the one whose ε it shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sordino.errors import ArgumentError, SourceError

from .choice import WAYS, frequency
from .surveys import Survey, survey
from .wire import Report

_SECONDS = 30
_LARGEST = 1 << 24
_WORDS = ("name", "question", "unit", "round", "per_day", "days", "trust", "batch", "delta")


def asked_at(url: str) -> Survey:
    """Return the survey that is asked at an address, as ``https://privacy.example.org/s/pets``."""
    found = _answered(Request(_address(url)))  # noqa: S310  (https or http, by _address)
    if not isinstance(found, dict) or not isinstance(found.get("survey"), dict):
        raise _strange()
    return survey_from(found["survey"])


def send(report: Report, url: str, *, code: str | None = None) -> None:
    """Return once a report is taken; one that was lost on its way is sent again as it is, and counts once."""
    headers = {"content-type": "application/octet-stream"} | ({} if code is None else {"sordino-code": code})
    _answered(Request(f"{_address(url)}/reports", report.to_bytes(), headers))  # noqa: S310


def survey_from(public: Mapping[str, Any]) -> Survey:
    """Return the survey that is public; refuse what this version would answer in another way."""
    try:
        words = {name: public[name] for name in _WORDS if public[name] is not None}
        values = public["values"] if public["values"] is not None else public["randomizer"]["domain"]
        epsilon = Fraction(public["epsilon"])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise _strange() from None
    for way in WAYS:
        try:
            found = survey(asks=frequency(values, epsilon=epsilon, way=way.name), **words)
        except (ArgumentError, TypeError):
            continue
        if found.public() == dict(public):
            return found
    raise _strange()


def _address(url: str) -> str:
    """Return where the survey of a page is, for clients."""
    found = urlsplit(url)
    local = found.hostname in ("localhost", "127.0.0.1", "::1")
    name = found.path.rstrip("/").rpartition("/")[2]
    if not name or not (found.scheme == "https" or (found.scheme == "http" and local)):
        raise ArgumentError("give the address of a survey's page, as https://privacy.example.org/s/pets", "SRD-A001")
    return f"{found.scheme}://{found.netloc}/api/v1/surveys/{name}"


def _answered(request: Request) -> Any:
    try:
        with urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
            return json.loads(response.read(_LARGEST))
    except HTTPError as error:
        raise _refused(error) from None
    except (URLError, OSError, ValueError):
        raise SourceError(
            "the service of this survey does not answer; send the same report later", "SRD-C715"
        ) from None


def _refused(error: HTTPError) -> ArgumentError | SourceError:
    """Return what the service says, in its own words and code."""
    try:
        said = json.loads(error.read(_LARGEST))["error"]
        code, message = str(said["code"]), str(said["message"])
    except (ValueError, KeyError, TypeError):
        code, message = "SRD-C715", "the service of this survey does not take this"
    return (SourceError if error.code in (429, 503) else ArgumentError)(message, code)


def _strange() -> ArgumentError:
    return ArgumentError(
        "this survey is not one that this version of sordino knows how to answer; take the version that it is made by",
        "SRD-C715",
    )
