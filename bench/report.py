"""What a run leaves behind: a table on the terminal, JSON lines in ``bench/out/``, and from those a page of docs."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from measure import Row, duration, geometric_mean
from rooms import ROOMS

OUT = Path(__file__).parent / "out"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"

INTRODUCTION = """\
# Benchmarks

Figures come from one run of `make bench` and are written here by `bench/run.py --write-docs`, never by hand. In a run,
sordino and each peer have a process and an environment of their own, repeats alternate between them, and medians are
compared; accounting runs in a new process for every repeat, so nothing remembered helps. Only ratios of one run mean
something: times change with the machine.

There are the rooms {rooms}; those that were run since they came have a section.
"""


def machine() -> dict[str, Any]:
    """Return the size of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"cores": os.cpu_count(), "memory_gib": round(memory / 2**30, 1), "python": platform.python_version()}


def lines(room: str, rows: Sequence[Row], groups: dict[str, float]) -> list[dict[str, Any]]:
    """Return what was measured as plain records: one for each case, one for each group."""
    found = [_line(room, row) for row in rows]
    for group, limit in groups.items():
        mean = geometric_mean([row for row in rows if row.case.group == group])
        found.append(
            {
                "room": room,
                "what": f"{group}: geometric mean",
                "peer": next(row.case.theirs.side for row in rows if row.case.group == group and row.case.theirs),
                "ratio": mean,
                "figure": f"{mean:.2f} ×",
                "bar": f"≤ {limit:g} × the peer",
                "passed": mean <= limit,
                "machine": machine(),
            }
        )
    return found


def _line(room: str, row: Row) -> dict[str, Any]:
    return {
        "room": room,
        "what": row.case.what,
        "peer": row.case.theirs.side if row.case.theirs else None,
        "seconds": row.ours.seconds,
        "peer_seconds": row.theirs.seconds if row.theirs else None,
        "ratio": row.ratio,
        "repeats": row.repeats,
        "figure": row.verdict.figure,
        "bar": row.verdict.bar,
        "passed": row.verdict.passed,
        "values": row.ours.values,
        "peer_values": row.theirs.values if row.theirs else None,
        "versions": row.ours.versions,
        "peer_versions": row.theirs.versions if row.theirs else None,
        "machine": machine(),
    }


def save(room: str, records: Sequence[dict[str, Any]]) -> None:
    """Write the records as JSON lines."""
    OUT.mkdir(exist_ok=True)
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    (OUT / f"{room}.jsonl").write_text(text)


def load() -> dict[str, list[dict[str, Any]]]:
    """Return the records of the last run of each room."""
    return {
        file.stem: [json.loads(line) for line in file.read_text().splitlines()] for file in sorted(OUT.glob("*.jsonl"))
    }


HEADINGS = ("what", "repeats", "ours", "peer", "theirs", "figure", "bar", "kept")


def cells(record: dict[str, Any]) -> tuple[str, ...]:
    """Return one record as a row of the table."""
    times = [duration(record[name]) if record.get(name) else "" for name in ("seconds", "peer_seconds")]
    kept = "" if not record["bar"] else "yes" if record["passed"] else "NO"
    repeats = str(record.get("repeats", ""))
    return record["what"], repeats, times[0], record["peer"] or "", times[1], record["figure"], record["bar"], kept


def show(console: Console, room: str, records: Sequence[dict[str, Any]]) -> None:
    """Print the table of one room."""
    table = Table(title=f"{room} — {_size(records[0])}", title_justify="left")
    for heading in HEADINGS:
        table.add_column(heading, justify="right" if heading in {"repeats", "ours", "theirs", "figure"} else "left")
    for record in records:
        table.add_row(*cells(record), style=None if record["passed"] else "bold red")
    console.print(table)


def _size(record: dict[str, Any]) -> str:
    size = record["machine"]
    return f"{size['cores']} cores, {size['memory_gib']:g} GiB, Python {size['python']}"


def write_page() -> None:
    """Write the documentation's page: rooms that were run here anew, the others as they stand."""
    sections = _written() | {_title(room): _section(room, records) for room, records in load().items()}
    begin = INTRODUCTION.format(rooms=", ".join(f"`{room}`" for room in ROOMS))
    PAGE.write_text("\n".join([begin, *(sections[title] for title in sorted(sections))]))


def _written() -> dict[str, str]:
    """Return the sections of the page as it stands, by title."""
    parts = PAGE.read_text().split("\n## ")[1:] if PAGE.exists() else []
    return {part.partition("\n")[0]: "## " + part.rstrip("\n") + "\n" for part in parts}


def _title(room: str) -> str:
    return room.replace("_", " ").capitalize()


def _section(room: str, records: Sequence[dict[str, Any]]) -> str:
    versions = {k: v for record in records for k, v in (record.get("peer_versions") or {}).items() if k != "python"}
    peers = ", ".join(f"{name} {number}" for name, number in sorted(versions.items()))
    size = "; ".join(filter(None, (_size(records[0]), peers)))
    table = "| " + " | ".join(HEADINGS) + " |\n" + "|---" * len(HEADINGS) + "|"
    table += "".join("\n| " + " | ".join(cells(record)) + " |" for record in records) + "\n"
    notes = getattr(import_module(room), "NOTES", None)
    said = f"`make bench ROOM={room}` on a machine with {size}.\n"
    return "\n".join([f"## {_title(room)}\n", said, *([notes] if notes else []), table])
