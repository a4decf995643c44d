"""Flower's environment: it pins others down, so it has one of its own, made on first use."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

import servers

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def flower_environment() -> Path:
    """Return the Python of Flower's environment; of several workers one makes it, and the others wait."""
    home = REPOSITORY / ".venvs" / "flower"
    home.parent.mkdir(exist_ok=True)
    stamp = home / ".installed-federation"
    with open(home.parent / "flower.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            make = [str(REPOSITORY / "scripts" / "make-environment"), sys.executable, str(home), "federation"]
            subprocess.run(make, check=True, cwd=REPOSITORY)  # noqa: S603
            stamp.touch()
    return home / "bin" / "python"


@pytest.fixture
def flower_python(flower_environment: Path) -> Path:
    """Return the Python that Flower runs in."""
    servers.needs("flower")
    return flower_environment
