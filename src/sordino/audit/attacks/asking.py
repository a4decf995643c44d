"""How an attacker asks: any function from SQL to a number will do, until somebody refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sordino.errors import ArgumentError, BudgetError
from sordino.query.ask import TableAccount

Asker = Callable[[str], Any]
"""Takes a question in SQL and returns one number."""


def through(account: TableAccount, **words: Any) -> Asker:
    """Return how to ask an account of sordino: each question is run with `words`, such as ``epsilon=0.1``."""

    def ask(text: str) -> float:
        answer = account.sql(text).run(**words)
        if len(answer) != 1 or len(answer.noisy_names) != 1:
            raise ArgumentError("an attack asks for one number at a time", "SRD-A001")
        return float(answer[answer.noisy_names[0]][0])

    return ask


@dataclass
class Interview:
    """One asker's questions: counted, and ended by the first refusal for want of budget."""

    ask: Asker
    asked: int = 0
    refused: str | None = None
    """The code of the refusal that ended it."""

    def number(self, text: str) -> float | None:
        """Return the answer to a question; None if the budget is spent, or nothing is known (SQL's NULL)."""
        if self.refused is not None:
            return None
        try:
            answer = self.ask(text)
        except BudgetError as refusal:
            self.refused = refusal.code
            return None
        self.asked += 1
        return None if answer is None else float(answer)


def select(what: str, table: str, *conditions: str | None) -> str:
    """Return the text of a question about the rows for which all conditions hold."""
    given = [f"({condition})" for condition in conditions if condition]
    where = f" WHERE {' AND '.join(given)}" if given else ""
    return f"SELECT {what} AS answer FROM {table}{where}"  # noqa: S608  (to write SQL is what an attacker does)
