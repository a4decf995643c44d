"""BigQuery's ``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = …, …)``, cut out of the tokens and read.

ZetaSQL's older ``WITH ANONYMIZATION`` says the same, with ``kappa`` for the number of groups.

It works on tokens, so that quotes and comments cannot imitate it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlglot.tokenizer_core import Token, TokenType

from sordino.arguments import rational, whole
from sordino.errors import QuestionError
from sordino.query.model.question import Options

MARK = "DIFFERENTIAL_PRIVACY"
"""A text without this word has no such clause."""
OLDER_MARK = "ANONYMIZATION"
_CLAUSES = (("SELECT", "WITH", MARK), ("SELECT", "WITH", OLDER_MARK))
_MOST_CONTRIBUTED = 2**31


def cut_options(tokens: list[Token]) -> tuple[list[Token], Options, str | None]:
    """Return the tokens without the clause, what it sets, and the privacy unit that it names (None: no word of it)."""
    places = [place for place in range(len(tokens)) if _is_clause(tokens[place : place + 3])]
    if not places:
        return tokens, Options(), None
    if len(places) > 1 or _depth(tokens[: places[0]]) > 0:
        raise QuestionError(
            "WITH DIFFERENTIAL_PRIVACY belongs to the outermost SELECT, once: everything below is protected by it",
            "SRD-Q108",
        )
    start = places[0] + 1
    end = start + 2
    given: dict[str, list[Token]] = {}
    if end < len(tokens) and tokens[end].text.upper() == "OPTIONS":
        given, end = _options(tokens, end + 1)
    options = Options(
        **{_NAMES[name][0]: _NAMES[name][1](name, _text(given[name])) for name in given if name in _NAMES}
    )
    unit = _text(given["privacy_unit_column"]) if "privacy_unit_column" in given else None
    return tokens[:start] + tokens[end:], options, unit


def _is_clause(tokens: list[Token]) -> bool:
    plain = all(token.token_type not in (TokenType.STRING, TokenType.IDENTIFIER) for token in tokens)
    return plain and tuple(token.text.upper() for token in tokens) in _CLAUSES


def _depth(tokens: list[Token]) -> int:
    return sum((token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN) for token in tokens)


def _options(tokens: list[Token], place: int) -> tuple[dict[str, list[Token]], int]:
    """Read ``(name = value, …)`` from `place` on; return the values' tokens and the place behind."""
    if place >= len(tokens) or tokens[place].token_type is not TokenType.L_PAREN:
        raise _malformed()
    given: dict[str, list[Token]] = {}
    place += 1
    while place < len(tokens) and tokens[place].token_type is not TokenType.R_PAREN:
        end = place
        while end < len(tokens) and tokens[end].token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            end += 1
        name, value = _option(tokens[place:end])
        if name in given:
            raise QuestionError(f"the option {name} is given twice; give it once", "SRD-Q108")
        given[name] = value
        place = end + (end < len(tokens) and tokens[end].token_type is TokenType.COMMA)
    if place >= len(tokens):
        raise _malformed()
    return given, place + 1


def _option(tokens: list[Token]) -> tuple[str, list[Token]]:
    if len(tokens) < 3 or tokens[1].token_type is not TokenType.EQ:
        raise _malformed()
    name = tokens[0].text.lower()
    if name in _REFUSED:
        raise QuestionError(f"the option {name} is not possible; {_REFUSED[name]}", "SRD-Q108")
    if name not in _NAMES and name != "privacy_unit_column":
        known = ", ".join((*_NAMES, "privacy_unit_column"))
        raise QuestionError(f"there is no option {name[:40]!r}; there are {known}", "SRD-Q108")
    return name, tokens[2:]


def _text(tokens: list[Token]) -> str:
    return "".join(token.text for token in tokens)


def _malformed() -> QuestionError:
    return QuestionError("write the options as OPTIONS(epsilon = 1, delta = 1e-7, …)", "SRD-Q108")


def _delta(name: str, text: str) -> object:
    value = rational(name, text, least=0)
    if value >= 1:
        raise QuestionError(f"{name} must be below 1, not {text[:40]}", "SRD-Q108")
    return value


def _count(name: str, text: str) -> object:
    if not (text.isdecimal() and text.isascii() and len(text) <= 10):
        raise QuestionError(f"{name} must be a whole number, not {text[:40]!r}", "SRD-Q108")
    return whole(name, int(text), least=1, most=_MOST_CONTRIBUTED)


def _strategy(name: str, text: str) -> object:
    chosen = text.strip("'\"").upper()
    if chosen not in ("LAPLACE_THRESHOLD", "PUBLIC_GROUPS"):
        raise QuestionError(f"{name} is LAPLACE_THRESHOLD or PUBLIC_GROUPS, not {text[:40]!r}", "SRD-Q108")
    return chosen == "PUBLIC_GROUPS"


_REFUSED = {
    "k_threshold": "which groups are shown follows from delta; give that",
    "min_privacy_units_per_group": "write HAVING COUNT(DISTINCT person) >= n, which is decided by the noisy number",
}

_NAMES: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "epsilon": ("epsilon", partial(rational, above=0)),
    "delta": ("delta", _delta),
    "max_groups_contributed": ("groups", _count),
    "kappa": ("groups", _count),
    "group_selection_strategy": ("public_groups", _strategy),
    "max_rows_contributed": ("rows", _count),
    "max_rows_per_group": ("rows_per_group", _count),
}
