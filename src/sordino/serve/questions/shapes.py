"""What requests for questions and their responses hold, for the API. The words are those of ``query/words.py``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, create_model

from sordino.query.words import WORDS, Word
from sordino.serve.api.models import Body, Name, Number
from sordino.serve.api.shapes import Plain
from sordino.serve.api.shapes import Priced as AnyPriced
from sordino.serve.api.shapes import Released as AnyReleased


class Goal(Body):
    """An error that is good enough: column `of` within `within`, in groups of `size` rows or more."""

    within: Number
    of: Name
    size: Number | None = None
    confidence: Number | None = None


class Bounding(Body):
    """How much one person may weigh, instead of the planner's choice."""

    method: Literal["row", "sample", "weigh", "groups", "norm"]
    rows: StrictInt | None = None
    groups: StrictInt | None = None
    rows_per_group: StrictInt | None = None


_FORMS: dict[str, Any] = {
    "number": Number,
    "flag": StrictBool,
    "goal": Goal,
    "bounding": Bounding,
    "weights": dict[str, Number],
}


def _field(word: Word) -> Any:
    kind = Literal[word.choices] if word.form == "choice" else _FORMS[word.form]
    return Annotated[kind | None, Field(description=word.help)], None


class _Asked(Body):
    """A question about one data set, in SQL or by method calls, what to spend on it and how to answer it."""

    dataset: Name
    sql: Annotated[str, Field(min_length=1, max_length=100_000)] | None = None
    calls: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    """Method calls as text, instead of sql: ``table('trips').agg(rides=count())``."""
    project: Name | None = None


Question = create_model("Question", __base__=_Asked, **{name: _field(word) for name, word in WORDS.items()})


class ColumnPrice(Body):
    """How far off a column will be: half-widths of its interval by the size of groups."""

    name: str
    half_widths: dict[str, float | None]
    depends_on_size: bool
    text: str


class Priced(AnyPriced):
    """What a question costs, and how far off every column will be."""

    sql: str
    epsilon: str | None
    rho: str | None
    delta: str | None
    would_fit: dict[str, str] | None
    columns: list[ColumnPrice]
    confidence: float
    notes: list[str]


class AnswerColumn(Body):
    """One column of an answer; with noise it has an interval for each value."""

    name: str
    kind: str
    values: list[Any]
    low: list[Any] | None = None
    high: list[Any] | None = None


class Answer(Body):
    """What was released: columns, notes, and what is publicly known about how they came about."""

    columns: list[AnswerColumn]
    confidence: float
    notes: list[str]
    details: Plain


class Released(AnyReleased):
    """An answer and its receipt."""

    answer: Answer
