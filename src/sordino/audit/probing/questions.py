"""Questions about whatever a service lists: a grammar over its public schema, seeded.

Most can be answered; some provoke what must not happen: rows that fail in a cast or a division, keys that few people
have, columns without bounds, words that do not exist. A service may refuse any of them, as long as it refuses the same
without one person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sordino.audit.dice import Dice
from sordino.errors import ArgumentError

T = TypeVar("T")

_NUMBERS = ("integer", "real")
_MOST_KEYS = 20
_MOST_SUMS = 4


@dataclass(frozen=True)
class Probe:
    """A question, and what may be random about its answer."""

    sql: str
    keys: tuple[str, ...] = ()
    """Columns of the answer that are keys of groups."""
    public: bool = True
    """Whether the same rows come back in the same order, always; else which of them is a matter of noise."""

    def asked(self, dataset: str, epsilon: str) -> dict[str, Any]:
        """Return it as a service takes it."""
        return {"dataset": dataset, "sql": self.sql, "epsilon": epsilon}


class Columns:
    """The columns of one table, by what can be done with them."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = str(table["name"])
        owner = table.get("owned", {}).get("column")
        self.unit = None if owner is None else str(owner)
        columns = [each for each in table["columns"] if each["name"] != owner]
        self.bounded = [each for each in columns if each["kind"] in _NUMBERS and each.get("bounds")]
        self.unbounded = [each["name"] for each in columns if each["kind"] in _NUMBERS and not each.get("bounds")]
        keyed = [each for each in columns if 0 < each.get("keys_in_all", 0) <= _MOST_KEYS]
        self.public = [each["name"] for each in keyed]
        self.private = [each["name"] for each in columns if each["kind"] == "text" and not each.get("keys")]
        self.texts = [each["name"] for each in columns if each["kind"] == "text"]
        self.keys = {each["name"]: each["keys"] for each in keyed if each["kind"] == "text"}


class Grammar:
    """Draws questions about a data set, as the service describes it."""

    def __init__(self, dataset: Mapping[str, Any], dice: Dice) -> None:
        people = [each for each in dataset.get("tables", ()) if each.get("owned", {}).get("by") != "nobody"]
        if not people:
            raise ArgumentError("the data set lists no table about people, so there is nothing to ask", "SRD-V041")
        self.tables = [Columns(each) for each in people]
        self._dice = dice

    def first(self) -> list[Probe]:
        """Return one question of every kind, for the first table: these are always asked."""
        at = self.tables[0]
        grouped = [_grouped(at, "COUNT(*) AS n", name, public=True) for name in at.public[:1]]
        private = [_grouped(at, "COUNT(*) AS n", name, public=False) for name in at.private[:1]]
        sums = [Probe(f"SELECT SUM({each['name']}) AS a FROM {at.table}") for each in at.bounded[:_MOST_SUMS]]  # noqa: S608
        return [self.count(), *grouped, *private, *sums, *self._provoking(at)]

    def count(self) -> Probe:
        """Return the simplest question there is."""
        return Probe(f"SELECT COUNT(*) AS n FROM {self.tables[0].table}")  # noqa: S608  (a service under audit reads it)

    def next(self) -> Probe:
        """Return the next question."""
        at = self._one(self.tables)
        draw = self._dice.random()
        if draw < 0.25:
            return self._plain(at)
        if draw < 0.5 and at.public:
            return _grouped(at, self._measures(at), self._one(at.public), self._where(at), public=True)
        if draw < 0.65 and at.private:
            return _grouped(at, self._measures(at), self._one(at.private), self._where(at), public=False)
        if draw < 0.75:
            return self._one(self._shaped(at))
        provoking = self._provoking(at)
        if draw < 0.95 and provoking:
            return self._one(provoking)
        return self._misspelt(at)

    def _plain(self, at: Columns) -> Probe:
        return Probe(f"SELECT {self._measures(at)} FROM {at.table}{self._where(at)}")  # noqa: S608

    def _shaped(self, at: Columns) -> list[Probe]:
        """Return questions in which noisy values decide which rows come back, or people are counted one by one."""
        found = [Probe(f"SELECT COUNT(*) AS n FROM {at.table} LIMIT 1")]  # noqa: S608
        for key in at.public:
            grouped = f"SELECT {key}, COUNT(*) AS n FROM {at.table} GROUP BY {key}"  # noqa: S608
            found.append(Probe(f"{grouped} HAVING COUNT(*) > {int(self._dice.integers(1, 500))}", (key,), False))
            found.append(Probe(f"{grouped} ORDER BY n DESC LIMIT 1", (key,), False))
        if at.unit is not None:
            each = f"SELECT {at.unit}, COUNT(*) AS k FROM {at.table} GROUP BY {at.unit}"  # noqa: S608
            found.append(Probe(f"SELECT COUNT(*) AS n FROM ({each}) q WHERE k > {int(self._dice.integers(1, 9))}"))  # noqa: S608
            found.append(Probe(each, (at.unit,), False))
        return found

    def _measures(self, at: Columns) -> str:
        choices = ["COUNT(*)"]
        if at.bounded:
            name = self._one(at.bounded)["name"]
            choices += [f"SUM({name})", f"AVG({name})", f"MEDIAN({name})", f"VARIANCE({name})", f"MAX({name})"]
        if at.unit is not None:
            choices.append(f"COUNT(DISTINCT {at.unit})")
        count = 1 + int(self._dice.integers(2))
        return ", ".join(f"{self._one(choices)} AS a{place}" for place in range(count))

    def _where(self, at: Columns) -> str:
        conditions = [f"{name} IS NOT NULL" for name in at.texts]
        for each in at.bounded:
            low, high = each["bounds"]
            conditions.append(f"{each['name']} > {low + (high - low) * round(float(self._dice.random()), 2):g}")
        for name, keys in at.keys.items():
            conditions.append(f"{name} = '{str(self._one(keys)).replace(chr(39), chr(39) * 2)}'")
        return f" WHERE {self._one(conditions)}" if conditions and self._dice.random() < 0.5 else ""

    def _provoking(self, at: Columns) -> list[Probe]:
        """Return questions in which a row of data could fail, or could say what it holds: one of every kind."""
        numbers = [each["name"] for each in at.bounded] + at.unbounded
        found = []
        if numbers:
            name = self._one(numbers)
            found += [
                f"SUM(CLIP(1 / ({name} - {self._place(at, name)}), 0, 10))",
                f"SUM(CLIP(LN({self._one(numbers)}), 0, 10))",
                f"SUM(CLIP(CAST({self._one(numbers)} AS BIGINT) * 4611686018427387904, 0, 10))",
            ]
        if at.unbounded:
            found.append(f"SUM({self._one(at.unbounded)})")
        asked = [f"SELECT {value} AS a FROM {at.table}" for value in found]  # noqa: S608
        if at.texts:
            name = (at.private or at.texts)[-1]
            asked += [
                f"SELECT SUM(CLIP(CAST({name} AS DOUBLE), 0, 10)) AS a FROM {at.table}",  # noqa: S608
                f"SELECT COUNT(*) AS a FROM {at.table} WHERE CAST({name} AS INTEGER) > 0",  # noqa: S608
                f"SELECT MAX({name}) AS a FROM {at.table}",  # noqa: S608
            ]
        return [Probe(sql) for sql in asked]

    def _place(self, at: Columns, name: str) -> str:
        low, high = next((each["bounds"] for each in at.bounded if each["name"] == name), (0, 10))
        return f"{low + (high - low) * round(float(self._dice.random()), 1):g}"

    def _misspelt(self, at: Columns) -> Probe:
        return self._one(
            [
                Probe(f"SELECT SUM(no_such_column) AS a FROM {at.table}"),  # noqa: S608
                Probe(f"SELECT COUNT(*) AS a FROM no_{at.table}"),  # noqa: S608
                Probe(f"SELEC COUNT(*) FROM {at.table}"),
                Probe(f"SELECT NO_SUCH({at.table}) AS a FROM {at.table}"),  # noqa: S608
            ]
        )

    def _one(self, choices: Sequence[T]) -> T:
        return choices[int(self._dice.integers(len(choices)))]


def _grouped(at: Columns, measures: str, key: str, where: str = "", *, public: bool) -> Probe:
    return Probe(f"SELECT {key}, {measures} FROM {at.table}{where} GROUP BY {key}", (key,), public)  # noqa: S608
