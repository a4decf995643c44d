"""The row of surveys: a round is charged when it opens, answered by whoever takes part, and settled when it closes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.serve.kinds.kind import Kind, OpenWork, Plain, Quoted, Running, Shapes, StillOpen
from sordino.serve.kinds.page import Page
from sordino.serve.kinds.sort import Sort

from .declared import Declared, read

_WORDS = ("dataset", "project")


@dataclass(frozen=True)
class Wanted:
    """Which survey is to be opened."""

    dataset: str
    project: str | None
    plain: Plain

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Wanted:
        """Return what plain words ask for."""
        plain = {word: value for word, value in given.items() if value is not None}
        if not set(plain) <= set(_WORDS) or not all(isinstance(each, str) for each in plain.values()):
            raise ArgumentError("a round is opened by the words dataset and project alone, both names", "SRD-C714")
        if "dataset" not in plain:
            raise ArgumentError("say which survey: dataset, its name", "SRD-C714")
        return cls(plain["dataset"], plain.get("project"), plain)


def _price(data: DataAccount[Declared], _: Wanted) -> Quoted:
    from sordino.collect.plan import plan_of

    survey = data.protected.survey
    return Quoted.of(plan_of(survey), words=survey.price(None).words(), reports=survey.reports, round=survey.round)


# What follows is loaded when it is first needed: a process that finds prices reads no files and draws no pages.


def _run(data: DataAccount[Declared], _: Wanted, running: Running) -> StillOpen:
    from .worked import opened

    return opened(data, running.work)


def _open_work() -> OpenWork:
    from .worked import finish, look, resume

    return OpenWork(resume, look, finish)


def _shapes() -> Shapes:
    from .shapes import Opened, PricedRound

    return Shapes(Opened, PricedRound)


def _pages() -> Any:
    from .pages import router

    return router


def _intake() -> Any:
    from .intake import Intakes

    return Intakes


def _about(told: Mapping[str, Any]) -> Page:
    return Page({"told": told}, "survey_about.html")


SURVEYS = Sort(
    name="survey",
    read=read,
    sources=lambda _: {},
    open=lambda declared: declared,
    outline=lambda declared: declared,
    public=lambda declared: declared.public(),
    page=_about,
)

SURVEY = Kind(
    name="survey",
    title="a round of a survey",
    read=Wanted.read,
    price=_price,
    run=_run,
    about=("survey",),
    sorts=(SURVEYS,),
    opened=_open_work,
    shapes=_shapes,
    pages=_pages,
    beside=_intake,
)
