"""The one file of a pan-private state. Each version that is written counts as a state that was seen.

A new version is written beside the old one, synced and put in its place. Where the old one lay its bytes may stay for
long: in free blocks, snapshots, backups. That is why `counting` pays for every version, whether or not anybody looks,
randomises the cells anew before and after, and records each in the ledger before its first byte is written.

**Guarantee**: a file is whole or not there, and is believed only if its bytes are as they were written, for this work.
It holds cells, the key of the hash and how often cells were randomised: no id and no item.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from sordino.arguments import shown_path
from sordino.errors import ArgumentError, GrantError, RunError
from sordino.ledger.keys import sync_directory

from .cells import Cells, kind_of
from .plan import PanPlan

_FORM = 1


@dataclass(frozen=True, eq=False)
class Kept:
    """A version of the state."""

    work: str
    version: int
    key: int
    cells: Cells


def check_place(file: str | Path | None, saves: int) -> Path | None:
    """Refuse, before anything is charged, a missing name, a name that is taken, or a folder that cannot be written."""
    if saves == 0:
        return None
    if file is None:
        raise ArgumentError("saves= says that the state is kept in a file; say in which, by file=", "SRD-C613")
    place = Path(file)
    try:
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".probe."):
            taken = place.exists()
    except OSError as error:
        raise ArgumentError(
            f"no file can be written beside {shown_path(place)} ({error.strerror}); name another place", "SRD-C613"
        ) from None
    if taken:
        raise ArgumentError(
            f"{shown_path(place)} exists; go on with the state that it holds by resume=, or name another file",
            "SRD-C613",
        )
    return place


def write(place: Path, plan: PanPlan, kept: Kept) -> None:
    """Put a version in the place of the one before, durably."""
    body = _packed(kept.cells)
    said = {
        "form": _FORM,
        "work": kept.work,
        "plan": plan.digest(),
        "version": kept.version,
        "key": kept.key,
        "randomised": kept.cells.randomised,
        "digest": hashlib.sha256(body).hexdigest(),
    }
    scratch = place.with_name(f".{place.name}.part")
    try:
        with open(os.open(scratch, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(json.dumps(said).encode() + b"\n" + body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, place)
        sync_directory(place.parent)
    except OSError as error:
        raise RunError(
            f"the state could not be written to {shown_path(place)} ({error.strerror}), and counts as saved; free the "
            "place and save again, if a save is left",
            "SRD-C613",
        ) from None


def read(place: Path, plan: PanPlan, work: str) -> Kept:
    """Return the version in a file, or refuse what is not one of this work."""
    try:
        head, _, body = place.read_bytes().partition(b"\n")
        said = json.loads(head)
        whole = said["form"] == _FORM and said["digest"] == hashlib.sha256(body).hexdigest()
        ours = (said["work"], said["plan"]) == (work, plan.digest())
    except FileNotFoundError:
        _refuse("its file is not there, and what is not kept is lost; begin another")
    except (OSError, ValueError, LookupError, TypeError):
        _refuse("its file is not as it was written; begin another")
    if not whole or not ours:
        _refuse("its file is not as it was written" if not whole else "the file holds the state of another work")
    return Kept(work, said["version"], said["key"], Cells(plan.coins, _unpacked(body, plan), said["randomised"]))


def _packed(cells: Cells) -> bytes:
    return (np.packbits(cells.values) if cells.coins.items == 1 else cells.values).tobytes()


def _unpacked(body: bytes, plan: PanPlan) -> np.ndarray[tuple[int], np.dtype[np.unsignedinteger]]:
    found = np.frombuffer(body, dtype=kind_of(plan.coins))
    return np.unpackbits(found, count=plan.cells) if plan.coins.items == 1 else found.copy()


def _refuse(why: str) -> NoReturn:
    raise GrantError(f"this count cannot go on: {why}", "SRD-C614")
