"""The house rules that no other tool checks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sordino
from sordino.version import VERSION

ROOT = Path(__file__).parent.parent
SOURCE = sorted((ROOT / "src" / "sordino").rglob("*.py"))
OURS = ("src", "tests", "bench", "docs", "scripts", "changelog.d", ".github")
TEXTS = sorted(
    path
    for path in [
        *(p for folder in OURS for p in (ROOT / folder).rglob("*")),
        *(p for p in ROOT.iterdir() if p.name != "LICENSE" and not p.name.startswith(".")),
    ]
    if path.is_file()
    and path.suffix in {".py", ".md", ".toml", ".yml", ".css", ".html", ""}
    and not {"out", "__pycache__", ".git"} & set(path.parts)
)

CROWDED_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}
LONGEST_FILE = 400
LONG_FUNCTION = 50
"""Lines that fit on a screen."""


def loaded_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after `statement`."""
    program = f"import sys; {statement}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    return set(ran.stdout.split())


def test_the_front_door_is_light() -> None:
    # Half a second is the limit; what would break it is a heavy module, so that is what is looked for.
    loaded = loaded_by("import sordino")
    assert "sordino" in loaded
    assert not loaded & {"scipy", "matplotlib", "torch", "typer", "rich", "pandas", "cryptography"}


def test_the_check_of_the_front_door_can_fail() -> None:
    assert "scipy" in loaded_by("import scipy")


def test_every_file_that_is_no_module_is_shipped() -> None:
    """Templates, scripts, vectors: what the package reads beside its modules is named in package-data."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["sordino"]
    house = ROOT / "src" / "sordino"
    shipped = {path for pattern in patterns for path in house.glob(pattern)}
    shipped |= {path for folder in shipped if folder.is_dir() for path in folder.rglob("*")}
    others = {path for path in house.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert others
    assert not others - shipped


def layers_of(container: str) -> list[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = [c for c in settings["tool"]["importlinter"]["contracts"] if c.get("containers") == [container]]
    assert contract["type"] == "layers"
    assert contract["exhaustive"] is True
    layers: list[str] = contract["layers"]
    return layers


@pytest.mark.parametrize("container", ["sordino", "sordino.query", "sordino.serve"])
def test_the_layer_contracts_cover_every_room(container: str) -> None:
    named = {room.strip(" ()") for layer in layers_of(container) for room in re.split("[|:]", layer)}
    house = ROOT.joinpath("src", *container.split("."))
    rooms = {path.stem for path in house.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__"} <= named


def test_noise_and_accounting_do_not_know_each_other() -> None:
    assert [layer for layer in layers_of("sordino") if "accounting" in layer or "noise" in layer] == [
        "noise | accounting"
    ]


def test_entropy_is_touched_in_one_room_only() -> None:
    for path in SOURCE:
        if path.parent.name == "noise":
            continue
        imported = {
            name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in ([a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        }
        assert not imported & {"random", "secrets", "numpy.random", "cryptography"}, path
        # Signatures, agreements and masks draw nothing: their keys come from `noise`. HPKE draws each key of a seal,
        # as it must not be given one; no law of noise rests on it.
        own = ("ledger/keys.py", "federation/keys.py", "federation/masks.py", "collect/sealing.py")
        signs = f"{path.parent.name}/{path.name}" in own
        assert signs or not any(name.startswith("cryptography.") for name in imported), path
        assert "urandom" not in path.read_text(), path


@pytest.mark.parametrize("path", SOURCE, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_stay_small_and_say_what_they_are(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST_FILE
    assert ast.get_docstring(ast.parse(text)), "every module says what it is"
    assert len(path.relative_to(ROOT / "src" / "sordino").parts) <= 3, "two folders deep"


def lengths(text: str) -> list[int]:
    """Return how many lines each function has, without its docstring."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, said = node.body[0], ast.get_docstring(node) is not None
            docstring = (first.end_lineno or 0) - first.lineno + 1 if said else 0
            found.append((node.end_lineno or 0) - node.lineno + 1 - docstring)
    return found


def test_functions_fit_on_a_screen() -> None:
    found = [length for path in SOURCE for length in lengths(path.read_text())]
    assert sum(length > LONG_FUNCTION for length in found) < 0.03 * len(found)


def test_lengths_are_of_the_code() -> None:
    assert lengths('def one():\n    """Say\n\n    much."""\n    return 1\n\n\nasync def two(): ...\n') == [2, 1]


SAME_AS = {
    "scikit-learn": "sklearn",
    "pyyaml": "yaml",
    "ibis-framework": "ibis",
    "python-multipart": "multipart",
    "pycryptodome": "Crypto",
}
COMES_ALONG = {"fastapi": {"starlette", "pydantic"}}
"""What a library promises to bring, and speaks of in its own interface."""
IF_THERE = {"pandas", "polars", "dp_accounting"}
"""Handed to or compared with, where somebody has them."""


def imported(path: Path) -> set[str]:
    """Return the top names of all that a file imports from elsewhere."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"sordino"}


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    optional = [
        each
        for extra in ("collect", "estimators", "federation", "learn", "postgres", "spark", "plot", "serve")
        for each in extras[extra]
    ]
    names = {re.split(r"[\[<>= ]", each)[0].lower() for each in [*project["dependencies"], *optional]}
    known = {SAME_AS.get(name, name.replace("-", "_")) for name in names} | IF_THERE
    known |= {each for name in names for each in COMES_ALONG.get(name, ())}
    assert {name for path in SOURCE for name in imported(path)} <= known


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_loose_ends(path: Path) -> None:
    assert path.stem not in CROWDED_NAMES, "name the file after its one idea"
    assert not loose_ends(path.read_text())


# A letter in brackets matches itself, so that this file does not find its own list.
LOOSE_ENDS = re.compile(
    r"\bTO[D]O\b|\bFIX[M]E\b|\bX[X]X\b|\bNotImplemented[E]rror\b"
    r"|(?<![\w.])/(?:work|root|home|opt|tmp|mnt|srv)[/]\w|file[:]///|\bpypi[.]|--index[-]url"
)


def loose_ends(text: str) -> list[str]:
    """Return the words in `text` that promise something for later or speak of somebody's machine."""
    return LOOSE_ENDS.findall(text)


@pytest.mark.parametrize(
    "parts",
    [("# TO", "DO: later"), ("see /wo", "rk/place"), ("raise NotImplemented", "Error"), ("https://py", "pi.org")],
)
def test_loose_ends_are_found(parts: tuple[str, str]) -> None:
    assert loose_ends("".join(parts))


def test_plain_text_has_no_loose_ends() -> None:
    assert not loose_ends(
        "what is to be done stands in the changelog; and/or/work/life are words; src/work/x is a path"
    )


def test_version_is_said_once() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "sordino.version.VERSION"}
    assert sordino.__version__ == VERSION
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_an_uninstalled_tree_knows_its_version(tmp_path: Path) -> None:
    # No site packages: what was installed cannot be asked, and what writes receipts and reports must not need to.
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "sordino").symlink_to(ROOT / "src" / "sordino")
    program = "import sordino; print(sordino.__version__)"
    words = [sys.executable, "-S", "-c", program]
    ran = subprocess.run(words, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(tree)})  # noqa: S603
    assert ran.stdout.strip() == VERSION


def test_no_room_asks_what_is_installed() -> None:
    asks = re.compile(r"importlib\.metadata import .*\bversion\b|metadata\.version\(")
    assert not [path for path in SOURCE if asks.search(path.read_text())]
