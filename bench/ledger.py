"""The ledger: charges beside bare commits on the same store, verification, and what of tampering is found."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from measure import Bar, Call, Case, Measured, Verdict, information

sys.path.append(str(Path(__file__).parent.parent / "tests"))  # where the server that tests start is described

NOTES = """\
A pair is a reservation and its settlement, each durable before it returns: two commits against the bare commit's one.
The bare commit inserts two rows of the same sizes on the same store with the same settings (SQLite: write-ahead log,
synced at every commit; PostgreSQL: on disk at every commit), by the same number of threads; on SQLite these share a
connection, which is the faster way. With one thread nothing can be written together, so these rows have no bar. What a
pair costs beyond its commits is work of the processor, so on SQLite the share changes with how fast processor and disk
are to each other at the moment.
"""
"""What the page of documentation says above this room's table."""

PAIRS = {1: 200, 16: 1_600, 64: 1_920}
"""How many are timed, by the number of threads."""
LEAST_SHARE = 0.5
BY_HASH, IN_FULL = 1_000_000, 200_000

_open = ExitStack()


def cases() -> list[Case]:
    """Return the cases of this room; a server runs until `tidy` is called."""
    from servers import postgres_server

    home = Path(_open.enter_context(tempfile.TemporaryDirectory(prefix="ledger", ignore_cleanup_errors=True)))
    os.chmod(home, 0o755)  # the server may run as somebody else  # noqa: S103
    server = home / "server"
    server.mkdir()
    url = _open.enter_context(postgres_server(server, durable=True))
    places = {"SQLite": str(home / "ledger.db"), "PostgreSQL": url}
    charges = [_pairs(store, place, home, threads) for store, place in places.items() for threads in PAIRS]
    return [
        *charges,
        _verify("by hash", "pure", BY_HASH, 200_000, replay=False),
        _verify("in full, pure ε", "pure", IN_FULL, 40_000, replay=True),
        _verify("in full, Rényi", "renyi", IN_FULL, 40_000, replay=True),
        Case(
            "every byte of a small ledger's entries altered in turn",
            Call("sordino_ledger", "tampering"),
            None,
            all_found,
            repeats=1,
            fresh=True,
        ),
    ]


def tidy() -> None:
    """Stop the server and remove what was written."""
    _open.close()


def _pairs(store: str, place: str, home: Path, threads: int) -> Case:
    given = {"place": place, "beside": str(home), "threads": threads, "times": PAIRS[threads]}
    ours, theirs = Call("sordino_ledger", "pairs", given), Call("bare_commits", "commits", given)
    what = f"reserve and settle beside a bare commit of two rows, {store}, {threads} thread{'s' * (threads > 1)}"
    return Case(what, ours, theirs, information if threads == 1 else share_at_least(LEAST_SHARE), repeats=9)


def _verify(words: str, kind: str, entries: int, least: int, *, replay: bool) -> Case:
    call = Call("sordino_ledger", "verification", {"kind": kind, "entries": entries, "replay": replay})
    return Case(f"verify {entries:,} entries {words}", call, None, at_least_each_second(least), repeats=3)


def share_at_least(limit: float) -> Bar:
    """Ours reaches at least `limit` of the peer's rate."""

    def judge(ours: Measured, theirs: Measured | None) -> Verdict:
        assert theirs is not None
        share = theirs.seconds / ours.seconds
        figure = f"{share:.2f} of its rate ({1 / ours.seconds:,.0f}/s)"
        return Verdict(figure, f"≥ {limit:g} of a bare commit's rate", share >= limit)

    return judge


def at_least_each_second(limit: int) -> Bar:
    """Ours does at least `limit` in a second."""

    def judge(ours: Measured, _theirs: Measured | None) -> Verdict:
        rate = 1 / ours.seconds
        return Verdict(f"{rate:,.0f}/s", f"≥ {limit:,}/s", rate >= limit)

    return judge


def all_found(ours: Measured, _theirs: Measured | None) -> Verdict:
    """Every change was found."""
    values: dict[str, Any] = ours.values
    tried, found = int(values["tried"]), int(values["found"])
    return Verdict(f"{found:,} of {tried:,} found", "all of them", tried == found > 0)
