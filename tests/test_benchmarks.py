"""The rooms of the benchmarks: each is a file, and the help of `make` and the page of benchmarks name all of them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOUND = runpy.run_path(str(ROOT / "bench" / "rooms.py"))
NAMES = (*FOUND["ROOMS"], *FOUND["GROUPS"])


def test_every_room_is_a_file_and_every_file_with_cases_is_a_room() -> None:
    files = {path.stem for path in (ROOT / "bench").glob("*.py") if "\ndef cases()" in path.read_text()}
    assert files == set(FOUND["ROOMS"])


def test_the_help_and_the_page_name_every_room() -> None:
    (help_line,) = re.findall(r"^bench: .*", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(NAMES) <= set(re.split(r"[^a-z_0-9]+", help_line))
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert all(f"`{room}`" in page for room in FOUND["ROOMS"])
