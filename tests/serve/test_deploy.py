"""What is in deploy/ can be read, and speaks of settings that there are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from serve.browsers import served
from serve.commanding import commands_in
from serve.places import settings_at
from sordino.serve import cli, running
from sordino.serve.service import Service
from sordino.serve.settings import PREFIX, Settings
from sordino.serve.witness.watching import TOKEN

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
        assert each["stop_grace_period"] == "2m"
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
    copied = _copied()
    allowed = {line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"}
    assert set(copied) == allowed
    assert all((ROOT / name).exists() for name in copied)


def _copied() -> list[str]:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    return [part for line in lines if line.startswith("COPY") and "--from" not in line for part in line.split()[1:-1]]


def test_the_image_has_all_that_the_package_is_made_of() -> None:
    copied = [ROOT / name for name in _copied()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for name in (project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml"):
        assert ROOT / name in copied
    links = [path for path in (ROOT / "src").rglob("*") if path.is_symlink()]
    assert links  # the page of errors
    for link in links:
        assert any(link.resolve().is_relative_to(each) for each in copied), f"{link} leads out of the image"
    (extras,) = re.findall(r'"/source\[([\w,]+)\]"', (DEPLOY / "Dockerfile").read_text())
    assert set(extras.split(",")) == {"serve", "postgres"}
    assert set(extras.split(",")) <= project["project"]["optional-dependencies"].keys()
    given = project["tool"]["setuptools"]["package-data"]["sordino"]
    found = {path for pattern in given for path in (ROOT / "src" / "sordino").glob(pattern)}
    files = [path for path in (ROOT / "src" / "sordino").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    inside = {each for path in found for each in ([path] if path.is_file() else path.rglob("*"))}
    assert not [path for path in files if path.suffix != ".py" and path not in inside]


def _environment(directory: Path) -> dict[str, str]:
    """Return what compose tells a replica, with a file in place of the server, and folders of ours for the volumes."""
    replica = _services()["sordino-1"]
    given: dict[str, str] = dict(replica["environment"]) | {"SORDINO_URL": "https://a.example"}
    given["SORDINO_DATABASE"] = given["SORDINO_KEY"].replace(".key", ".db")
    volumes = [re.findall(r":(/[\w/]+)", each)[0] for each in replica["volumes"]]
    for volume in volumes:
        here = directory / volume.rpartition("/")[2]
        here.mkdir()
        given = {name: text.replace(volume, str(here)) for name, text in given.items()}
    assert len(volumes) == 3
    return given


@pytest.mark.service
def test_what_compose_says_to_type_lets_an_owner_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in _environment(tmp_path).items():
        monkeypatch.setenv(name, text)
    (tmp_path / "etc").mkdir()  # nothing is in it: all that is set is in the environment
    (typed,) = re.findall(r"exec sordino-1 sordino (.+)", (DEPLOY / "compose.yaml").read_text())
    arguments = typed.replace("/etc/sordino", str(tmp_path / "etc")).split()
    result = CliRunner().invoke(cli.app, arguments, catch_exceptions=False)
    (token,) = re.findall(r"sordino_[\w-]+", result.output)
    (command,) = re.findall(r"^CMD (\[.+\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    started: list[Settings] = []
    monkeypatch.setattr(running, "serve", started.append)
    begun = [word.replace("/etc/sordino", str(tmp_path / "etc")) for word in json.loads(command)]
    CliRunner().invoke(cli.app, begun, catch_exceptions=False)
    with Service.open(started[0]) as service, served(service) as address:
        assert service.identities.of_token(token).role == "owner"
        (check,) = re.findall(r'CMD \["python", "-c", "(.+)"\]', (DEPLOY / "Dockerfile").read_text())
        checking = [sys.executable, "-c", check.replace("http://127.0.0.1:8000", address)]
        assert subprocess.run(checking, timeout=60).returncode == 0  # noqa: S603


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
