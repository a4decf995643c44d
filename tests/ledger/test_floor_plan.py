"""The floor plan in the room's docstring is the room: every file is on it, and imports go down."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from sordino import ledger

ROOM = Path(ledger.__file__).parent
FILES = sorted(path for path in ROOM.glob("*.py") if path.stem != "__init__")


def floors() -> dict[str, int]:
    """Return the floor of each file, counted from the ground up."""
    plan = (ledger.__doc__ or "").partition("from the ground up")[2].partition("The way of a charge")[0]
    told = re.split(r"^\*\w+\*", plan, flags=re.MULTILINE)[1:]
    return {name: floor for floor, names in enumerate(told) for name in re.findall(r"``(\w+)``", names)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_on_the_plan_and_imports_from_its_own_floor_or_below(path: Path) -> None:
    plan = floors()
    assert path.stem in plan, "add the file to the floor plan in sordino/ledger/__init__.py"
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for name in [node.module] if node.module else [alias.name for alias in node.names]:
                assert plan[name.partition(".")[0]] <= plan[path.stem], f"{path.stem} reaches up to {name}"


def test_nothing_else_is_on_the_plan() -> None:
    rooms = {path.stem for path in FILES} | {path.name for path in ROOM.iterdir() if path.is_dir()}
    assert set(floors()) <= rooms
