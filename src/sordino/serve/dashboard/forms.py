"""Forms: what was typed is kept when something is wrong with it, and what was done is said afterwards.

A page with a form shows `error` beside it, and fills it from `typed`; after a form that did something a browser is sent
on to ``?done=word``, where `said` has the words for it: none are taken from the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from sordino.errors import (
    ArgumentError,
    BudgetError,
    LedgerError,
    QuestionError,
    RunError,
    SordinoError,
    UnsupportedError,
)
from sordino.serve.http.problems import status_of
from sordino.serve.keeping.identity import Session

from .pages import page

REFUSALS = (ArgumentError, QuestionError, UnsupportedError, BudgetError, LedgerError, RunError)
"""What a form may be refused for that whoever filled it in can put right; the rest becomes a page of its own."""

_BUDGET = ("epsilon", "delta", "rho", "refresh")


class Entered(dict[str, str]):
    """What stands in a form: texts by the names of fields, "" where there is none; `many` has all of one name."""

    def __init__(self, given: Mapping[str, str] | None = None, many: Mapping[str, list[str]] | None = None) -> None:
        super().__init__(given or {})
        self.many = dict(many or {})

    def __missing__(self, name: str) -> str:
        return ""


async def _typed(request: Request) -> Entered:
    form = await request.form()
    texts = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    if any("\x00" in part for pair in texts for part in pair):
        raise ArgumentError("a form holds no NUL; type it again", "SRD-A001")
    many: dict[str, list[str]] = {}
    for name, value in texts:
        many.setdefault(name, []).append(_tidied(value))
    return Entered({name: values[-1] for name, values in many.items()}, many)


def _tidied(value: str) -> str:
    """Return a text with lines as we end them; what is one line loses the spaces around it."""
    lines = value.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return lines if "\n" in lines else lines.strip()


Filled = Annotated[Entered, Depends(_typed)]
"""The form that a request carries."""


def again(
    request: Request, session: Session, template: str, error: SordinoError, values: Mapping[str, Any]
) -> HTMLResponse:
    """Return the page with the form once more, with what is wrong beside it."""
    found = page(request, session, template, status_of(error), **{**values, "error": error})
    found.headers["x-sordino-code"] = error.code
    return found


def confirmed(typed: Entered, words: str) -> None:
    """Refuse what cannot be undone unless its box is ticked."""
    if typed["sure"] != "yes":
        raise ArgumentError(f"nothing was changed yet: tick the box to say that you are sure; {words}", "SRD-A003")


def budget_of(typed: Entered) -> dict[str, Any]:
    """Return the budget that the fields of a form say, without those that were left empty."""
    found: dict[str, Any] = {name: typed[name] for name in _BUDGET if typed[name]}
    groups = [name.strip() for name in typed["groups"].split(",") if name.strip()]
    return found | ({"groups": groups} if groups else {})


def datasets_of(typed: Entered) -> list[str] | None:
    """Return the data sets that were ticked, or None for all of them, now and later; nobody gets more unasked."""
    which, ticked = typed["which"], typed.many.get("datasets", [])
    if which == "all" and ticked:
        raise ArgumentError(
            "data sets are ticked, and all of them are chosen: choose only these, or untick", "SRD-A003"
        )
    if which == "some" and not ticked:
        raise ArgumentError("tick at least one data set, or choose all of them", "SRD-A003")
    if not which and not ticked and typed["role"] != "owner":
        raise ArgumentError("say which data sets they may know of: all of them, or only these", "SRD-A003")
    return ticked or None


def whole_number(name: str, text: str) -> int:
    """Return the whole number that was typed."""
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST_NUMBER:
        raise ArgumentError(f"{name} must be a whole number, not {text[:40]!r}", "SRD-A001")
    return int(text)


_LONGEST_NUMBER = 12
