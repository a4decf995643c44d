"""The documentation is tested: nothing public is missing from it, nothing in it is stale, and every example runs.

How an example is written, in the README and in every page:

    ```python     is run; the blocks of one page share one namespace and one empty working directory
    ```text       directly after it is what it prints; an ellipsis (…) stands for anything
    ```console    `$ sordino …` is run, and the lines below it, if any, are what it prints
    <!-- not run: reason -->   before a block that cannot run here
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import importlib.util
import inspect
import io
import re
import shlex
import sys
import textwrap
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mkdocs.commands.build
import mkdocs.config
import pytest
import typer
from mkdocs.exceptions import PluginError

import sordino
from sordino.__main__ import app, main
from sordino.accounting.event import EVENT_TYPES
from sordino.query.words import WORDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
ROOMS = ("noise", "accounting", "mechanisms")
CALCULI = ("accountants", "calibration", "composition", "gaussian", "group", "pld", "pure", "renyi", "zcdp", "account")
ASKING = ("query", "dataframe")
CLASSES = {
    "Ask": "ask",
    "FrameAsk": "ask",
    "TableAccount": "ask",
    "Frame": "frame.frame",
    "Grouped": "frame.frame",
    "Answer": "answer.answer",
    "Price": "plan.price",
}
INNER = {"compute", "over", "filtered", "steps", "cells", "confidence_text"}
"""Members of these classes that are for the room itself."""
CODE = re.compile(r"SRD-[A-Z]\d{3}")


def script(name: str) -> Any:
    """Return one of the scripts of the repository, as a module."""
    specification = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


draw_pictures = script("draw_pictures")


# ---- reading pages --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    language: str
    text: str
    line: int
    reason: str | None
    """Why it is not run, if it is not."""
    follows: bool
    """Nothing but blank lines lie between the block before and this one."""


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = text.splitlines()
    at, between = 0, ["start of page"]
    while at < len(lines):
        opening = re.match(r"( *)```(\w*)", lines[at])
        if not opening:
            between.append(lines[at])
            at += 1
            continue
        end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == "```")
        said = [line.strip() for line in between if line.strip()]
        marker = re.fullmatch(r"<!-- not run: (.+) -->", said[-1]) if said else None
        body = textwrap.dedent("\n".join(lines[at + 1 : end])) + "\n"
        found.append(Block(opening[2], body, at + 2, marker[1] if marker else None, follows=not said))
        at, between = end + 1, []
    return found


def matches(expected: str, actual: str) -> bool:
    """Whether `actual` is what `expected` says, with … for anything; blanks at line ends do not count."""
    pattern = ".*?".join(re.escape(part) for part in _tidy(expected).split("…"))
    return re.fullmatch(pattern, _tidy(actual), flags=re.DOTALL) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


# ---- running pages --------------------------------------------------------------------------------------------------


def run_page(name: str, text: str) -> None:
    """Run every example of a page, in order; raise if one fails or prints something else than the page says."""
    page = types.ModuleType("page")
    sys.modules["page"] = page  # dataclasses look their module up
    printed: str | None = None
    for block in blocks(text):
        where = f"{name}:{block.line}"
        if block.reason:
            printed = None
        elif block.language == "python":
            printed = _run_python(block, where, vars(page))
        elif block.language == "console":
            _run_console(block, where)
        elif block.language == "text" and block.follows and printed is not None:
            assert matches(block.text, printed), f"{where} says\n{block.text}\nbut this was printed:\n{printed}"


def _run_python(block: Block, where: str, namespace: dict[str, Any]) -> str:
    output = io.StringIO()
    # Blank lines put in front make the line numbers of a traceback those of the page.
    code = compile("\n" * (block.line - 1) + block.text, where, "exec")
    with contextlib.redirect_stdout(output):
        exec(code, namespace)  # noqa: S102 - the examples are ours
    return output.getvalue()


def _run_console(block: Block, where: str) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        # A command may go on in the next line after a backslash.
        command, _, expected = re.sub(r"\\\n\s*", "", part).partition("\n")
        program, *words = shlex.split(command, comments=True)
        if program == "make":
            verbs = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
            assert not words or words[0] in verbs, f"{where}: the Makefile has no verb {words[0]!r}"
            continue
        assert program == "sordino", f"{where}: cannot run {program!r}; mark the block <!-- not run: reason -->"
        status, output = run_sordino(words)
        if expected.strip():
            assert matches(expected, output), f"{where}: {command} printed\n{output}"
        else:
            assert status == 0, f"{where}: {command} printed\n{output}"


def run_sordino(words: list[str]) -> tuple[int, str]:
    """Run the command line as its reader does; return the exit code and all that is printed, refusals included."""
    output = io.StringIO()
    arguments, sys.argv = sys.argv, ["sordino", *words]
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            main()
    except SystemExit as end:
        return int(end.code or 0), output.getvalue()
    finally:
        sys.argv = arguments
    return 0, output.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = page.read_text()
    run_page(str(page.relative_to(ROOT)), text)
    for name in draw_pictures.shown(text):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


def test_every_picture_is_saved_by_a_page_that_shows_it() -> None:
    texts = [page.read_text() for page in PAGES]
    named = {name for text in texts for name in re.findall(r"images/([\w-]+\.png)", text)}
    drawn = [name for text in texts for name in draw_pictures.shown(text)]
    assert len(drawn) == len(set(drawn))  # or pages would replace each other's
    assert {path.name for path in (DOCS / "images").iterdir()} == named == set(drawn)


def test_pictures_are_drawn_once_and_again_when_their_page_changes(tmp_path: Path) -> None:
    code = "import pathlib\npathlib.Path('a.png').write_text('drawn')\n# savefig(\"a.png\")"
    unrun = "<!-- not run: it fails -->\n```python\n1 / 0\n```\n"
    page = f"{unrun}```python\n{code}\n```\n![a](../images/a.png) ![b](../images/b.png)\n"
    assert draw_pictures.shown(page) == {"a.png"}
    folder = draw_pictures.drawn(page, tmp_path / "kept")
    assert (folder / "a.png").read_text() == "drawn"
    (folder / "a.png").write_text("kept")
    assert draw_pictures.drawn(f"{page}More words.\n", tmp_path / "kept") == folder
    assert (folder / "a.png").read_text() == "kept"
    assert draw_pictures.drawn(page.replace("'drawn'", "'anew'"), tmp_path / "kept") != folder
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        draw_pictures.drawn("```python\n1 / 0\n```\n", tmp_path / "kept")


@pytest.mark.parametrize(
    "page",
    [
        "```python\nraise RuntimeError\n```",
        "```python\nprint(1)\n```\n```text\n2\n```",
        "```console\n$ sordino no-such-verb\n```",
        "```console\n$ sordino --help\nNot what it prints\n```",
        "```console\n$ make no-such-verb\n```",
        "```console\n$ rm -rf everything\n```",
    ],
)
def test_a_broken_example_is_caught(page: str) -> None:
    with pytest.raises((AssertionError, RuntimeError)):
        run_page("page", page)


def test_blocks_are_read_as_written() -> None:
    page = "a\n```python\nx = 1\n```\n\n```text\n1\n```\n<!-- not run: it waits -->\n```console\n$ sordino\n```\n"
    first, second, third = blocks(page)
    assert (first.language, first.text, first.line, first.follows) == ("python", "x = 1\n", 3, False)
    assert (second.language, second.follows) == ("text", True)
    assert (third.reason, third.follows) == ("it waits", False)
    assert matches("a …\nz", "a b c   \nz\n")
    assert not matches("a …\nz", "a b c\ny")


# ---- nothing is missing, nothing is stale ---------------------------------------------------------------------------


def headings(text: str) -> set[str]:
    """Return the names that a reference page describes: the code spans that open a heading or a table row."""
    return set(re.findall(r"^(?:#+|\|) `([^`(]+)[^`]*`", text, flags=re.MULTILINE))


def read(name: str) -> str:
    return (DOCS / name).read_text()


def codes_in_source() -> set[str]:
    return {code for file in (ROOT / "src").rglob("*.py") for code in CODE.findall(file.read_text())}


def test_every_event_type_is_described_and_no_other() -> None:
    assert headings(read("reference/events.md")) == set(EVENT_TYPES)


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_every_field_of_an_event_is_described(kind: str) -> None:
    _, _, section = read("reference/events.md").partition(f"### `{kind}`")
    signature, _, words = section.partition("\n#")[0].partition(")`.")
    names = [field.name for field in dataclasses.fields(EVENT_TYPES[kind])]
    assert re.findall(r"(?<=[(,])\s*(\w+)", signature) == names
    assert not [name for name in names if f"`{name}`" not in words]


def test_every_error_code_is_described_and_no_other() -> None:
    assert headings(read("reference/errors.md")) == codes_in_source()


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_described(room: str) -> None:
    public = set(importlib.import_module(f"sordino.{room}").__all__)
    assert public
    assert not public - headings(read(f"reference/{room}.md"))


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_that_is_described_exists(room: str) -> None:
    for name in headings(read(f"reference/{room}.md")):
        *module, attribute = name.split(".")
        assert hasattr(importlib.import_module(".".join(["sordino", room, *module])), attribute), name


def test_every_name_of_the_front_door_is_described() -> None:
    pages = [read(f"reference/{page}.md") for page in (*ROOMS, *ASKING)]
    described = {name.rpartition(".")[2] for page in pages for name in headings(page)}
    rooms = {name for name in sordino.__all__ if isinstance(getattr(sordino, name), types.ModuleType)}
    missing = set(sordino.__all__) - rooms - described
    assert not missing


@pytest.mark.parametrize("page", ASKING)
def test_every_word_of_asking_that_is_described_exists(page: str) -> None:
    for name in headings(read(f"reference/{page}.md")) - words_of_asking():
        owner, _, member = name.rpartition(".")
        known = members(owner) if owner else set(sordino.__all__)
        assert member in known, name


def test_every_public_member_of_an_answer_and_of_asking_is_described() -> None:
    described = {name for page in ASKING for name in headings(read(f"reference/{page}.md"))}
    for owner in CLASSES:
        defined = {name for name in vars(class_of(owner)) if not name.startswith("_")}
        assert not {name for name in defined - INNER if f"{owner}.{name}" not in described}, owner
    assert words_of_asking() <= described


def class_of(name: str) -> Any:
    return getattr(importlib.import_module(f"sordino.query.{CLASSES[name]}"), name)


def members(owner: str) -> set[str]:
    """Return what can be read off an instance of a class: methods, fields, and what ``__init__`` sets."""
    thing = class_of(owner)
    stored = {
        name
        for each in thing.__mro__[:-1]
        for name in re.findall(r"self\.(\w+)(?:: [^=\n]+)? =", inspect.getsource(each))
    }
    return {*dir(thing), *getattr(thing, "__dataclass_fields__", ()), *stored}


def words_of_asking() -> set[str]:
    """Return the words that `price` and `run` take."""
    return set(WORDS)


@pytest.mark.parametrize("module", CALCULI)
def test_every_function_of_a_calculus_is_described(module: str) -> None:
    described = headings(read("reference/accounting.md"))
    assert not {name for name in public_names(f"sordino.accounting.{module}") if f"{module}.{name}" not in described}


def public_names(module: str) -> set[str]:
    """Return what a module defines, or re-exports by its ``__all__``, for others to use."""
    here = importlib.import_module(module)
    defined = {name for name, thing in vars(here).items() if getattr(thing, "__module__", None) == module}
    return set(getattr(here, "__all__", {name for name in defined if not name.startswith("_")}))


def test_every_command_and_option_is_described() -> None:
    page = read("reference/cli.md")
    group = typer.main.get_command(app)
    commands: dict[str, Any] = group.commands  # type: ignore[attr-defined]
    assert headings(page) >= {f"sordino {name}" for name in commands}
    options = {option for command in commands.values() for item in command.params for option in item.opts}
    assert not {option for option in options if option.startswith("--") and f"`{option}" not in page}


def test_a_missing_entry_is_caught() -> None:
    page = "# Events\n## `laplace`\nText about `gaussian` in passing.\n| `pure(epsilon)` | anything |\n"
    assert headings(page) == {"laplace", "pure"}
    assert CODE.findall("[SRD-A001] and SRD-X9") == ["SRD-A001"]


# ---- the site as a whole --------------------------------------------------------------------------------------------


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    # Pictures are those of the repository here: they are drawn where the examples are run.
    config = mkdocs.config.load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path / "site"), strict=True, hooks=[])
    mkdocs.commands.build.build(config)
    for page in DOCS.rglob("*.md"):
        built = tmp_path / "site" / page.relative_to(DOCS).with_suffix("")
        assert (built.parent if page.stem == "index" else built).joinpath("index.html").exists()
    for html in (tmp_path / "site").rglob("*.html"):
        text = html.read_text()
        # A reader's browser asks nobody else: no fonts, scripts or pictures from elsewhere.
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://[^"]+"', text), html
        assert not re.findall(r"\]\([\w/-]+\.md", text), f"{html}: a link was not turned into one"


def test_every_page_is_in_the_navigation() -> None:
    config = mkdocs.config.load_config(str(ROOT / "mkdocs.yml"))

    def pages(entry: Any) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        parts = entry.values() if isinstance(entry, dict) else entry
        return [page for part in parts for page in pages(part)]

    assert sorted(pages(config["nav"])) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_every_file_on_the_walk_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)`", read("explanation/a-walk-through-the-house.md"))
    assert len(named) > 30
    for name in named:
        assert (ROOT / "src" / "sordino" / name).exists() or (ROOT / name).exists(), name


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"])
def test_links_from_the_front_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", (ROOT / name).read_text()):
        assert (ROOT / target).exists(), f"{name} links to {target}"
