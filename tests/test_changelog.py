"""Fragments become lines of the changelog, and are what they must be."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
FRAGMENTS = sorted(path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md")


def script() -> ModuleType:
    specification = importlib.util.spec_from_file_location("collect", ROOT / "scripts" / "collect_changelog.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("# How\n")
    (tmp_path / "changelog.d" / "b.md").write_text("- Second.\n  And on.\n")
    (tmp_path / "changelog.d" / "a.md").write_text("- First.\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.2.0\n\n- Here.\n\n## 0.1.0\n\n- Old.\n")
    return tmp_path


def test_fragments_go_under_the_heading_of_their_version(place: Path) -> None:
    assert script().collect(place, "0.2.0") == 2
    assert (place / "CHANGELOG.md").read_text() == (
        "# Changelog\n\n## 0.2.0\n\n- Here.\n- First.\n- Second.\n  And on.\n\n## 0.1.0\n\n- Old.\n"
    )
    assert [path.name for path in (place / "changelog.d").iterdir()] == ["README.md"]
    assert script().collect(place, "0.2.0") == 0


@pytest.mark.parametrize(("version", "begins"), [("0.1.0", 1), ("0.3.0", 0)])
def test_the_last_section_and_a_new_one(place: Path, version: str, begins: int) -> None:
    script().collect(place, version)
    text = (place / "CHANGELOG.md").read_text()
    sections = text.split("\n## ")[1:]
    assert "- First.\n- Second.\n  And on." in sections[begins]
    assert sections[begins].startswith(version)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_what_is_no_list_is_refused_and_nothing_is_moved(place: Path) -> None:
    (place / "changelog.d" / "c.md").write_text("Prose.\n")
    with pytest.raises(SystemExit, match=r"c\.md"):
        script().collect(place, "0.2.0")
    with pytest.raises(SystemExit, match="which version"):
        script().with_changes("", "", ["- x"])
    assert (place / "changelog.d" / "a.md").exists()


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_every_fragment_is_a_list(path: Path) -> None:
    assert script().lines_of(path)
