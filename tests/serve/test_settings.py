"""Settings: from a file and the environment, and what production refuses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from sordino.serve.refusals import SettingsError
from sordino.serve.settings import Settings

PRODUCTION: dict[str, Any] = {"production": True, "witness": "/elsewhere/w", "url": "https://privacy.example.org"}


def test_the_environment_is_stronger_than_the_file(tmp_path: Path) -> None:
    file = tmp_path / "sordino.yaml"
    file.write_text("port: 9000\nslot_seconds: 2\nurl: https://a.example\n")
    environ = {"SORDINO_PORT": "9001", "SORDINO_PUBLIC_TRANSPARENCY": "true", "SORDINO_INSTANCE": "10", "OTHER": "x"}
    found = Settings.load(file, environ)
    assert (found.port, found.slot_seconds, found.public_transparency, found.instance) == (9001, 2, True, "10")
    assert found.secure_cookies
    assert Settings.load(file, {}).with_changes(port=1).port == 1


def test_a_file_here_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings.load(environ={}).port == 8000
    (tmp_path / "sordino.yaml").write_text("port: 9000\n")
    assert Settings.load(environ={}).port == 9000
    (tmp_path / "sordino.yaml").write_text("# nothing yet\n")
    assert Settings.load(environ={}).port == 8000


@pytest.mark.parametrize(
    "text",
    ["port: many", "port: true", "prot: 1", "database: ''", "debug: 1", "- 1", "port: 1\nport: 2", "workers: 0", "{"],
)
def test_settings_that_are_off(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(SettingsError) as refused:
        Settings.load(tmp_path / "s.yaml", {})
    assert refused.value.code == "SRD-S010"
    with pytest.raises(SettingsError):
        Settings.load(tmp_path / "missing.yaml", {})


def test_what_goes_together() -> None:
    for words in (
        {"witness": "http://w.example"},
        {"oidc_issuer": "https://i"},
        {"oidc_issuer": "https://i", "oidc_client": "c"},
    ):
        with pytest.raises(SettingsError):
            Settings(**words)


def test_production_starts_with_nothing_that_weakens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings(**PRODUCTION).production
    for change in ({"debug": True}, {"witness": None}, {"url": None}, {"url": "http://privacy.example.org"}):
        with pytest.raises(SettingsError) as refused:
            Settings(**{**PRODUCTION, **change})
        assert refused.value.code == "SRD-S011"
    monkeypatch.setitem(os.environ, "PYTHONASYNCIODEBUG", "1")
    with pytest.raises(SettingsError, match="development"):
        Settings(**PRODUCTION)


@pytest.mark.parametrize("witness", ["budget.witness", "budget.db.witness", "../here/w", "link/w"])
def test_production_has_no_witness_beside_the_ledger(tmp_path: Path, witness: str) -> None:
    here = tmp_path / "here"
    here.mkdir()
    (here / "link").symlink_to(here)
    database = str(here / "budget.db")
    with pytest.raises(SettingsError, match="own directory") as refused:
        Settings(**PRODUCTION | {"database": database, "witness": str(here / witness)})
    assert refused.value.code == "SRD-S011"
    assert Settings(**PRODUCTION | {"database": database, "witness": str(tmp_path / "w")}).production
    assert Settings(**PRODUCTION | {"database": "postgresql://host/ledger", "witness": "w"}).production
    assert Settings(database=database, witness=str(here / witness)).witness


def test_files_lie_beside_the_database() -> None:
    assert Settings(database="/var/lib/x/budget.db").beside == Path("/var/lib/x")
    assert Settings(database="postgresql://h/d", data="/srv").beside == Path("/srv")
