"""The row of questions: SQL or method calls about tables, priced and answered at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from sordino.query.answer.answer import Answer
from sordino.query.answer.delimited import csv_text
from sordino.query.ask import TableAccount
from sordino.serve.kinds.kind import Command, Kind, Running, Shapes
from sordino.serve.kinds.page import Page

from .quotation import quoted
from .reading import Read
from .tables import TABLES


def _run(data: TableAccount, read: Read, _: Running) -> Answer:
    return read.ask(data).run(**read.words)


def _days(data: TableAccount, read: Read) -> tuple[str, ...]:
    return read.ask(data).days


# What follows is loaded when it is first needed: a process that finds prices needs no pages.


def _shapes() -> Shapes:
    from .shapes import Priced, Question, Released

    return Shapes(Question, Priced, Released)


def _page(body: Mapping[str, Any]) -> Page:
    from .answers import page_of

    return page_of(body)


def _csv(body: Mapping[str, Any]) -> str:
    return csv_text(body["columns"])


def _pages() -> Any:
    from .console import router

    return router


def _again(question: Mapping[str, Any]) -> str:
    from .form import fields_of

    return "/console?" + urlencode(fields_of(question))


def _command() -> Command:
    from .command import command

    return command()


def _price_text(told: Mapping[str, Any]) -> str:
    from .told import ToldPrice

    return str(ToldPrice.of(told))


def _release_text(body: Mapping[str, Any]) -> str:
    from .told import ToldAnswer

    return repr(ToldAnswer(body))


QUESTION = Kind(
    name="query",
    title="a question",
    read=Read,
    price=quoted,
    run=_run,
    sorts=(TABLES,),
    days=_days,
    begun_at=("/console", "Ask"),
    shapes=_shapes,
    page=_page,
    csv=_csv,
    pages=_pages,
    again=_again,
    command=_command,
    price_text=_price_text,
    release_text=_release_text,
)
