"""Answers to many questions, one after the other, by private multiplicative weights: a recipe of its own.

**Guarantee**: pure ε; ``multiplicative.py`` has the proof. What follows from the model afterwards is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino import keywords
from sordino.accounting.bound import Bound
from sordino.accounting.event import Event
from sordino.accounting.events import Pure
from sordino.arguments import Number, whole
from sordino.data.account import DataAccount
from sordino.data.metadata import Schema
from sordino.errors import ArgumentError
from sordino.publish.files import arrays_from_bytes, arrays_to_bytes
from sordino.publish.measuring import bound_of, bounding_of, table_of
from sordino.publish.price import Expected
from sordino.publish.publication import Publication, Running
from sordino.publish.released import Released, Saved
from sordino.publish.spending import Form, Spend

from .cells import place_of
from .constraints import Never, constraint_from, never, plain_of
from .fields import Field, fields_of
from .junction import cells_of
from .multiplicative import Weighing, weigh
from .release import field_from, plain_field
from .tabulated import Tabulated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CELLS = 2**22
_UPDATES = 10
_WORDS = ("columns", "questions", "updates", "table")


@dataclass(frozen=True)
class Those:
    """A question: how many rows have all of these together."""

    cells: Never

    def inside(self, fields: tuple[Field, ...]) -> NDArray[np.bool_]:
        """Return which cells of all columns it counts."""
        within = [np.ones(field.size, dtype=np.bool_) for field in fields]
        for name, given in self.cells.cells:
            place = place_of(fields, name)
            within[place] = within[place] & fields[place].within(given)
        found: NDArray[np.bool_] = np.logical_and.reduce(np.meshgrid(*within, indexing="ij"))
        return found


def those(**cells: Any) -> Those:
    """Return a question: how many rows have all of these together; values, lists or ranges, as in `never`."""
    return Those(never(**cells))


@dataclass(frozen=True)
class Answers:
    """Answers to questions; see `answers`."""

    schema: Schema
    columns: tuple[str, ...]
    questions: tuple[Those, ...]
    updates: int
    table: str | None

    name: ClassVar[str] = "answers"
    forms: ClassVar[tuple[Form, ...]] = ("pure",)
    adapts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        fields = self.fields
        for field in fields:
            if field.numeric:
                raise ArgumentError(
                    f"column {field.name!r} has bounds alone, and these questions need keys: declare so.keys([…])",
                    "SRD-P004",
                )
        if cells_of([field.size for field in fields], range(len(fields))) > MOST_CELLS:
            raise ArgumentError(
                f"these columns together have more than {MOST_CELLS:,} cells; take fewer of them, or use synthetic(…)",
                "SRD-P104",
            )
        for each in self.questions:
            for name, given in each.cells.cells:
                fields[place_of(fields, name)].within(given)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns as cells."""
        return fields_of(table_of(self.schema, self.table), self.columns, (), {})

    def design(self, spend: Spend) -> AnswersDesign:
        """Return all that is run for so much."""
        table = table_of(self.schema, self.table)
        bound = bound_of(self.schema, bounding_of(self.schema, table), 1)
        return AnswersDesign(self, Weighing(spend.amount, bound, self.updates, len(self.questions)))

    def plain(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        questions = [plain_of(each.cells)["never"] for each in self.questions]
        return {"columns": list(self.columns), "questions": questions, "updates": self.updates, "table": self.table}


@dataclass(frozen=True)
class AnswersDesign:
    """The questions, with the mechanisms that answer them."""

    recipe: Answers
    plan: Weighing

    @property
    def bound(self) -> Bound:
        """What one unit can change in a count."""
        return self.plan.bound

    def event(self) -> Event:
        """Return the claim."""
        return Pure(self.plan.epsilon)

    def expected(self, confidence: Number) -> tuple[Expected, ...]:
        """Return how far off answers are: noisy counts, and the model's as long as updates are left."""
        width = self.plan.count.error(float(confidence))
        counted = Expected("counted", width, f"half the width of a {float(confidence):.0%} interval of a noisy count")
        sense = f"rows, for all questions with 95 %, as long as {self.plan.updates} updates suffice"
        return counted, Expected("model", self.plan.far, sense, at_most=True)

    def notes(self) -> tuple[str, ...]:
        """Return what happens when updates run out."""
        return (f"after {self.plan.updates} updates the model answers alone, however far off it is",)

    def run(self, running: Running) -> AnsweredQuestions:
        """Answer all questions, in their order."""
        recipe, fields = self.recipe, self.recipe.fields
        table = table_of(recipe.schema, recipe.table)
        data = Tabulated(running.data.compute, table, bounding_of(recipe.schema, table))  # type: ignore[attr-defined]
        data.over(fields)
        exact = data.exact(tuple(range(len(fields))))
        found = weigh(running, self.plan, exact, [each.inside(fields) for each in recipe.questions])
        return AnsweredQuestions(
            running.plan, None, fields, recipe.questions, found.answers, found.counted, found.weights
        )


@dataclass(frozen=True, eq=False)
class AnsweredQuestions(Released):
    """The answers, and the model that is left: further questions to it are free."""

    fields: tuple[Field, ...]
    questions: tuple[Those, ...]
    answers: NDArray[np.float64]
    counted: NDArray[np.bool_]
    weights: NDArray[np.float64]

    def ask(self, **cells: Any) -> float:
        """Return how many rows have all of these together, by the model."""
        return float(self.weights[those(**cells).inside(self.fields)].sum())

    def to_arrow(self) -> pa.Table:
        """Return a row for each question: its number, the answer, and whether it is a noisy count."""
        return pa.table({"question": range(len(self.answers)), "rows": self.answers, "counted": self.counted})

    def plot(self) -> Figure:
        """Return all answers in order: the model's, and those that were counted."""
        from .picture_of_answers import answered

        return answered(self.answers, self.counted)

    def measured(self) -> dict[str, Any]:
        """Return the answers, and the columns in their cells."""
        columns = [plain_field(field) for field in self.fields]
        return {"columns": columns, "answers": self.answers.tolist(), "counted": self.counted.tolist()}

    def contents(self) -> Mapping[str, bytes]:
        """Return the model."""
        return {"weights.npz": arrays_to_bytes({"weights": self.weights})}


def answers(
    account: DataAccount[Any],
    columns: Iterable[str],
    questions: Iterable[Those],
    *,
    updates: int = _UPDATES,
    table: str | None = None,
) -> Publication[AnsweredQuestions]:
    """Return answers to many questions of counts, one after the other, as something to price and run.

    **Guarantee**: pure ε, however many questions there are.
    **Source**: Hardt, Rothblum 2010; Dwork, Roth 2014, section 4.2.

    Args:
        account: an account for tables.
        columns: those that questions are about; each has declared keys.
        questions: `so.publish.those(city="Oslo", married=True)`, in the order in which they are answered.
        updates: how often the model may be wrong by much.
        table: which table, where there are several.
    """
    if not isinstance(account, DataAccount) or not isinstance(getattr(account.protected, "schema", None), Schema):
        raise ArgumentError("questions are about tables: so.account(so.dataset(…), so.budget(…))", "SRD-A001")
    return Publication(account, _recipe(account.protected.schema, columns, questions, updates, table))


def _recipe(
    schema: Schema, columns: Iterable[str], questions: Iterable[Those], updates: int, table: str | None
) -> Answers:
    names, asked = tuple(columns), tuple(questions)
    if isinstance(columns, str) or not names or len(set(names)) < len(names):
        raise ArgumentError("name the columns that questions are about, each once", "SRD-P101")
    if not asked or not all(isinstance(each, Those) for each in asked):
        raise ArgumentError('questions are a list of so.publish.those(city="Oslo", …)', "SRD-A001")
    return Answers(schema, names, asked, whole("updates", updates, least=1, most=10_000), table)


def read(protected: Any, plain: Mapping[str, Any]) -> Answers:
    """Return the recipe that `plain` describes, for what is protected."""
    keywords.check_names(plain, _WORDS, "answers have no parameter")
    if not isinstance(getattr(protected, "schema", None), Schema):
        raise ArgumentError("questions are about tables: name a data set of tables", "SRD-A001")
    questions = [_those(each) for each in plain.get("questions", ())]
    updates = plain.get("updates", _UPDATES)
    return _recipe(protected.schema, plain.get("columns", ()), questions, updates, plain.get("table"))


def _those(plain: Mapping[str, Any]) -> Those:
    said = constraint_from({"never": plain})
    assert isinstance(said, Never)  # noqa: S101  (that is what was said)
    return Those(said)


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> AnsweredQuestions:
    """Return the answers that were saved."""
    said = manifest["measured"]
    return AnsweredQuestions(
        Saved(dict(manifest)),
        None,
        tuple(field_from(each) for each in said["columns"]),
        tuple(_those(each) for each in manifest["parameters"]["questions"]),
        np.array(said["answers"], dtype=np.float64),
        np.array(said["counted"], dtype=np.bool_),
        arrays_from_bytes(files["weights.npz"])["weights"],
    )
