"""``sordino ask``: its words are those of ``query/words.py``, and the SQL itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sordino.query.words import DEFAULTS, WORDS, Word
from sordino.serve.kinds.kind import Command, Option


def command() -> Command:
    """Return the command that asks a question."""
    return Command(
        "ask",
        "Ask a question: its price with --dry-run, else its answer, which is charged.",
        Option("sql", "The question, in SQL."),
        (*(_option(name, word) for name, word in WORDS.items()), Option("project", "Charged to this project as well.")),
        _request,
    )


def _option(name: str, word: Word) -> Option:
    return Option(name, word.help, word.form == "flag", DEFAULTS[name] if word.form == "flag" else None)


def _request(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question from what was typed."""
    return {
        name: WORDS[name].typed(value) if name in WORDS and isinstance(value, str) else value
        for name, value in typed.items()
        if name not in WORDS or value != DEFAULTS[name]
    }
