"""The console's form: what was typed, as the question that the service reads, and where an error stands in its SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from sordino.errors import ArgumentError, SordinoError
from sordino.query.words import WORDS

_GOAL = ("within", "of", "size")
_SPENDS = ("epsilon", "rho", "error")
FURTHER = {name: word for name, word in WORDS.items() if name not in (*_SPENDS, "noise", "delta")}
"""The words that stand below *More*, as the form makes them from their definitions."""
FIELDS = ("dataset", "sql", "spend", "epsilon", "rho", *_GOAL, "delta", "project", *FURTHER)
_PLACE = re.compile(r"Line (\d+), Col: (\d+)")
_QUOTED = re.compile(r"'([^']{1,200})'")


class Typed(dict[str, str]):
    """What was typed into the form, field by field; what was not is an empty text."""

    @property
    def question(self) -> dict[str, Any]:
        """The question that the service is asked; raises `ArgumentError` if it is not said what to spend."""
        asked: dict[str, Any] = {"dataset": self["dataset"], "sql": self["sql"], **self._spent()}
        asked |= {name: self[name] for name in ("delta", "project") if self[name]}
        return asked | {name: word.typed(self[name]) for name, word in FURTHER.items() if self[name]}

    def _spent(self) -> dict[str, Any]:
        spend = self["spend"]
        if spend != "error":
            if not self[spend]:
                raise ArgumentError(f"say how much {_NAMES[spend]} to spend, as 0.5", "SRD-A003")
            return {spend: self[spend]}
        goal = {name: self[name] for name in _GOAL if self[name]}
        if len(goal) < 2 or "of" not in goal or "within" not in goal:
            raise ArgumentError("say which column may be off by how much, as rides and 50", "SRD-A003")
        return {"error": goal}

    def spending(self, word: str, amount: str) -> Typed:
        """Return the same form with another amount to spend."""
        return Typed({**self, "spend": word, word: amount})


_NAMES = {"epsilon": "ε", "rho": "ρ"}


def typed(given: Mapping[str, Any]) -> Typed:
    """Return the form's fields from what a browser sent; new lines are as SQL has them."""
    texts = {name: given.get(name) for name in FIELDS}
    found = {
        name: value.strip().replace("\r\n", "\n") if isinstance(value, str) else "" for name, value in texts.items()
    }
    if found["spend"] not in _SPENDS:
        found["spend"] = "epsilon"
    return Typed(found)


def fields_of(question: Mapping[str, Any]) -> dict[str, str]:
    """Return the form's fields from a question, so that the form asks the same again."""
    goal = question.get("error") or {}
    spend = next((word for word in ("error", "rho") if question.get(word)), "epsilon")
    given = {**question, **goal, "spend": spend}
    return {name: written(given[name]) for name in FIELDS if given.get(name) not in (None, "")}


def written(value: Any) -> str:
    """Return a value of a question as it is typed into the form."""
    match value:
        case bool():
            return "true" if value else "false"
        case {"method": str(method), **limits}:
            return " ".join([method, *(f"{name}={each}" for name, each in limits.items())])
        case Mapping():
            return " ".join(f"{name}={each}" for name, each in value.items())
    return str(value)


async def _sent(request: Request) -> Typed:
    return typed(await request.form())


Sent = Annotated[Typed, Depends(_sent)]


@dataclass(frozen=True)
class Place:
    """Where in a text an error stands: the line, what is before and behind it, and the word itself."""

    line: int
    column: int
    before: str
    word: str
    after: str


def place_of(sql: str, error: SordinoError) -> Place | None:
    """Return where an error stands in a question, if its message says so or names a word of it.

    >>> place_of("SELECT cit FROM trips", SordinoError("there is no column 'cit'", "SRD-Q103"))
    Place(line=1, column=8, before='SELECT ', word='cit', after=' FROM trips')
    """
    if not error.code.startswith("SRD-Q"):
        return None
    if said := _PLACE.search(error.message):
        return _at(sql, int(said[1]), int(said[2]))
    for name in _QUOTED.findall(error.message):
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE)
        if found:
            line = sql.count("\n", 0, found.start()) + 1
            start = found.start() - (sql.rfind("\n", 0, found.start()) + 1)
            text = sql.split("\n")[line - 1]
            return Place(line, start + 1, text[:start], found[0], text[start + len(found[0]) :])
    return None


def _at(sql: str, line: int, last: int) -> Place | None:
    """Return the place of a word that ends in this column of this line, as sqlglot counts them."""
    lines = sql.split("\n")
    if not 0 < line <= len(lines) or not 0 < last <= len(lines[line - 1]):
        return None
    text = lines[line - 1]
    word = re.search(r"(\w+|\W)$", text[:last])
    start = word.start() if word else last - 1
    return Place(line, start + 1, text[:start], text[start:last], text[last:])


def first_line(message: str) -> str:
    """Return an error's message without the place and the copy of the question that a parser puts behind it.

    >>> first_line("this is not SQL that can be read: Expecting ). Line 2, Col: 18.\\n  SELECT (")
    'this is not SQL that can be read: Expecting )'
    """
    return _PLACE.sub("", message.split("\n", 1)[0]).rstrip(" .").strip()
