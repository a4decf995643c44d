"""What a page shows of a release, or of a data set, that only its kind or its sort knows: a template and its values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_MOST_FACTS = 20
_LONGEST_FACT = 200
_LONGEST_SHOWN = 20_000


@dataclass(frozen=True)
class Page:
    """A template of the dashboard, and what it needs."""

    values: Mapping[str, Any] = field(default_factory=dict)
    template: str = "plain.html"


def plain_page(body: Any) -> Page:
    """Return what can be shown whatever it is: its numbers and short texts, and all of it as JSON."""
    pairs = body.items() if isinstance(body, Mapping) else ()
    short = [(str(name)[:60], value) for name, value in pairs if isinstance(value, str | int | float)]
    text = json.dumps(body, ensure_ascii=False, indent=2)[:_LONGEST_SHOWN]
    return Page({"facts": [(name, str(value)[:_LONGEST_FACT]) for name, value in short][:_MOST_FACTS], "text": text})


def page_of(show: Any, body: Any) -> Page:
    """Return what a page shows by `show`: plainly if there is none, or if it does not know this body."""
    try:
        return (show or plain_page)(body)
    except (LookupError, TypeError, ValueError, AttributeError):  # released by another version of the kind
        return plain_page(body)
