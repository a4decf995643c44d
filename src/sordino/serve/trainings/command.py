"""``sordino train``: a recipe in a file, and words that change it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sordino.data.strict_yaml import parse
from sordino.errors import ArgumentError
from sordino.serve.kinds.kind import Command, Option

from .words import WORDS

_OPTIONS = tuple(Option(name, word.help) for name, word in WORDS.items() if word.typed and name != "dataset")
_RIVALS = (("epsilon", "rho", "noise"), ("epochs", "steps"))
"""Words of which one is said: typed, it takes the place of another one in the file."""


def command() -> Command:
    """Return the command that trains."""
    return Command(
        "train",
        "Train a model by a recipe: its price with --dry-run, else a job.",
        Option("recipe", "A file with the recipe, as YAML."),
        _OPTIONS,
        _request,
    )


def read_recipe(path: Path) -> dict[str, Any]:
    """Return the recipe in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ArgumentError(f"{path} cannot be read as UTF-8 text; check the path", "SRD-A004") from None
    found = parse(text, str(path))
    if not isinstance(found, dict):
        raise ArgumentError(f"{path} must hold a recipe: one word and its value on each line", "SRD-T202")
    return found


def _request(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe with the words that were typed in place of those in the file."""
    found = read_recipe(Path(typed["recipe"]))
    words = {name: value for name, value in typed.items() if name != "recipe"}
    for rivals in _RIVALS:
        if any(name in words for name in rivals):
            found = {name: value for name, value in found.items() if name not in rivals}
    return found | {name: _whole(value) if WORDS[name].form == "whole" else value for name, value in words.items()}


def _whole(text: str) -> Any:
    return int(text) if text.isascii() and text.isdigit() else text
