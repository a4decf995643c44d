"""A saved publication, made again: with all verbs that it had when it was released, and no data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .recipes import again
from .released import read_saved


def load(folder: str | Path) -> Any:
    """Return the publication that `save(folder)` wrote; refuse files that are not what was published."""
    manifest, files = read_saved(folder)
    return again(manifest, files)
