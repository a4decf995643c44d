"""The auditor's side: draws come from a peer's own process, the search and the verdict are `audit.measure`'s."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from sordino.accounting.events import Concentrated
from sordino.audit import Claim, Subject, accountant, measure
from sordino.audit.accountants.elsewhere import dp_accounting

sys.path.insert(0, str(Path(__file__).parent.parent))
from peers import HERE, Worker, interpreter

Found = tuple[float, int, dict[str, Any]]


def versions() -> dict[str, str]:
    return {"sordino": version("sordino")}


class Peer(Worker):
    """A peer's process, in its own environment, that draws for an audit."""

    def __init__(self, name: str) -> None:
        self._process = subprocess.Popen(
            [interpreter(name), str(HERE / "worker.py"), f"sides.with_audit_peers_{name}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )


def audit(peer: str, subject: dict[str, Any], pairs: list[Any], draws: int) -> Found:
    """Measure one subject of a peer on neighbouring inputs; the claim is the peer's own."""
    started = perf_counter()
    with Peer(peer) as worker:
        told = worker.ask("describe", {"subject": subject})
        claimed = told["values"]
        told_version = {name: number for name, number in told["versions"].items() if name != "python"}
        if "refused" in claimed:
            return perf_counter() - started, 1, {"refused": claimed["refused"], "of": told_version}

        def release(value: str, n: int) -> Any:
            return worker.ask("draw", {"subject": subject, "value": json.loads(value), "draws": n})["values"]["outputs"]

        inputs = [(json.dumps(first), json.dumps(second)) for first, second in pairs]
        found = measure(Subject(subject["kind"], release, tuple(inputs)), _claim(claimed), draws=draws)
    return perf_counter() - started, max(found.draws, 1), _values(found, claimed) | {"of": told_version}


def _claim(claimed: dict[str, float]) -> Claim:
    if "rho" in claimed:
        return Claim.of(Concentrated(claimed["rho"]))
    return Claim.approximate(claimed["epsilon"], claimed.get("delta", 0))


def _values(found: Any, claimed: dict[str, float]) -> dict[str, Any]:
    return {
        "claimed": claimed,
        "epsilon": found.epsilon,
        "delta": found.delta,
        "promised": found.claim.epsilon_at(found.delta),
        "refuted": found.refuted,
        "draws": found.draws,
        "draws_to_refute": found.draws_to_refute,
        "witness": str(found.witness)[:1000],
    }


def audit_accountant(calculus: str, rounds: int) -> Found:
    """Try events on an accountant of dp_accounting."""
    import logging

    logging.getLogger("absl").setLevel(logging.ERROR)
    started = perf_counter()
    found = accountant(dp_accounting(calculus), rounds=rounds, seed=1)
    values = {
        "refuted": found.refuted,
        "draws": found.prices,
        "broken": [str(each) for each in found.broken],
        "of": {"dp-accounting": version("dp-accounting")},
    }
    return perf_counter() - started, max(found.prices, 1), values
