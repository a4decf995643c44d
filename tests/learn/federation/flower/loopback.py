"""SuperLink and SuperNodes as processes on loopback, started here and stopped here by their ids."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HERE = Path(__file__).parent
QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1"}


class Network:
    """One SuperLink, SuperNodes by number, and runs of the app, each in a process group of its own."""

    def __init__(self, python: Path, folder: Path, source: Path, nodes: int) -> None:
        self._bin = python.parent
        self._folder = folder
        self._ports = free_ports(1 + nodes)
        home = folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "{self._address}"\ninsecure = true\n'
        )
        self._environment = (
            os.environ
            | QUIET
            | {
                "FLWR_HOME": str(home),
                "PYTHONPATH": str(source),
                "SORDINO_TEST_STUDY": str(folder),
                "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            }
        )
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        """Start a program of Flower's in a process group of its own, with a log in the folder."""
        with open(self._folder / f"{name}.log", "wb") as log:
            self._running[name] = subprocess.Popen(  # noqa: S603
                [str(self._bin / command[0]), *command[1:]],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                cwd=self._folder,
                start_new_session=True,
            )
        return self._running[name]

    def begin(self) -> None:
        """Start the SuperLink and all SuperNodes."""
        unsafe = ("--insecure", "--port")
        self.start(
            "link", "flower-superlink", "--disable-runtime-dependency-installation", *unsafe, str(self._ports[0])
        )
        assert wait_until(lambda: "Uvicorn running" in self.log("link"), 60), self.log("link")
        for number, port in enumerate(self._ports[1:]):
            place = ("--superlink", self._address, "--node-config", f"hospital={number}")
            self.start(f"node-{number}", "flower-supernode", *unsafe, str(port), *place)

    def run(self) -> subprocess.Popen[bytes]:
        """Submit the app, and stream what it logs."""
        return self.start("run", "flwr", "run", str(HERE / "app"), "here", "--stream")

    def log(self, name: str) -> str:
        """Return what a program has said."""
        return (self._folder / f"{name}.log").read_text(errors="replace")

    @property
    def _address(self) -> str:
        return f"127.0.0.1:{self._ports[0]}"

    def kill(self, name: str) -> None:
        """Kill a program and all that it started."""
        process = self._running.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)

    def close(self) -> None:
        """Kill all that runs."""
        for name in list(self._running):
            self.kill(name)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def wait_until(true: Callable[[], bool], seconds: float) -> bool:
    """Return whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.3)
    return True


@contextmanager
def network(python: Path, folder: Path, source: Path, nodes: int) -> Iterator[Network]:
    """Give a network that is gone afterwards."""
    found = Network(python, folder, source, nodes)
    try:
        yield found
    finally:
        found.close()
