"""Questions as plain dictionaries, read and checked before anything else is done with them.

::

    {"dataset": "trips", "sql": "SELECT COUNT(*) AS rides FROM trips", "epsilon": "0.5", "confidence": 0.9}

Instead of ``sql`` there may be ``calls``, the text of method calls: ``"table('trips').agg(rides=count())"``. The rest
are the words of `Ask.price` (``query/words.py``), with goals and bounding as dictionaries, and ``project``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sordino.errors import ArgumentError
from sordino.ledger.scope import checked_name
from sordino.query.ask import Ask, TableAccount
from sordino.query.words import WORDS, Words, check_names

_OWN = ("dataset", "sql", "calls", "project")
_LONGEST_SQL = 100_000
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


class Read:
    """A question, read and checked; nothing of it has met data."""

    def __init__(self, question: Mapping[str, Any]) -> None:
        check_names(question, (*_OWN, *WORDS))
        self.plain = {name: value for name, value in question.items() if value is not None}
        self.dataset = _text_of(self.plain, "dataset", 200)
        if ("sql" in self.plain) == ("calls" in self.plain):
            raise ArgumentError("a question is asked by sql or by calls: give one of them", "SRD-A003")
        self._calls = "calls" in self.plain
        self.text = _text_of(self.plain, "calls" if self._calls else "sql", _LONGEST_SQL)
        self.project = checked_name("project", self.plain["project"]) if "project" in self.plain else None
        said = Words.read({name: value for name, value in self.plain.items() if name not in _OWN})
        self.words: dict[str, Any] = vars(said)

    def ask(self, data: TableAccount) -> Ask:
        """Return the question about a data set; refused with what to write instead if it cannot be answered."""
        return data.calls(self.text) if self._calls else data.sql(self.text)


def _text_of(plain: Mapping[str, Any], name: str, longest: int) -> str:
    value = plain.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise ArgumentError(f"{name} must be a text of 1 to {longest} characters", "SRD-A001")
    if _UNWRITABLE.search(value):
        raise ArgumentError(f"{name} must not hold NUL or halves of characters, which no text can", "SRD-A001")
    return value
