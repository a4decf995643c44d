"""Questions that a service is asked: the words of `Ask`, for data that is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sordino.ledger.receipt import verify_receipt
from sordino.query.frame.draft import Arranged, Draft
from sordino.query.frame.frame import Frame
from sordino.query.frame.written import check_it_travels
from sordino.query.words import Words, takes
from sordino.serve.questions.public_schema import schema_of
from sordino.serve.questions.told import ToldAnswer, ToldPrice

if TYPE_CHECKING:
    from .client import Connection

_KIND = "query"


@dataclass(frozen=True, kw_only=True)
class Priced(Words):
    """The words of a question that a service prices."""

    project: str | None = None
    """Whose budget is charged as well."""


@dataclass(frozen=True, kw_only=True)
class Run(Priced):
    """The words of a question that a service runs."""

    key: str | None = None
    """The idempotency key, a new one if it is left out: the same under the same key is answered and charged once."""


class RemoteAsk:
    """A question about a data set of a service, ready to be priced and run with the words of `Ask`."""

    _field: ClassVar[str] = "sql"

    def __init__(self, house: Connection, dataset: str, text: str) -> None:
        self._house = house
        self._dataset = dataset
        self.text = text

    @takes(Priced)
    def price(self, words: Priced) -> ToldPrice:
        """Return the cost and the error to expect in every column; touches no data and charges nothing."""
        return ToldPrice.of(self._house.remote.price(_KIND, self.question(words)))

    @takes(Run)
    def run(self, words: Run) -> ToldAnswer:
        """Charge the price, then return the noisy answer.

        The same question under the same `key` is answered and charged once, whoever sends it again.
        """
        house = self._house
        found = house.remote.run(_KIND, self.question(words), words.key, house.stage)
        answer = ToldAnswer(found["answer"], found["receipt"])
        if house.key is not None:
            verify_receipt(answer.receipt, house.key, answer.to_json().encode())
        return answer

    def question(self, words: Priced) -> dict[str, Any]:
        """Return the question as a service takes it."""
        project = {} if words.project is None else {"project": words.project}
        return {"dataset": self._dataset, self._field: self.text, **words.plain(), **project}

    def __repr__(self) -> str:
        return f"RemoteAsk({self.text!r})"


class RemoteFrameAsk(Arranged, RemoteAsk):
    """A question that was built by method calls, with what can still be done to its answer. Its text travels.

    **Guarantee**: the service reads the same question from the text; what would read otherwise is refused here.
    """

    _field = "calls"

    def __init__(self, house: Connection, dataset: str, draft: Draft) -> None:
        check_it_travels(draft.text, draft)
        super().__init__(house, dataset, draft.text)
        self._draft = draft

    def _redrafted(self, draft: Draft) -> Self:
        return type(self)(self._house, self._dataset, draft)


RemoteTable = Frame[RemoteFrameAsk]


def table_afar(house: Connection, dataset: str, metadata: Mapping[str, Any], name: str) -> RemoteTable:
    """Return a table to ask about by method calls, by what is publicly known of it."""
    return Frame.over(schema_of(metadata), name, partial(RemoteFrameAsk, house, dataset))
