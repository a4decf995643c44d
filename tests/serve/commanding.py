"""Calling the command line in tests: by words, in a directory of one's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from serve.places import write_trips
from sordino.serve import cli

COUNT = "SELECT COUNT(*) AS rides FROM trips"
DECLARED = """
name: trips
unit: rider
source: trips.parquet
limits: {rows: 5}
columns:
  fare: {bounds: [0, 100]}
  city: {keys: [Oslo, Rome, Bern]}
"""


class Commands:
    """The command line in one directory."""

    def __init__(self, directory: Path, patch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self._patch = patch

    def __call__(self, *words: Any, code: int = 0, answer: str | None = None) -> str:
        result = CliRunner().invoke(cli.app, [str(word) for word in words], input=answer, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.stdout

    def json(self, *words: Any, code: int = 0) -> Any:
        return json.loads(self(*words, "--json", code=code))

    def refused(self, capsys: pytest.CaptureFixture[str], *words: Any, code: int = 2) -> str:
        """Return what is said of a call that must be refused."""
        self._patch.setattr(sys, "argv", ["sordino", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        assert end.value.code == code
        return " ".join(capsys.readouterr().err.split())

    def begin(self, epsilon: str = "3") -> None:
        """Begin with trips, all declared."""
        self("init", "trips.parquet", "--unit", "rider", "--epsilon", epsilon, "--yes")
        (self.directory / "trips.yaml").write_text(DECLARED)
        self("declare", "trips.yaml")


def commands_in(directory: Path, patch: pytest.MonkeyPatch) -> Commands:
    write_trips(directory)
    patch.chdir(directory)
    for name in ("SORDINO_URL", "SORDINO_TOKEN", "SORDINO_DATABASE"):
        patch.delenv(name, raising=False)
    patch.setenv("COLUMNS", "200")
    return Commands(directory, patch)
