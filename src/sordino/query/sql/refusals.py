"""What is refused, and what to write instead: a text for each common case, and the nearest name for a misspelt one.

All of it is about the analyst's own text and public names, before data is touched, so it may be as helpful as can be.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from sqlglot import exp

from sordino.data.metadata import Schema
from sordino.errors import QuestionError

_LONGEST_NAME = 60

_SCHEMA = "the data set's schema lists its tables and columns"
_ENGINES = "engines are set up by the data's owner"
_ANSWERS = "answers come back as Arrow, pandas or polars"
_READ_ONLY = "questions only read"
_LIST = "list the columns that you want"
_CASES = "write one CASE WHEN … END for each column"
_ESCAPE = "leave ESCAPE out and use % and _ only"
_LATERAL = "join a table or a subquery instead"
_PATTERNS = "write LIKE, ILIKE or STARTS_WITH"
_CUT = "in a subquery would let one person's row push out another's; cut the answer outside"
_UNNEST = "lists are no columns here, but constants in FROM: UNNEST(['a', 'b']) AS k"

STATEMENTS = {
    "EXPLAIN": "prices and plans come from price(), which touches no data",
    "SUMMARIZE": "ask for COUNT, AVG, MIN, MAX or QUANTILE of the columns that you want to know about",
    **dict.fromkeys(("DESCRIBE", "SHOW"), _SCHEMA),
    **dict.fromkeys(("PRAGMA", "SET", "INSTALL", "LOAD"), _ENGINES),
    **dict.fromkeys(("COPY", "EXPORT"), _ANSWERS),
    "ATTACH": "data is added by its owner, as a data set",
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "DROP", "ALTER"), _READ_ONLY),
    "CREATE": "write a subquery or WITH name AS (SELECT …)",
    "VALUES": "select from a table; constant rows belong into a public table",
    "CALL": "ask with SELECT",
}

_CLAUSES = {
    "distinct": "write GROUP BY; in a subquery, DISTINCT needs the person's column among those that it selects",
    "limit": f"LIMIT {_CUT}",
    "offset": f"OFFSET {_CUT}",
    "order": "ORDER BY inside of a subquery orders nothing; order the answer outside",
    "qualify": "name the window in a subquery and filter it with WHERE outside",
    "windows": "write the window out: OVER (PARTITION BY … ORDER BY …)",
    "having": "HAVING belongs to GROUP BY",
    "group": "GROUP BY is not possible here",
    "sample": "a sample by the engine is not reproducible; sordino bounds each person's rows by itself",
    "pivots": _CASES,
    "laterals": _LATERAL,
    **dict.fromkeys(("locks", "into"), _READ_ONLY),
    "with_": "put WITH before the outermost SELECT",
    "hint": "leave the hint out; engines are set up by the data's owner",
    "joins": "write JOIN … ON in the FROM clause",
    "using": "write ON a.x = b.x",
    "escape": _ESCAPE,
    **dict.fromkeys(("except_", "replace", "rename"), _LIST),
}

_NODES: dict[str, str] = {
    "Star": "single rows are never shown: ask for aggregates such as COUNT(*), SUM(x), AVG(x), with GROUP BY",
    "Subquery": "a subquery as a value depends on everybody's rows; ask it by itself first, and write its answer "
    "as a constant",
    "Exists": "EXISTS can stand in WHERE, joined to other conditions by AND",
    "Window": "a window belongs into a subquery and is partitioned by the person's column",
    "WithinGroup": "only PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x) is known",
    "Distinct": "DISTINCT is possible in COUNT(DISTINCT x)",
    "Filter": "FILTER goes with COUNT, SUM, AVG and the like",
    "Any": "write x = a OR x = b",
    "All": "write x > a AND x > b",
    "Escape": _ESCAPE,
    **dict.fromkeys(("RegexpLike", "RegexpFullMatch", "SimilarTo"), _PATTERNS),
    **dict.fromkeys(("Kwarg", "PropertyEQ"), "clip inside: SUM(CLIP(x, low, high))"),
    "Interval": "an interval is added to a date, or compared with the difference of two",
    **dict.fromkeys(("Placeholder", "Parameter"), "write the value itself; parameters are not filled in"),
    "Lateral": _LATERAL,
    "Unnest": _UNNEST,
    "Dot": "write the function's or the column's name alone",
    "Collate": "compare LOWER(x) instead",
    "AtTimeZone": "timestamps have no time zone in sordino",
    "Pivot": _CASES,
    **dict.fromkeys(("Except", "Intersect"), "it belongs into FROM (SELECT …), with the person's column on both sides"),
    "Union": "a UNION belongs into FROM (SELECT … UNION ALL SELECT …)",
    "Tuple": "write one value at a time",
    "Columns": _LIST,
    **dict.fromkeys(("CurrentUser", "SessionUser"), "who asks is no part of a question"),
}

_VOLATILE = "its value changes from call to call, so the same question would not have the same answer; write a constant"
_FILES = "files are read by the data's owner only, as a data set"
_SYSTEM = "the engine itself is nobody's to ask about"

FUNCTIONS = {
    **dict.fromkeys(
        ("RANDOM", "RAND", "UUID", "GEN_RANDOM_UUID", "GENERATE_UUID", "SETSEED", "NOW", "TODAY", "CURRENT_DATE",
         "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_DATETIME", "CLOCK_TIMESTAMP", "STATEMENT_TIMESTAMP",
         "LOCALTIME", "LOCALTIMESTAMP", "GET_CURRENT_TIMESTAMP", "TRANSACTION_TIMESTAMP", "NEXTVAL", "CURRVAL"),
        _VOLATILE,
    ),
    "TIMESTAMPDIFF": "engines disagree about parts of a unit: write DATE_DIFF('minute', a, b) for the boundaries in "
    "between, or TIMESTAMP_DIFF(b, a, MINUTE) for whole minutes",
    **dict.fromkeys(
        ("INITCAP", "SOUNDEX", "MD5", "SHA256", "HASH", "REVERSE", "TRANSLATE"),
        "group by the text itself, or by LOWER, LEFT, RIGHT, REPLACE, SPLIT_PART of it",
    ),
    **dict.fromkeys(
        ("READ_PARQUET", "READ_CSV", "READ_CSV_AUTO", "READ_JSON", "READ_JSON_AUTO", "READ_TEXT", "READ_BLOB", "GLOB",
         "PARQUET_SCAN", "PARQUET_METADATA", "SNIFF_CSV", "PG_READ_FILE", "LO_IMPORT", "ICEBERG_SCAN", "DELTA_SCAN"),
        _FILES,
    ),
    **dict.fromkeys(
        ("QUERY", "QUERY_TABLE", "ERROR", "RAISE_ERROR", "ASSERT_TRUE", "GETENV", "VERSION", "CURRENT_SETTING",
         "CURRENT_USER", "SESSION_USER", "CURRENT_DATABASE", "CURRENT_CATALOG", "CURRENT_SCHEMA", "CURRENT_QUERY",
         "DUCKDB_TABLES", "DUCKDB_COLUMNS", "DUCKDB_SETTINGS", "PRAGMA_STORAGE_INFO", "PRAGMA_TABLE_INFO", "PG_SLEEP",
         "TXID_CURRENT", "PG_TYPEOF", "TYPEOF", "REFLECT", "JAVA_METHOD", "INPUT_FILE_NAME", "WHICH_SECRET"),
        _SYSTEM,
    ),
    "LOG": "engines disagree about its base; write LN(x), LOG10(x) or LOG2(x)",
    **dict.fromkeys(
        ("DAYOFWEEK", "WEEKDAY", "DOW", "DAYNAME"),
        "engines count weekdays differently; write ISODOW(x): Monday is 1, Sunday is 7",
    ),
    **dict.fromkeys(("GROUPING", "GROUPING_ID"), "a NULL key with its total tells the same"),
    **dict.fromkeys(
        ("FIRST", "LAST", "ANY_VALUE", "ARBITRARY", "MIN_BY", "MAX_BY", "ARG_MIN", "ARG_MAX", "FIRST_VALUE",
         "ARRAY_AGG", "STRING_AGG", "GROUP_CONCAT", "LISTAGG", "LIST"),
        "it would show a single person's value; ask for MODE(x), TOP(x, k), MEDIAN(x) or a HISTOGRAM",
    ),
    **dict.fromkeys(("BOOL_AND", "BOOL_OR", "EVERY", "LOGICAL_AND", "LOGICAL_OR"), "write COUNT_IF(…) or AVG(CASE …)"),
    **dict.fromkeys(("REGEXP_MATCHES", "REGEXP_LIKE", "REGEXP_CONTAINS"), _PATTERNS),
    "COLUMNS": _LIST,
    "GENERATE_SERIES": "a series of constants belongs into a public table",
    "UNNEST": _UNNEST,
}  # fmt: skip


def refuse(what: str, why: str, code: str = "SRD-Q102") -> QuestionError:
    """Return the error that says what cannot be and what to write instead."""
    return QuestionError(f"{what}: {why}", code)


def refuse_where_days_are_units(schema: Schema, what: str) -> None:
    """Refuse what is keyed by a person where the unit is what a person did on one day."""
    if schema.blocks is not None and schema.blocks.per_unit:
        raise refuse(
            f"{what} is not possible where the unit is {schema.unit.name}",
            "it would end with the day; group by the person and the day, aggregate at the outside alone, or ask a data "
            "set that protects people",
            "SRD-Q105",
        )


def refused_node(node: exp.Expr) -> QuestionError:
    """Return the error for a piece of SQL that is not in the allow-list."""
    name = type(node).__name__
    if name.startswith("Current") or name.startswith("Local"):
        return refuse(shown(node), FUNCTIONS["NOW"])
    return refuse(f"{shown(node)} is not possible here", _NODES.get(name, "the documentation lists what is"))


def refused_clause(name: str) -> QuestionError:
    """Return the error for a clause that is not read where it stands."""
    word = name.strip("_").upper()
    return refuse(f"{word} is not possible here", _CLAUSES.get(name, "leave it out"))


def unknown_function(name: str, known: Iterable[str]) -> QuestionError:
    """Return the error for a function that is not in the allow-list."""
    upper = name.upper()
    if upper in FUNCTIONS:
        return refuse(f"{upper} is not possible", FUNCTIONS[upper])
    hint = _close(upper, known) or "; the page on SQL in the documentation lists all that there are"
    return QuestionError(f"there is no function {name[:_LONGEST_NAME]!r}{hint}", "SRD-Q103")


def unknown_name(what: str, name: str, known: Iterable[str]) -> QuestionError:
    """Return the error for a table or column that does not exist, naming those that come close."""
    return QuestionError(f"there is no {what} {name[:_LONGEST_NAME]!r}{_did_you_mean(name, known)}", "SRD-Q103")


def _close(name: str, known: Iterable[str], cutoff: float = 0.82) -> str:
    """Return names that are written almost like it: what merely looks similar may mean something else."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name[:_LONGEST_NAME].lower(), by_lower, n=3, cutoff=cutoff)
    return f"; did you mean {' or '.join(by_lower[match] for match in close)}?" if close else ""


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    known = list(known)
    close = _close(name, known, cutoff=0.6)
    if close:
        return close
    by_lower = {candidate.lower(): candidate for candidate in known}
    listed = ", ".join(sorted(by_lower.values())[:10])
    return f"; there are {listed}" if listed else ""


def shown(node: exp.Expr) -> str:
    """Return the piece of SQL as the analyst would know it again, shortened."""
    name = type(node).__name__
    if isinstance(node, exp.Anonymous):
        return f"{node.name.upper()[:_LONGEST_NAME]}(…)"
    if isinstance(node, exp.Func) and name not in _WORDS:
        return node.sql_name()
    if isinstance(node, exp.Column | exp.Identifier | exp.Var):
        return node.name[:_LONGEST_NAME] or name
    return _WORDS.get(name, name.upper())


_WORDS = {
    "Star": "*",
    "Subquery": "(SELECT …)",
    "RegexpLike": "a regular expression",
    "RegexpFullMatch": "~",
    "Kwarg": "a named argument",
    "PropertyEQ": "a named argument",
    "Placeholder": "?",
    "Dot": "a name with dots",
}


def only(node: exp.Expr, *known: str) -> None:
    """Refuse the node if it says anything besides what is `known`: nothing that was written is ever passed over."""
    for name, value in node.args.items():
        if value and name not in known:
            raise refused_clause(name)
