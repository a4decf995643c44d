"""Run the benchmarks: ``python bench/run.py --room noise``. Exit code 1 if a bar is not kept."""

from __future__ import annotations

import argparse
import importlib
import sys

from rich.console import Console

import report
from measure import run

ROOMS = (
    "noise",
    "accounting",
    "mechanisms",
    "query",
    "query_error",
    "ledger",
    "serve",
    "audit",
    "audit_hidden",
    "audit_training",
    "audit_peers",
    "learn",
    "learn_estimators",
    "learn_federation",
    "learn_accuracy",
    "learn_teachers",
    "collect_local",
    "collect_kept",
    "collect_spark",
    "collect_words",
    "collect_numbers",
    "collect_shuffle",
    "collect_prio3",
    "collect_streams",
    "collect_alerts",
    "collect_intake",
    "publish_mobility",
    "publish_tables",
    "publish_workloads",
    "publish_graphs",
    "publish_genomes",
    "publish_hierarchy",
)

GROUPS = {"all": ROOMS} | {
    whole: tuple(room for room in ROOMS if room.startswith(f"{whole}_")) for whole in ("collect", "publish")
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--room", choices=[*ROOMS, *GROUPS], default="all")
    parser.add_argument("--repeats", type=int, help="repeats of every case (default: what the case says)")
    parser.add_argument("--write-docs", action="store_true", help="only write docs/benchmarks.md from the last runs")
    asked = parser.parse_args()
    if asked.write_docs:
        report.write_page()
        return 0
    console = Console(width=None if sys.stdout.isatty() else 160)
    passed = [_run_room(room, asked.repeats, console) for room in GROUPS.get(asked.room, (asked.room,))]
    return 0 if all(passed) else 1


def _run_room(room: str, repeats: int | None, console: Console) -> bool:
    cases = importlib.import_module(room)
    rows = []
    try:
        with console.status(room) as status:
            planned = cases.cases()
            if not planned:
                console.print(f"{room}: skipped, {cases.MISSING}")
                return True
            for row in run(planned, repeats):
                rows.append(row)
                status.update(f"{room}: {len(rows)} of {len(planned)} cases measured")
    finally:
        getattr(cases, "tidy", lambda: None)()
    records = report.lines(room, rows, getattr(cases, "GROUPS", {}))
    report.save(room, records)
    report.show(console, room, records)
    return all(record["passed"] for record in records)


if __name__ == "__main__":
    sys.exit(main())
