"""What to declare about a data set, proposed from names and types of columns, and from nothing else.

**Guarantee**: what is proposed was not read from values: bounds, keys and limits are for the owner to fill in, from
what is known without the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sordino.data.dataset import Dataset
from sordino.data.strict_yaml import parse, write

from .asking.premises import Premises

_HEAD = """\
# What is publicly known about {name}. Names and types of columns were looked at, and nothing else.
"""
_HINT = """\
# Fill in what you know from elsewhere than the data, take the leading '# ' away, and {then}
# What is left out is found privately when it is needed, for a part of the price.
# limits: {{rows: most}}  # how many rows of one {unit} count
"""
_CSV_HINT = """\
# Columns of these files are text until kind says otherwise: {kind: real, bounds: [low, high]}
"""
_WORDS = {
    "boolean": "{}",
    "integer": "{bounds: [low, high]}",
    "real": "{bounds: [low, high]}",
    "text": "{keys: [first, second]}",
    "date": "{keys: [2026-01-01, 2026-01-02]}",
    "timestamp": "{}",
}


def proposal(house: Premises, name: str, source: str, unit: str, then: str) -> str:
    """Return declarations to begin with for a source that this service may serve; `then` says what to do with them."""
    wanted = house.declared(yaml_lines({"name": name, "unit": unit, "source": source}))
    found: Dataset = house.open_declared(wanted).protected  # type: ignore[assignment]  # no sort is named: tables
    return proposed(found, source_text(found, Path(house.settings.data)), then)


def proposed(found: Dataset, source: str, then: str) -> str:
    """Return declarations to begin with for a data set that is open."""
    table = found.schema.tables[found.name]
    lines = [
        _HEAD.format(name=found.name),
        yaml_lines({"name": found.name, "unit": found.unit.name, "source": source}),
        _HINT.format(then=then, unit=found.unit.name),
        _CSV_HINT if source.lower().removesuffix(".gz").endswith((".csv", ".tsv")) else "",
        "# columns:\n",
    ]
    for name, column in table.columns.items():
        if name != found.unit.name:
            lines.append(f"#   {_spelt(name)}: {_WORDS[column.kind.value]}  # {column.kind.value}\n")
    lines += [f"# {name!r} cannot be asked about: {why}\n" for name, why in table.hidden.items()]
    return "".join(lines)


def source_text(found: Dataset, data: Path) -> str:
    """Return the source as declarations hold it: files relative to the directory of data, URLs without a password."""
    source, directory = str(parse(found.to_yaml(), "the declarations")["source"]), data.resolve()
    return str(Path(source).relative_to(directory)) if Path(source).is_relative_to(directory) else source


def yaml_lines(said: Mapping[str, str]) -> str:
    """Return names and texts as lines of YAML."""
    return "".join(f"{name}: {_spelt(text)}\n" for name, text in said.items())


def _spelt(text: str) -> str:
    """Return a text as YAML spells it, in quotes where it needs them."""
    return write([text]).strip().removeprefix("[").removesuffix("]")
