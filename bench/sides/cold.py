"""How long a side takes from nothing: a new interpreter, imports, one answer, the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).parent.parent


def whole_process(program: str) -> tuple[float, int, dict[str, Any]]:
    """Time ``python -c program``, with bytecode kept, as it is of whatever is installed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True, cwd=HERE, stdout=subprocess.DEVNULL, env=environment)
    return perf_counter() - started, 1, {}


def whole_visits(module: str, arguments: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
    """Time a process in which a side does the visits task once."""
    return whole_process(f"from {module} import visits; visits(repetitions=1, **{arguments!r})")
