"""What is in deploy/ can be read, and speaks of settings that there are."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from serve.commanding import commands_in
from serve.places import settings_at
from sordino.serve import cli, running
from sordino.serve.service import Service
from sordino.serve.settings import PREFIX, Settings
from sordino.serve.watching import TOKEN

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NAMES = {each.name for each in fields(Settings)}


def test_the_example_of_settings_is_one_for_production() -> None:
    found = Settings.load(DEPLOY / "sordino.yaml", {})
    assert found.production
    commented = re.findall(r"^# (\w+): ", (DEPLOY / "sordino.yaml").read_text(), re.MULTILINE)
    assert len(commented) > 2
    assert set(commented) <= NAMES


def _services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    volumes = {each.split(":")[0] for one in found["services"].values() for each in one["volumes"] if each[0].isalpha()}
    assert volumes == found["volumes"].keys()
    services: dict[str, Any] = found["services"]
    return services


def test_replicas_share_what_they_must_and_differ_in_their_names() -> None:
    replicas = {name: each for name, each in _services().items() if name.startswith("sordino-")}
    assert len(replicas) == 2
    loaded = []
    for name, each in replicas.items():
        assert each["read_only"] is True
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
        environ = {word: text.replace("${SITE:?the name of this service}", "a.example") for word, text in
                   each["environment"].items()}  # fmt: skip
        assert {word.removeprefix(PREFIX).lower() for word in environ} <= NAMES
        assert environ["SORDINO_INSTANCE"] == name
        loaded.append(Settings.load(DEPLOY / "sordino.yaml", environ).with_changes(instance="same"))
        assert f"{name}:8000" in (DEPLOY / "Caddyfile").read_text()
    assert loaded[0] == loaded[1]
    assert loaded[0].production
    assert loaded[0].database.startswith("postgresql://")


def test_the_image_does_not_run_as_root() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER sordino"]
    assert [line for line in lines if line.startswith("CMD")] == ['CMD ["serve", "--directory", "/etc/sordino"]']
    copied = [part for line in lines if line.startswith("COPY") and "--from" not in line for part in line.split()[1:-1]]
    allowed = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"}
    assert set(copied) == allowed
    assert all((ROOT / name).exists() for name in copied)


def test_the_unit_is_hardened() -> None:
    text = (DEPLOY / "sordino.service").read_text()
    settings = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    assert settings["User"] == "sordino"
    assert settings["ExecStart"].endswith("sordino serve --directory /etc/sordino")
    for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "RestrictNamespaces"):
        assert settings[name] == "yes"
    assert (settings["ProtectSystem"], settings["CapabilityBoundingSet"], settings["LimitCORE"]) == ("strict", "", "0")
    analyze = shutil.which("systemd-analyze")
    if analyze is not None:
        ran = subprocess.run([analyze, "verify", str(DEPLOY / "sordino.service")], capture_output=True, text=True)  # noqa: S603
        assert "Unknown" not in ran.stderr
        assert "Failed to parse" not in ran.stderr


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "run-a-service.md").read_text()
    assert not [name for name in NAMES if f"`{name}`" not in page]
    assert TOKEN in page


def test_whoever_starts_the_service_may_have_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = commands_in(tmp_path, monkeypatch)
    run.begin()
    monkeypatch.setattr(running, "serve", lambda _: None)
    result = CliRunner().invoke(cli.app, ["serve", "--owner-token"], catch_exceptions=False)
    (token,) = re.findall(r"sordino_[\w-]+", result.output)
    with Service.open(settings_at(tmp_path)) as service:
        assert service.identities.of_token(token).role == "owner"
    assert "sordino_" not in CliRunner().invoke(cli.app, ["serve"], catch_exceptions=False).output


def test_make_knows_how_to_serve() -> None:
    text = (ROOT / "Makefile").read_text()
    assert "sordino serve --directory" in text
    assert re.search(r"^\.PHONY:.* serve ", text, re.MULTILINE)
