"""The sides: one environment and one process each, speaking JSON over pipes, a line a question, a line an answer."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path
from types import TracebackType
from typing import Any

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".venvs"

REQUIREMENTS: dict[str, list[str]] = {
    "numpy": ["numpy"],
    "opendp": ["opendp[polars]==0.16.*", "numpy"],
    "dp_accounting": ["dp-accounting"],
    "smartnoise": ["smartnoise-sql==1.0.*"],
    "tumult": ["tmlt.analytics==0.21.*"],
    "pipelinedp": ["pipeline-dp==0.3.*"],
    "diffprivlib": ["diffprivlib==0.6.*", "scikit-learn<1.9"],
    "diffprivlib_models": ["diffprivlib==0.6.*", "scikit-learn<1.8"],  # its logistic regression wants multi_class
    "interpret": ["interpret-core==0.7.*"],
    "pure_ldp": ["pure-ldp==1.*", "scikit-learn", "statsmodels"],
    "multi_freq_ldpy": ["multi-freq-ldpy==0.2.*"],
    "opacus": ["torch==2.13.0", "opacus==1.*"],
    "mbi": ["mbi==2.0.*"],
}
"""What each peer's environment holds."""

OWN_ENVIRONMENT = (
    "audit_peers",
    "classifier_test",
    "dp_sniper",
    "hockey_stick",
    "sordino",
    "sordino_accuracy",
    "sordino_audit",
    "sordino_collect",
    "sordino_collect_alerts",
    "sordino_words",
    "sordino_estimators",
    "sordino_federation",
    "sordino_genomes",
    "sordino_hidden",
    "sordino_graphs",
    "sordino_hierarchy",
    "sordino_query",
    "sordino_serve",
    "sordino_ledger",
    "sordino_prices",
    "sordino_prio3",
    "sordino_intake",
    "sordino_kept",
    "sordino_learn",
    "sordino_shuffle",
    "sordino_mobility",
    "sordino_streams",
    "sordino_numbers",
    "sordino_tables",
    "sordino_teachers",
    "sordino_training",
    "sordino_workloads",
    "workload_peers",
    "bare_commits",
    "torch_plain",
    "duckdb",
)
"""The sides that run in the environment that runs the benchmark; the plain engine is the one that sordino uses."""


ENVIRONMENT_OF = {"opacus_learn": "opacus"}
"""The sides that share an environment of another name."""


def interpreter(side: str) -> str:
    """Return the Python of a side's environment, made on first use."""
    if side in OWN_ENVIRONMENT:
        return sys.executable
    name = ENVIRONMENT_OF.get(side, side)
    home = ENVIRONMENTS / name
    python, stamp, wanted = home / "bin" / "python", home / ".installed", " ".join(REQUIREMENTS[name])
    if not stamp.exists() or stamp.read_text() != wanted:
        venv.create(home, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS[name]]
        subprocess.run(command, check=True)
        stamp.write_text(wanted)
    return str(python)


class Worker:
    """A process that runs one side's functions and times them inside, so that pipes are not measured."""

    def __init__(self, side: str) -> None:
        self._process = subprocess.Popen(
            [interpreter(side), str(HERE / "worker.py"), f"sides.with_{side}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, function: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the side's `function` measured."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"function": function, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{function} failed; its traceback is above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process by closing its questions."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
