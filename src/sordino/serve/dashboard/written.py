"""What is asked for by a text: a form in which it is priced, then begun, and a job that is looked at.

The form to begin holds the text as it was priced and a key of its own, so that to send it twice begins one job.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError, SordinoError
from sordino.serve.http.browsing import service_of
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Session
from sordino.serve.keeping.registry import random_hex
from sordino.serve.refusals import AccessError, UnknownError

from .pages import page, see
from .troubles import title_of

LONGEST = 20_000


@dataclass(frozen=True)
class Written:
    """A kind that is asked for by a text, and how its pages show it."""

    kind: str
    address: str
    """Of its jobs; their ids follow."""
    form_template: str
    job_template: str
    form_of_text: str
    """What to write, for a text that is something else."""
    code: str
    shown: Callable[[Mapping[str, Any], Mapping[str, Any] | None], dict[str, Any]]
    """What the templates need of a price, and of how far a job is."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """What the form's template needs beside."""

    def datasets(self, request: Request, session: Session) -> list[str]:
        """Return the data sets that it can be asked of."""
        session.who.must_be("owner", "analyst")
        service = service_of(request)
        return [each["name"] for each in service.datasets(session.who) if each["sort"] in service.kind(self.kind).about]

    def form(self, request: Request, session: Session, text: str, status: int = 200, **values: Any) -> Response:
        """Show the form with a text in it."""
        known = {"text": text, "priced": None, "error": None, **self.beside, **values}
        return page(request, session, self.form_template, status, **known)

    def price(self, request: Request, session: Session, text: str) -> Response:
        """Show what it costs. Touches no data."""
        session.who.must_be("owner", "analyst")
        try:
            asked = self._read(text)
            pricing = request.app.state.desk.pricing
            priced = pricing.submit(service_of(request).price, session.who, self.kind, asked).result()
        except AccessError:
            raise
        except SordinoError as error:
            return self._refused(request, session, text, error)
        return self.form(request, session, text, priced=priced, key=random_hex(), **self.shown(priced, None))

    def run(self, request: Request, session: Session, text: str, key: str) -> Response:
        """Begin it, and show its job."""
        session.who.must_be("owner", "analyst")
        try:
            job = service_of(request).submit(session.who, self.kind, self._read(text), key or None)
        except AccessError:
            raise
        except SordinoError as error:
            return self._refused(request, session, text, error)
        return see(f"{self.address}/{job.id}")

    def job(self, request: Request, session: Session, identifier: str) -> Response:
        """Show what was asked for, its price, and how far it is."""
        session.who.must_be("owner", "analyst")
        service = service_of(request)
        job = service.jobs.job(session.who, identifier)
        if job["kind"] != self.kind:
            raise UnknownError(self.kind)
        priced = service.price(session.who, self.kind, job["request"])
        text = json.dumps(job["request"], indent=2, ensure_ascii=False)
        shown = self.shown(priced, job["progress"])
        return page(request, session, self.job_template, job=job, text=text, priced=priced, **shown)

    def _read(self, text: str) -> dict[str, Any]:
        found = parse(text, "the text")
        if not isinstance(found, dict):
            raise ArgumentError(self.form_of_text, self.code)
        return found

    def _refused(self, request: Request, session: Session, text: str, error: SordinoError) -> Response:
        status = status_of(error)
        if status >= 500:
            raise error
        return self.form(request, session, text, status, error=error, title=title_of(status))
