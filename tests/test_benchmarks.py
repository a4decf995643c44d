"""The benches hang together: every room is on the list, and what it calls is there. Nothing is measured here."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "bench"


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def names_in(module: ast.Module, wanted: str) -> ast.expr:
    """Return what a name of a module is set to."""
    for statement in module.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id == wanted and statement.value is not None:
                    return statement.value
    raise KeyError(wanted)


def texts(expression: ast.expr) -> set[str]:
    return {
        each.value for each in ast.walk(expression) if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def functions(path: Path) -> set[str]:
    return {each.name for each in tree(path).body if isinstance(each, ast.FunctionDef)}


FOUND = runpy.run_path(str(BENCH / "rooms.py"))
ROOMS = FOUND["ROOMS"]
SIDES = {path.stem.removeprefix("with_"): path for path in (BENCH / "sides").glob("with_*.py")}


def called(room: str) -> list[tuple[str, str]]:
    """Return the sides and functions that a room's cases call, as far as they are written out."""
    module = tree(BENCH / f"{room}.py")
    constants: dict[str, str] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                pairs = (
                    zip(target.elts, statement.value.elts, strict=True)
                    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple)
                    else [(target, statement.value)]
                )
                for one, value in pairs:
                    if isinstance(one, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                        constants[one.id] = value.value
    found = []
    for each in ast.walk(module):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "Call":
            said = [
                constants.get(one.id) if isinstance(one, ast.Name) else getattr(one, "value", None)
                for one in each.args[:2]
            ]
            if all(isinstance(one, str) for one in said):
                found.append((str(said[0]), str(said[1])))
    return found


def test_every_room_is_on_the_list() -> None:
    assert {path.stem for path in BENCH.glob("*.py") if "cases" in functions(path)} == set(ROOMS)


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_what_a_room_calls_is_there_and_has_an_environment(room: str) -> None:
    peers = tree(BENCH / "peers.py")
    known = set().union(*(texts(names_in(peers, name)) for name in ("OWN_ENVIRONMENT", "ENVIRONMENT_OF")))
    known |= {str(key.value) for key in names_in(peers, "REQUIREMENTS").keys if isinstance(key, ast.Constant)}  # type: ignore[attr-defined]
    for side, function in called(room):
        assert side in SIDES
        assert side in known
        assert function in functions(SIDES[side])


@pytest.mark.parametrize("path", sorted((BENCH / "sides").glob("*.py")), ids=lambda path: path.stem)
def test_sides_find_each_other(path: Path) -> None:
    """A side runs with bench/ as its first folder: what lies beside it is met as ``from . import`` or ``sides.``."""
    beside = {each.stem for each in (BENCH / "sides").glob("*.py")} - {each.stem for each in BENCH.glob("*.py")}
    for each in ast.walk(tree(path)):
        if isinstance(each, ast.Import):
            assert not beside & {name.name for name in each.names}
        if isinstance(each, ast.ImportFrom) and not each.level:
            assert each.module not in beside


def test_the_help_and_the_page_name_every_room() -> None:
    (help_line,) = re.findall(r"^bench: .*", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {*ROOMS, *FOUND["GROUPS"]} <= set(re.split(r"[^a-z_0-9]+", help_line))
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert all(f"`{room}`" in page for room in ROOMS)
