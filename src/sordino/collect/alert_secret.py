"""The noisy threshold of an alert, in a secret file of its own: written once, never changed, gone when it closes.

Why one threshold serves all restarts, and what happens at each crash, is proven in ``alert.py``.

**Guarantee**: the file is whole or not there, readable by its owner alone from the start, and never takes the place of
another. It is believed only if its mark is the one that the ledger has as part 1 of the work.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn

from sordino import noise
from sordino.accounting.work import Work
from sordino.arguments import shown_path
from sordino.errors import ArgumentError, GrantError
from sordino.ledger.keys import sync_directory, write_new

from .alert_plan import AlertPlan
from .said import Said

_NAME = "threshold.secret"
_VERSION = 1
_LARGEST_FILE = 4096


@dataclass(frozen=True)
class Secret:
    """The threshold that all comparisons of one work have in common. `mark` is random, public, and says which it is."""

    work: str
    plan: str
    mark: str
    threshold: int = field(repr=False)
    version: int = _VERSION

    def __reduce__(self) -> str:
        raise GrantError("a noisy threshold cannot be copied or sent elsewhere", "SRD-G003")


def check_folder(folder: Path) -> None:
    """Refuse, before anything is charged, a folder that holds an alert already or cannot be written to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".probe."):
            taken = (folder / _NAME).exists()
        sync_directory(folder.parent)
    except OSError as error:
        raise ArgumentError(
            f"the folder {shown_path(folder)} cannot be written to ({error.strerror}); name one that can", "SRD-C603"
        ) from None
    if taken:
        raise ArgumentError(
            f"the folder {shown_path(folder)} holds an alert that is open; go on with it by resume=, or name another "
            "folder for another alert",
            "SRD-C603",
        )


def armed(plan: AlertPlan, work: Work, folder: Path) -> Secret:
    """Return the one threshold of `work`: drawn and recorded now, if it never was; else the one in the file."""
    said = work.recorded(1)
    if said is None:
        if not (folder / _NAME).exists():
            _write(folder, plan, work)
        said = work.part(1, Said({"armed": _read(folder, plan, work).mark}))
    secret = _read(folder, plan, work)
    if json.loads(said) != {"armed": secret.mark}:
        _refuse("the file in its folder is of another threshold than the one that is on record")
    return secret


def forget(folder: Path) -> None:
    """Remove the threshold, and what a crash may have left of it."""
    for each in folder.glob(f"*{_NAME}*"):
        each.unlink(missing_ok=True)


def _write(folder: Path, plan: AlertPlan, work: Work) -> None:
    mark = noise.uniform(256, 16).astype("u1").tobytes().hex()
    threshold = plan.comparison.start(work.grant).noisy_threshold
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_new(folder / _NAME, json.dumps(asdict(Secret(work.id, plan.digest(), mark, threshold))))
    except FileExistsError:
        return  # another process was the first, and its file is read
    except OSError:
        _refuse("its folder cannot be written to; what was charged stays, so free the folder and go on by resume=")


def _read(folder: Path, plan: AlertPlan, work: Work) -> Secret:
    try:
        with open(folder / _NAME, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            kept = Secret(**json.loads(file.read(_LARGEST_FILE)))
    except OSError:
        _refuse("the file with its threshold is lost, and another threshold was not paid for; open another alert")
    except (ValueError, TypeError):
        _refuse("the file with its threshold is not as it was written; open another alert")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        _refuse("the file with its threshold is open to others than its owner; find out who could read it, then chmod")
    if (kept.version, kept.work, kept.plan) != (_VERSION, work.id, plan.digest()) or type(kept.threshold) is not int:
        _refuse("the file in its folder belongs to another alert; name the folder that it was opened with")
    return kept


def _refuse(why: str) -> NoReturn:
    raise GrantError(f"this alert cannot go on: {why}", "SRD-C604")
