"""From text to one syntax tree of one SELECT, with limits on size and depth. The analyst's text goes no further.

sqlglot reads it, in DuckDB's dialect, or in BigQuery's if it has BigQuery's ``WITH DIFFERENTIAL_PRIVACY`` clause. The
parsers are told of no function at all: every call is a name with arguments, and what names mean stands in our tables.
"""

from __future__ import annotations

import re
from itertools import pairwise

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ParseError, TokenError
from sqlglot.parser import Parser
from sqlglot.parsers.bigquery import BigQueryParser
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.tokenizer_core import Token, TokenType

from sordino.errors import ArgumentError, QuestionError
from sordino.query.model.question import Options

from .options import MARK, OLDER_MARK, cut_options
from .refusals import STATEMENTS, refuse
from .spelling import respelt

LONGEST_TEXT = 100_000
DEEPEST = 100
MOST_NODES = 30_000

_SPECIAL_FORMS = ("CAST", "TRY_CAST", "SAFE_CAST", "EXTRACT", "SUBSTRING", "POSITION")
_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END)
_STARTS = (TokenType.SELECT, TokenType.WITH, TokenType.L_PAREN, TokenType.FROM)


_NO_NAMES = {TokenType.LIMIT, TokenType.OFFSET}
"""Behind ROLLUP (…) they would be read as names of columns."""


def _plain(parser: type[Parser]) -> type[Parser]:
    """Return the parser without any function of its own but the special forms."""
    forms = {name: parser.FUNCTION_PARSERS[name] for name in _SPECIAL_FORMS if name in parser.FUNCTION_PARSERS}
    told = {"FUNCTIONS": {}, "FUNCTION_PARSERS": forms, "ID_VAR_TOKENS": parser.ID_VAR_TOKENS - _NO_NAMES}
    return type(f"Plain{parser.__name__}", (parser,), told)


_PLAIN_DUCKDB, _PLAIN_BIGQUERY = _plain(DuckDBParser), _plain(BigQueryParser)


def read_text(text: object) -> tuple[exp.Expr, Options, str | None]:
    """Return the tree of the one query in `text`, the options that it sets, and the privacy unit that it names."""
    if not isinstance(text, str):
        raise ArgumentError(f"a question must be a text, not {type(text).__name__}", "SRD-A001")
    if len(text) > LONGEST_TEXT:
        raise QuestionError(
            f"a question may have {LONGEST_TEXT:,} characters, not {len(text):,}; put long lists into a public table",
            "SRD-Q101",
        )
    marked = MARK in text.upper() or OLDER_MARK in text.upper()
    tokens = _tokens(BigQuery(), text, lenient=True) if marked else []
    remaining, options, unit = cut_options(tokens)
    if len(remaining) == len(tokens):
        return _tree(_PLAIN_DUCKDB, DuckDB(), respelt(_tokens(DuckDB(), text)), text), options, unit
    return _tree(_PLAIN_BIGQUERY, BigQuery(), respelt(remaining), text), options, unit


def _tokens(dialect: Dialect, text: str, *, lenient: bool = False) -> list[Token]:
    try:
        return list(dialect.tokenize(text))
    except TokenError:
        if lenient:
            return []
        raise QuestionError("the text ends within a quote or a comment; close it", "SRD-Q101") from None


def _tree(parser: type[Parser], dialect: Dialect, tokens: list[Token], text: str) -> exp.Expr:
    statement = _one_statement(tokens)
    _refuse_depth(statement)
    try:
        trees = parser(dialect=dialect).parse(statement, text)
    except ParseError as error:
        raise QuestionError(f"this is not SQL that can be read: {_shortened(error)}", "SRD-Q101") from None
    except RecursionError:
        raise too_deep() from None
    (tree,) = trees  # there is no semicolon, and something before the end
    assert tree is not None  # noqa: S101
    _refuse_large(tree)
    return tree


def _one_statement(tokens: list[Token]) -> list[Token]:
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if not tokens:
        raise refuse("the question is empty", "write SELECT COUNT(*) FROM …", "SRD-Q101")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise refuse("there is more than one statement", "ask one SELECT at a time", "SRD-Q101")
    first = tokens[0]
    if first.token_type not in _STARTS:
        word = first.text.upper()[:20]
        raise refuse(
            f"{word} is not a question", STATEMENTS.get(word, "a question starts with SELECT or WITH"), "SRD-Q101"
        )
    _refuse_nulls_first(tokens)
    return tokens


def _refuse_nulls_first(tokens: list[Token]) -> None:
    for token, following in pairwise(tokens):
        if token.text.upper() == "NULLS" and following.text.upper() == "FIRST":
            raise refuse("NULLS FIRST is not possible", "NULL always comes last; leave it out")


def _refuse_depth(tokens: list[Token]) -> None:
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > DEEPEST:
            raise too_deep()


def _refuse_large(tree: exp.Expr) -> None:
    """Walk without recursion: chains such as a + a + … are as deep as they are long."""
    stack = [(tree, 1)]
    count = 0
    while stack:
        node, depth = stack.pop()
        count += 1
        if depth > DEEPEST:
            raise too_deep()
        if count > MOST_NODES:
            raise refuse("the question has too many parts", "put long lists into a public table", "SRD-Q101")
        for child in node.iter_expressions():
            in_chain = isinstance(node, _CHAINS) and type(child) is type(node)
            stack.append((child, depth + (not in_chain)))


_CHAINS = (exp.And, exp.Or, exp.Union, exp.Add, exp.Mul, exp.DPipe)
"""What is read as one list, however long."""


def too_deep() -> QuestionError:
    """Return the error for a question of too many floors."""
    return refuse("the question is nested too deeply", "name its parts by WITH name AS (SELECT …)", "SRD-Q101")


def _shortened(error: ParseError) -> str:
    """Return what the parser says, without colours and in words that do not come from its inside."""
    said = re.sub(r"\x1b\[[0-9;]*m| for <class '[^']*'>", "", str(error))
    said = re.sub(r"<Token [^>]*text: (\w+),[^>]*>", r"\1", said).replace("SENTINEL", "the end")
    return re.sub(r"Required keyword: '\w+' missing", "something is missing", said).strip()[:300]
