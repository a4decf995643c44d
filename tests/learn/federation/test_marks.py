"""Marks of what a member has answered: one of many that enter a phase goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sordino.errors import RunError
from sordino.learn.federation.marks import Marks

SESSION = bytes(32)


def test_a_phase_of_a_session_is_entered_once(tmp_path: Path) -> None:
    Marks(tmp_path / "own").enter(SESSION, "confirmed")
    Marks(tmp_path / "own").enter(SESSION, "opened")
    Marks(tmp_path / "own").enter(b"\1" * 32, "confirmed")
    with pytest.raises(RunError, match="before"):
        Marks(tmp_path / "own").enter(SESSION, "confirmed")
    with pytest.raises(RunError, match="no phase"):
        Marks(tmp_path / "own").enter(SESSION, "../elsewhere")
    assert len(list((tmp_path / "own").iterdir())) == 3


def test_of_many_at_once_one_goes_on(tmp_path: Path) -> None:
    def enters(_: int) -> bool:
        try:
            Marks(tmp_path).enter(SESSION, "confirmed")
        except RunError:
            return False
        return True

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(enters, range(64))) == 1


def test_a_folder_that_is_made_for_marks_is_kept_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark is as durable as the way to it: every folder in which something new was made is written to the disk."""
    kept: list[Path] = []
    monkeypatch.setattr("sordino.learn.federation.marks._keep", kept.append)
    home = tmp_path / "study" / "marks"
    Marks(home).enter(bytes(32), "keys")
    assert set(kept) == {home, home.parent, tmp_path}
    kept.clear()
    Marks(home).enter(bytes(32), "shares")
    assert kept == [home]
