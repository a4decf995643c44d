"""What PostgreSQL's columns are indeed: Ibis calls citext, enums and char(n) texts, and money a decimal.

Under citext 'Oslo' and 'OSLO' are one group, named by whichever row comes first; an enum raises when it is compared to
a word that it does not have; money has no cast to a float. So such texts are read as plain ones, and money not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .reading import reading_of

_AS_IBIS_HAS_THEM = frozenset(
    {
        *("bool", "int2", "int4", "int8", "oid", "float4", "float8", "numeric"),
        *("text", "varchar", "uuid", "date", "timestamp", "timestamptz"),
    }
)


def corrected(table: Any) -> tuple[Any, Mapping[str, str]]:
    """Return the table with plain texts, and the columns that must be hidden, with the reason. No row is read."""
    backend = table.get_backend()
    readable = [name for name, dtype in table.schema().items() if reading_of(dtype) is not None]
    if not readable:
        return table, {}
    with backend.con.cursor() as cursor:
        cursor.execute(backend.compile(table.select(readable).limit(0)))
        registered = backend.con.adapters.types
        stored = {each.name: getattr(registered.get(each.type_code), "name", "") for each in cursor.description}
    odd = {name: word for name, word in stored.items() if word not in _AS_IBIS_HAS_THEM}
    texts = {name: table[name].concat("") for name in odd if table[name].type().is_string()}
    hidden = {
        name: f"PostgreSQL has it as {word or 'a type of its own'}; offer a view of the table that casts it"
        for name, word in odd.items()
        if name not in texts
    }
    return (table.mutate(**texts) if texts else table), hidden
