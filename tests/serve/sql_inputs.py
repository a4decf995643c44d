"""Texts to ask a service with: questions by a grammar over its tables, questions with something changed, and garbage.

Everything is a function of a seed.
"""

# ruff: noqa: S608  (what is made here is to be refused, or to be read by our own parser)

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

NUMBERS = ("fare", "tips", "seats")
TEXTS = ("city", "note")
KINDS = {"number": NUMBERS, "text": TEXTS, "date": ("day",), "boolean": ("paid",)}
COLUMNS = ("rider", "fare", "tips", "seats", "city", "note", "day", "paid")
CONSTANTS: dict[str, tuple[str, ...]] = {
    "number": ("0", "1", "-1", "2.5", "100", "1e-9", "1e30", "1e400", "9223372036854775807", "0.1", "-0.0", "NULL"),
    "text": ("'Oslo'", "'Rome'", "''", "'%'", "'o''slo'", "'\u00e5'", "'e\u0301'", "NULL", "'\\'", "'a;b--c'"),
    "date": ("DATE '2026-01-05'", "'2026-02-30'", "'2026-01-31'", "DATE '0001-01-01'", "NULL"),
    "boolean": ("TRUE", "FALSE", "NULL"),
}
UNARY = ("ABS", "SIGN", "SQRT", "EXP", "LN", "LOG10", "LOG2", "FLOOR", "CEIL", "ROUND")
AGGREGATES = (
    "COUNT(*)", "COUNT({n})", "COUNT({t})", "COUNT(DISTINCT rider)", "COUNT(DISTINCT {t})", "COUNT_PEOPLE()",
    "COUNT_IF({b})", "SUM({n})", "AVG({n})", "VARIANCE({n})", "STDDEV({n})", "COVAR_POP({n}, {n})", "CORR({n}, {n})",
    "REGRESSION({n}, {n})", "MIN({n})", "MAX({n})", "MEDIAN({n})", "QUANTILE({n}, 0.9)", "QUANTILE({n}, [0.25, 0.75])",
    "HISTOGRAM({n}, 0, 10, 20)", "HISTOGRAM({n}, 12)", "MODE(city)", "TOP(city, 2)", "SUM({n}) FILTER (WHERE {b})",
    "SUM({n}) / COUNT(*)", "ROUND(AVG({n}), 1)", "CASE WHEN COUNT(*) > 5 THEN 1 ELSE 0 END", "MIN(day)", "MAX({t})",
    "LISTAGG({t})", "ANY_VALUE({t})", "FIRST({t})", "STRING_AGG(note, ',')", "ARG_MAX(note, fare)", "HISTOGRAM(note)",
)  # fmt: skip
GROUPS = ("city", "paid", "note", "day", "DATE_TRUNC('month', day)", "city, paid", "FLOOR(fare / 10)", "LENGTH(note)",
          "ROLLUP (city, paid)", "1", "ALL", "rider", "CASE WHEN {b} THEN 'x' ELSE 'y' END")  # fmt: skip
SOURCES = (
    "rides", "rides r", "rides JOIN cities USING (city)", "rides LEFT JOIN cities ON rides.city = cities.city",
    "(SELECT * FROM rides WHERE {b}) AS q",
    "(SELECT rider, city, {n} AS fare, tips, seats, note, day, paid FROM rides) q",
    "(SELECT rider, COUNT(*) AS fare, SUM(tips) AS tips FROM rides GROUP BY rider) q",
    "(SELECT *, ROW_NUMBER() OVER (PARTITION BY rider ORDER BY day) AS k FROM rides) q",
    "(SELECT * FROM rides UNION ALL SELECT * FROM rides) q", "cities LEFT JOIN rides USING (city)", "cities",
    "rides a JOIN rides b ON a.rider = b.rider", "rides, cities WHERE rides.city = cities.city", "nothing",
    "read_csv('rides.parquet')", "'rides.parquet'", "information_schema.tables", "duckdb_settings()", "sqlite_master",
)  # fmt: skip
ATTACKS = (
    "EXPLAIN ANALYZE {q}", "SUMMARIZE rides", "DESCRIBE rides", "{q}; {q}", "{q} -- ", "/* {q} */ SELECT note FROM x",
    "COPY rides TO 'x.csv'", "ATTACH 'x.db'", "PRAGMA show_tables", "SET memory_limit = '1GB'", "INSTALL httpfs",
    "SELECT error(note) FROM rides", "SELECT query('SELECT note FROM rides')", "SELECT * FROM query('FROM rides')",
    "SELECT note FROM rides", "FROM rides", "SELECT CAST(note AS INTEGER) AS x FROM rides", "TABLE rides",
    "SELECT COUNT(*) AS n, (SELECT MAX(note) FROM rides) AS x FROM rides", "SELECT getenv('HOME') AS x FROM rides",
    "SELECT SUM(1 / (fare - tips)) AS x FROM rides WHERE error(note) IS NULL", "WITH RECURSIVE x AS ({q}) FROM x",
    "SELECT COUNT(*) AS n FROM rides WHERE fare > (SELECT AVG(fare) FROM rides)", "PIVOT rides ON note USING COUNT(*)",
    "SELECT COUNT(*) AS n FROM rides TABLESAMPLE 10%", "SELECT COUNT(*) FROM rides WHERE random() < 0.5", "CALL {q}",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.01, max_groups_contributed=2) city, COUNT(*) AS n FROM rides "
    "GROUP BY city", "VALUES (1)", "SELECT nextval('x') AS x, COUNT(*) FROM rides", "SELECT * FROM 'rides.parquet'",
)  # fmt: skip
_SOUP = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN ON USING AND OR NOT IN EXISTS LIKE IS NULL CASE WHEN THEN ELSE "
    "END AS DISTINCT UNION ALL WITH OVER PARTITION rides cities fare city note rider day COUNT SUM AVG ( ) ( ) , . * + "
    "- / % = <> < > || ; ' \" ` :: [ ] 1 0 2.5 1e400 'a' -- /* */ ? $1 @ # \\ \u0000 \u00e9 \U0001f600 \ud800"
)
SOUP = _SOUP.split(" ")


class SqlInputs:
    """Texts by a seed: about half of them are questions that can be answered, or nearly."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._makers: tuple[tuple[int, Callable[[], str]], ...] = (
            (55, self.question),
            (25, self.changed),
            (10, self.attack),
            (10, self.garbage),
        )

    def text(self) -> str:
        """Return the next text."""
        weights, makers = zip(*self._makers, strict=True)
        maker: Callable[[], str] = self._random.choices(makers, weights)[0]
        return maker()

    def words(self) -> dict[str, Any]:
        """Return what to spend, and how to ask; some of it impossible."""
        pick = self._random
        spent: dict[str, Any] = pick.choices(
            (
                {"epsilon": pick.choice(("0.01", "0.5", 0.25, "1e-6", 1))},
                {"rho": pick.choice(("0.001", 0.1))},
                {"error": {"within": pick.choice((1, 50, "1e6")), "of": pick.choice(("a0", "n", "none"))}},
                {"epsilon": pick.choice(("1e3", "NaN", -1, 0, "1e9", "inf", "1/3", ""))},
                {},
            ),
            (70, 10, 6, 8, 6),
        )[0]
        if pick.random() < 0.2:
            spent["delta"] = pick.choice(("1e-9", "1e-7", 0.5, "0", 2))
        if pick.random() < 0.2:
            name = pick.choice(("intervals", "integers", "non_negative", "consistent", "truncation", "find"))
            spent[name] = pick.random() < 0.5
        if pick.random() < 0.05:
            spent |= {
                "mechanism": pick.choice(("laplace", "gaussian")),
                "confidence": pick.choice((0.5, 0.999)),
            }
        return spent

    def question(self) -> str:
        """Return a question as the grammar says."""
        pick = self._random
        chosen = [f"{self._filled(pick.choice(AGGREGATES))} AS a{place}" for place in range(pick.randint(1, 3))]
        source = self._filled(pick.choices(SOURCES, (30, 3, 5, 3, 4, 3, 3, 3, 2, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1))[0])
        parts = [source]
        if pick.random() < 0.5 and "WHERE" not in source[-40:]:
            parts.append(f"WHERE {self._condition(2)}")
        if pick.random() < 0.5:
            key = self._filled(pick.choice(GROUPS))
            parts.append(f"GROUP BY {key}")
            if key[:1].isalpha() and key.isidentifier() and key != "ALL":
                chosen.insert(0, key)
        if pick.random() < 0.1:
            parts.append(f"HAVING {pick.choice(('a0 > 5', 'COUNT(*) > 1', self._condition(1)))}")
        if pick.random() < 0.15:
            parts.append(f"ORDER BY {pick.choice(('a0', '1', 'a0 DESC', 'city', 'rider'))} LIMIT {pick.choice('0159')}")
        return f"SELECT {', '.join(chosen)} FROM {' '.join(parts)}"

    def changed(self) -> str:
        """Return a question in which words were dropped, doubled, swapped or replaced."""
        pick, words = self._random, self.question().split(" ")
        for _ in range(pick.randint(1, 4)):
            place = pick.randrange(len(words))
            way = pick.randrange(5)
            if way == 0 and len(words) > 1:
                del words[place]
            elif way == 1:
                words.insert(place, words[pick.randrange(len(words))])
            elif way == 2:
                words[place] = pick.choice(SOUP)
            elif way == 3:
                words.insert(place, pick.choice(SOUP))
            else:
                letters = list(words[place]) or ["x"]
                letters[pick.randrange(len(letters))] = chr(
                    pick.choice((0x27, 0x22, 0x28, 0x29, 0x3B, 0x2D, 0xE9, 0x41))
                )
                words[place] = "".join(letters)
        return " ".join(words)

    def attack(self) -> str:
        """Return something that must not get through."""
        return self._random.choice(ATTACKS).replace("{q}", self.question())

    def garbage(self) -> str:
        """Return words or letters in no order."""
        pick = self._random
        if pick.random() < 0.6:
            return " ".join(pick.choice(SOUP) for _ in range(pick.randint(1, 40)))
        if pick.random() < 0.1:
            return "SELECT " + "(" * pick.choice((50, 5000)) + "1"
        return "".join(chr(pick.choice((pick.randrange(1, 128), pick.randrange(1, 0x3000)))) for _ in range(30))

    def _filled(self, pattern: str) -> str:
        for mark, make in (("{n}", self._number), ("{t}", self._words), ("{b}", self._condition)):
            while mark in pattern:
                pattern = pattern.replace(mark, make(2), 1)
        return pattern

    def _number(self, depth: int) -> str:
        pick = self._random
        if depth == 0 or pick.random() < 0.6:
            return pick.choice(NUMBERS) if pick.random() < 0.8 else pick.choice(CONSTANTS["number"])
        one, two = self._number(depth - 1), self._number(depth - 1)
        return pick.choice(
            (f"({one} {pick.choice('+-*/%')} {two})", f"{pick.choice(UNARY)}({one})", f"POWER({one}, 2)",
             f"CASE WHEN {self._condition(0)} THEN {one} ELSE {two} END", f"COALESCE({one}, {two})", f"-({one})",
             f"LENGTH({self._words(0)})", f"CAST({self._words(0)} AS DOUBLE)", f"CAST({one} AS BIGINT)",
             "EXTRACT(year FROM day)", f"CLIP({one}, 0, 50)", f"LEAST({one}, {two})", f"CAST(day AS DOUBLE) + {one}")
        )  # fmt: skip

    def _words(self, depth: int) -> str:
        pick = self._random
        if depth == 0 or pick.random() < 0.6:
            return pick.choice(TEXTS) if pick.random() < 0.8 else pick.choice(CONSTANTS["text"])
        one, two = self._words(depth - 1), self._words(depth - 1)
        return pick.choice(
            (f"LOWER({one})", f"UPPER({one})", f"TRIM({one})", f"({one} || {two})", f"CONCAT({one}, {two})",
             f"SUBSTRING({one}, {pick.randint(-2, 5)}, {pick.randint(-1, 9)})", f"COALESCE({one}, {two})",
             f"CAST({self._number(0)} AS VARCHAR)", f"LEFT({one}, 2)")
        )  # fmt: skip

    def _condition(self, depth: int) -> str:
        pick = self._random
        if depth > 0 and pick.random() < 0.3:
            one, two = self._condition(depth - 1), self._condition(depth - 1)
            return pick.choice((f"({one} AND {two})", f"({one} OR {two})", f"NOT ({one})"))
        kind = pick.choice(tuple(KINDS))
        column, constant = pick.choice(KINDS[kind]), pick.choice(CONSTANTS[kind])
        return pick.choice(
            (f"{column} {pick.choice(('=', '<>', '<', '<=', '>', '>='))} {constant}", f"{column} IS NULL",
             f"{self._number(1)} > {self._number(1)}", f"{self._words(1)} LIKE {pick.choice(CONSTANTS['text'])}",
             f"{column} IN ({constant}, {pick.choice(CONSTANTS[kind])})", f"{column} BETWEEN {constant} AND {constant}",
             "rider IN (SELECT rider FROM rides WHERE paid)", "city IN (SELECT city FROM cities)", "paid")
        )  # fmt: skip
