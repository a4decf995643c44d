"""An answer as comma-separated values, from the columns that its JSON has: for spreadsheets and other programs.

Every noisy column is followed by the low and the high ends of its intervals. Numbers have all their digits, dates are
written as ISO 8601 has them, what is missing is empty, and lists are written as JSON.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def csv_text(columns: Sequence[Mapping[str, Any]]) -> str:
    """Return columns (``name``, ``values``, and ``low`` and ``high`` where there is noise) as lines of CSV.

    >>> csv_text([{"name": "rides", "values": [7.0], "low": [5.0], "high": [9.0]}])
    'rides,rides_low,rides_high\\n7.0,5.0,9.0\\n'
    """
    named = list(_named(columns))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in named])
    writer.writerows(zip(*([_cell(value) for value in values] for _, values in named), strict=True))
    return out.getvalue()


def unused(name: str, taken: set[str]) -> str:
    """Return a name that no other column has, and take it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _named(columns: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Sequence[Any]]]:
    taken = {column["name"] for column in columns}
    for column in columns:
        yield column["name"], column["values"]
        for end in ("low", "high"):
            if end in column:
                yield unused(f"{column['name']}_{end}", taken), column[end]


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value
