"""Count what a question, a request and an audit pass through: files whose functions run, their folders, and forms.

A form is a class of ours of which at least one object is made on the way. Each way is gone once before, so that neither
imports nor what is remembered for the process count.

Usage: python scripts/count_the_way.py [TREE] (this one if none is named; an older one, to compare)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

QUESTION = "SELECT city, COUNT(*) AS rides, AVG(fare) AS fare FROM trips GROUP BY city"
WAYS = ("question", "request", "audit")
PATHS = ("/api/v1/query/run", "/api/v1/run")
"""Of the service now, and of trees before kinds had a path each."""


class Way:
    """What was passed, in order."""

    def __init__(self, source: Path) -> None:
        self.source = f"{source}{os.sep}"
        self.files: dict[str, str] = {}
        self.forms: dict[str, int] = {}
        self.counting = False

    def look(self, frame: FrameType, event: str, _: Any) -> None:
        """Take note of a call; for `sys.setprofile`."""
        if not self.counting or event != "call":
            return
        code = frame.f_code
        if code.co_filename.startswith(self.source) and code.co_name != "<module>":
            self.files.setdefault(code.co_filename.removeprefix(self.source), code.co_name)
        if code.co_name == "__init__" and "self" in frame.f_locals:
            kind = type(frame.f_locals["self"])
            if kind.__module__.startswith("sordino"):
                name = f"{kind.__module__}.{kind.__qualname__}"
                self.forms[name] = self.forms.get(name, 0) + 1


def ask() -> None:
    """Ask the question of the README, on a new ledger."""
    import pyarrow as pa

    import sordino as so

    table = pa.table({"rider": [1, 1, 2], "city": ["Oslo", "Rome", "Oslo"], "fare": [9.0, 5.0, 7.0]})
    columns = {"fare": so.bounds(0, 100), "city": so.keys(["Oslo", "Rome", "Bern"])}
    trips = so.dataset("trips", table, unit="rider", columns=columns, limits=so.limits(rows=5))
    with tempfile.TemporaryDirectory() as folder, so.open(f"{folder}/budget.db") as house:
        asked = house.account(trips, so.budget(epsilon=3, delta=1e-9)).sql(QUESTION)
        str(asked.price(epsilon=0.5))
        str(asked.run(epsilon=0.5))


def request() -> Callable[[], None]:
    """Return what sends one question to a service in this process."""
    from fastapi.testclient import TestClient

    from serve.places import OWNER, opened
    from serve.places import count as counting
    from sordino.serve.app import create_app

    service = opened(Path(tempfile.mkdtemp())).__enter__()
    token = service.issue_token(OWNER, "ann", "analyst", ["trips"])
    client = TestClient(create_app(service)).__enter__()
    headers = {"Authorization": f"Bearer {token}"}
    path = next(each for each in PATHS if client.post(each, json=counting(), headers=headers).status_code == 200)

    def send() -> None:
        client.post(path, json=counting(), headers=headers)

    return send


def audit() -> None:
    """Audit a mechanism of ours from the command line."""
    from sordino.__main__ import main

    sys.argv = ["sordino", "audit", "mechanism", "Laplace", "--with", "scale=1", "--epsilon", "1", "--draws", "20000"]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise


def count(tree: Path, which: str) -> None:
    """Go one way twice, and print what was passed the second time, as JSON."""
    sys.path[:0] = [str(tree / "src"), str(tree / "tests")]
    way = Way(tree / "src" / "sordino")
    threading.setprofile(way.look)
    go = {"question": lambda: ask, "request": request, "audit": lambda: audit}[which]()
    go()
    way.counting = True
    sys.setprofile(way.look)
    go()
    sys.setprofile(None)
    way.counting = False
    folders = {os.path.dirname(each) or "." for each in way.files}
    counted = {"files": len(way.files), "folders": len(folders), "forms": len(way.forms)}
    sys.stderr.write(json.dumps({"way": which, **counted, "names": [*way.files], "made": way.forms}) + "\n")
    sys.stderr.flush()
    os._exit(0)  # threads of the service need no good-bye


def main() -> None:
    """Count all ways, each in a process of its own."""
    tree = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    if len(sys.argv) > 2:
        count(tree, sys.argv[2])
    for which in WAYS:
        words = [sys.executable, __file__, str(tree), which]
        ran = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603
        found = json.loads(ran.stderr.splitlines()[-1])
        names = " ".join(found["names"])
        sys.stdout.write(
            f"{which}: {found['files']} files in {found['folders']} folders, {found['forms']} forms\n  {names}\n"
        )


if __name__ == "__main__":
    main()
