"""``sordino publish``: a recipe in a file, and words that change what it spends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError
from sordino.serve.kinds.kind import Command, Option

_RIVALS = ("epsilon", "rho", "error")
"""Words of which one is said: typed, it takes the place of another one in the file."""


def command() -> Command:
    """Return the command that publishes."""
    return Command(
        "publish",
        "Publish by a recipe (tables, hierarchies, maps, graphs, …): its price with --dry-run, else a job.",
        Option("recipe", "A file with the recipe, its parameters and what to spend, as YAML."),
        (
            Option("epsilon", "What to spend: ε of the whole publication."),
            Option("rho", "What to spend: ρ of the whole publication."),
            Option("delta", "The δ that goes with ε."),
            Option("project", "Charged to this project as well."),
        ),
        _request,
    )


def _request(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the file says, with the words that were typed in place of its own."""
    path = Path(typed["recipe"])
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"{path} cannot be read as UTF-8 text; check the path", "SRD-A004") from None
    found = parse(text, str(path))
    if not isinstance(found, dict):
        raise ArgumentError(f"{path} must hold a recipe: one word and its value on each line", "SRD-P008")
    words = {name: value for name, value in typed.items() if name != "recipe"}
    if any(name in words for name in _RIVALS):
        found = {name: value for name, value in found.items() if name not in _RIVALS}
    return found | words
