"""A report as one page of HTML: no script, no other file, no network; light or dark as the reader likes; prints well.

**Guarantee.** Every value is escaped where it is put into the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.accounting.units import significant
from sordino.errors import ArgumentError

from .pyramid import price_words

if TYPE_CHECKING:
    from .report import Report

MOST_SHOWN = 100
"""Releases on a page; all of them are in the JSON."""
_TEMPLATE = Path(__file__).with_name("report.html")
_SECTIONS = {
    "basic": "The data product",
    "dp_variant": "Variant of differential privacy",
    "privacy_loss": "Privacy loss",
    "deployment_model": "Deployment model",
    "accounting": "Accounting",
    "implementation": "Implementation",
    "administrative": "About this record",
}


def page(told: Report) -> str:
    """Return the whole page."""
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError:
        raise ArgumentError("a page needs an extra: pip install 'sordino[serve]'", "SRD-A005") from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "percent": percent,
        "price": price_words,
        "capital": lambda text: text[:1].upper() + text[1:],
        "label": lambda name: name.replace("_", " "),
        "tight": _tight,
    }
    content = told.content
    rows = list(reversed(content["releases"]))
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        told=content,
        note=told.note,
        title=_title(content),
        releases=rows[:MOST_SHOWN],
        more=max(0, len(rows) - MOST_SHOWN),
        bars=_bars(content),
        registry=_fields(content["registry"]["deployment"]),
        record=content["registry"],
    )


def percent(part: str | None) -> str:
    """Return a part of a budget as people read it, rounded up.

    >>> percent("0.1667"), percent("0"), percent(None)
    ('16.7 %', '0 %', '–')
    """
    if part is None:
        return "–"
    return f"{float(significant(100 * Fraction(part), 3, ROUND_CEILING)):.3g} %".replace(" ", "\u00a0")


def _title(content: Mapping[str, Any]) -> str:
    stated = content["stated"]["title"]
    name = content["subject"]["dataset"] if stated == "not stated" else stated
    return f"One release from {name}" if content["subject"]["kind"] == "release" else str(name)


def _bars(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one piece of the budget's bar for each release, the oldest first: where it begins, and how wide it is."""
    found, start = [], Fraction(0)
    for row in content["releases"]:
        width = Fraction(row["share"] or 0)
        if start < 1 and width:
            shown = min(width, 1 - start)
            found.append({"x": float(100 * start), "width": float(100 * shown), "row": row})
        start += width
    return found


def _fields(record: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the registry's record by section, each field as a text."""
    return [
        (title, [(each, _text(value)) for each, value in record[name].items()])
        for name, title in _SECTIONS.items()
        if name in record
    ]


def _text(value: Any) -> str:
    match value:
        case list():
            return ", ".join(map(str, value))
        case dict():
            return ", ".join(f"{name} = {each}" for name, each in value.items())
    return str(value)


def _tight(text: str) -> str:
    """Keep letters and their numbers on one line."""
    return text.replace(" = ", "\u00a0=\u00a0").replace("e-0", "e\u22120").replace("± ", "±\u00a0")
