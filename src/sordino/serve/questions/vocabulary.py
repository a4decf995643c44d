"""The words that the console completes: tables and columns of a data set, and those of SQL that questions may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sordino.query.sql.calls import AGGREGATE_NAMES
from sordino.query.sql.functions import FUNCTIONS

_KEYWORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "WITH", "AS", "DISTINCT"),
    *("JOIN", "LEFT JOIN", "ON", "USING", "AND", "OR", "NOT", "IN", "EXISTS", "BETWEEN", "LIKE", "ILIKE", "IS NULL"),
    *("IS NOT NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "EXTRACT", "INTERVAL", "FILTER", "UNION ALL"),
    *("ROLLUP", "CUBE", "GROUPING SETS", "OVER", "PARTITION BY", "ASC", "DESC", "NULL", "TRUE", "FALSE"),
)


def vocabulary(dataset: Mapping[str, Any] | None) -> list[str]:
    """Return the words to complete, the data set's own first; a name that SQL must quote is quoted."""
    own: dict[str, None] = {}
    for table in [] if dataset is None else [*dataset["tables"], *dataset["views"]]:
        own[quoted(table["name"])] = None
        own |= dict.fromkeys(quoted(column["name"]) for column in table["columns"])
    return [*own, *_KEYWORDS, *sorted(AGGREGATE_NAMES), *sorted(set(FUNCTIONS) - AGGREGATE_NAMES)]


def quoted(name: str) -> str:
    """Return a name as a question writes it.

    >>> quoted("fare"), quoted("total fare"), quoted('a"b')
    ('fare', '"total fare"', '"a""b"')
    """
    plain = name.isascii() and name.isidentifier() and name.upper() not in _KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'
