"""What a member has answered, marked in a folder of its own: no phase of a session twice, whoever asks, and how often.

**Guarantee**: of all processes that enter one phase of one session, one goes on, before or after any crash: to make a
file that must not be there is one step of the file system. So two messages that arrive at once, each with another
list of survivors, do not both find the member waiting.
**Assumes**: the folder is the member's own, on a disk that keeps it, and nobody takes files out of it.
"""

from __future__ import annotations

import os
from pathlib import Path

from .member import PHASES
from .packing import refusal


class Marks:
    """The phases that a member has entered, a file each. They hold nothing, and may go when a study is over."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def enter(self, session: bytes, phase: str) -> None:
        """Mark a phase of a session, durably; refuse one that was marked before."""
        if phase not in PHASES:
            raise refusal("it is of no phase that is known")
        made = [each for each in (self._folder, *self._folder.parents) if not each.exists()]
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.close(os.open(self._folder / f"{session.hex()}-{phase}", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise refusal("this member answered this phase of this session before") from None
        for each in (self._folder, *(new.parent for new in made)):  # a mark in a folder that gets lost is lost
            _keep(each)


def _keep(folder: Path) -> None:
    """Make sure that what was made in a folder is there after a crash."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
