"""Taking part over HTTP: what a service asks, and how a report gets there. Nothing but reports is ever sent.

    poll = asked_at("https://privacy.example.org/s/pets")
    send(Device("device.json").report(poll, "cat"), "https://privacy.example.org/s/pets")

**Guarantee**: the survey that is answered is the one whose digest the report carries; it is built anew here from what
the service says, so a service cannot have a device answer by another randomizer than the one whose ε it shows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sordino.errors import ArgumentError

from .asked import fraction, questions_like
from .posting import BYTES, answered
from .shuffle.envelope import enveloped
from .surveys import SHUFFLED, TWO_SERVERS, Survey, survey
from .wire import FOREIGN, Report, refused

_WRONG = (AttributeError, KeyError, IndexError, OverflowError, TypeError, ValueError, ZeroDivisionError)
"""What Python raises where a survey says something of another form."""
_WORDS = ("name", "question", "unit", "round", "per_day", "days", "trust", "batch", "delta")


def asked_at(url: str) -> Survey:
    """Return the survey that is asked at an address, as ``https://privacy.example.org/s/pets``."""
    found = _plain(address(url))
    if not isinstance(found, dict) or not isinstance(found.get("survey"), dict):
        raise _strange()
    return _known(survey_from(found["survey"]))


def send(report: Report, url: str, *, code: str | None = None) -> None:
    """Return once a report is taken; one that was lost on its way is sent again as it is, and counts once.

    Under shuffled trust it goes to the shuffler, sealed for the analyser and once more for the shuffler; with two
    servers to the one that takes reports, with a share sealed for each of them.
    """
    poll = _KNOWN.get(report.survey) or asked_at(url)
    if poll.digest != report.survey:
        raise refused(FOREIGN)
    if poll.trust == SHUFFLED and poll.parties:
        answered(f"{poll.parties[1].url}/reports", enveloped(poll, report))
        return
    to = f"{poll.parties[0].url}/api/v1/surveys/{poll.name}" if poll.trust == TWO_SERVERS else address(url)
    answered(f"{to}/reports", report.to_bytes(), BYTES | ({} if code is None else {"sordino-code": code}))


_KNOWN: dict[bytes, Survey] = {}
"""Surveys that were asked lately, by their digest."""
_MOST_KNOWN = 100


def _known(found: Survey) -> Survey:
    while len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.pop(next(iter(_KNOWN)))
    _KNOWN[found.digest] = found
    return found


def survey_from(public: Mapping[str, Any]) -> Survey:
    """Return the survey that is public; refuse what this version would answer in another way."""
    try:
        words = {name: public[name] for name in _WORDS if public[name] is not None}
        words["parties"] = public.get("parties", ())
        if "delta" in words:
            words["delta"] = fraction(words["delta"])
    except _WRONG:
        raise _strange() from None
    for make in questions_like(public):
        try:
            found = survey(asks=make(), **words)
            if found.public() == dict(public):
                return found
        except (ArgumentError, *_WRONG):
            continue
    raise _strange()


def address(url: str) -> str:
    """Return where the survey of a page is for clients, as https://privacy.example.org/api/v1/surveys/pets."""
    found = urlsplit(url)
    local = found.hostname in ("localhost", "127.0.0.1", "::1")
    name = found.path.rstrip("/").rpartition("/")[2]
    if not name or not (found.scheme == "https" or (found.scheme == "http" and local)):
        raise ArgumentError("give the address of a survey's page, as https://privacy.example.org/s/pets", "SRD-A001")
    return f"{found.scheme}://{found.netloc}/api/v1/surveys/{name}"


def _plain(url: str) -> Any:
    said = answered(url)
    try:
        return json.loads(said)
    except ValueError:
        raise _strange() from None


def _strange() -> ArgumentError:
    return ArgumentError(
        "this survey is not one that this version of sordino knows how to answer; take the version that it is made by",
        "SRD-C715",
    )
