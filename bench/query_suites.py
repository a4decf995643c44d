"""How much of the SQL that others wrote is understood: ``python bench/query_suites.py FOLDER``.

The folder is the user's own, and no suite is part of this project. Each of its sub-folders is one suite: a file
``tables.yaml`` that says which columns the tables have and whose they are, and files ``*.sql`` of questions, each ended
by a semicolon. Nothing is run: a question counts as answered if it is planned.

```yaml
unit: customer
tables:
  shop.orders: {unit: customer, rows: 10, columns: {customer: integer, city: text, price: [real, 0, 100]}}
  cities: {columns: {city: text}}
```
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

import sordino as so
from sordino.errors import SordinoError
from sordino.query.plan.planner import Wishes
from sordino.query.plan.spend import Spend
from sordino.query.plan.whole import plan_whole
from sordino.query.sql.parse import parse

TYPES = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "real": pa.float64(),
    "text": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
UNKNOWN = ("SRD-Q101", "SRD-Q103")
"""Refused because it could not be read, or names something that is not known: perhaps there is an answer."""


def schema_of(suite: Path) -> Any:
    """Return the schema that a suite asks about, over tables without rows."""
    said = yaml.safe_load((suite / "tables.yaml").read_text())
    unit = so.ROW if said.get("unit", "row") == "row" else said["unit"]
    tables = {name: _table(one, by_row=unit is so.ROW) for name, one in said["tables"].items()}
    return so.dataset(suite.name.replace("-", "_"), tables, unit=unit).schema


def _table(said: dict[str, Any], *, by_row: bool) -> Any:
    kinds = {name: one[0] if isinstance(one, list) else one for name, one in said["columns"].items()}
    rows = pa.table({name: pa.array([], TYPES[kind]) for name, kind in kinds.items()})
    ends = {name: so.bounds(*one[1:]) for name, one in said["columns"].items() if isinstance(one, list)}
    if said.get("unit") is None and said.get("parent") is None and not (by_row and said.get("private")):
        return so.public(rows, columns=ends)
    limits = None if by_row else so.limits(rows=said.get("rows", 10))
    return so.private(rows, unit=said.get("unit"), parent=said.get("parent"), columns=ends, limits=limits)


def outcome(text: str, schema: Any) -> tuple[str, str]:
    """Return what becomes of a question, and what is said about it."""
    try:
        plan_whole(parse(text, schema), Spend(Fraction(1), keys_delta=Fraction(1, 10**6)), Wishes())
    except SordinoError as refusal:
        code = str(refusal.code)
        return ("could have an answer" if code in UNKNOWN else "refused for a stated reason"), str(refusal)
    except Exception as error:  # the one thing that must never happen
        return "crashed", f"{type(error).__name__}: {error}"
    return "answered", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="print every question that was not answered, and why")
    asked = parser.parse_args()
    counted: Counter[str] = Counter()
    for suite in sorted(each.parent for each in asked.folder.glob("*/tables.yaml")):
        schema, here = schema_of(suite), Counter[str]()
        texts = [text.strip() for file in sorted(suite.glob("*.sql")) for text in file.read_text().split(";")]
        for text in filter(None, texts):
            kind, why = outcome(text, schema)
            here[kind] += 1
            if asked.show and kind != "answered":
                print(f"{suite.name}: {kind}: {why}\n    {' '.join(text.split())[:200]}")
        counted += here
        print(f"{suite.name}: {', '.join(f'{count} {kind}' for kind, count in sorted(here.items()))}")
    able = counted["answered"] + counted["refused for a stated reason"]
    total = sum(counted.values())
    print(f"all: {able} of {total} answered or refused for a stated reason, {counted['crashed']} crashed")
    return 1 if counted["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main())
