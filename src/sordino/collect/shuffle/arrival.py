"""The batch as it arrives at the analyser's: part by part, from the survey's shuffler and nobody else, once.

**Guarantee**: a part is on the disk before it is acknowledged; one that came before is acknowledged again. Once a batch
is whole no other is taken. Reports are opened when the round is closed, all at once: two looks would show one report.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey
from sordino.collect.wire import STALE, refused
from sordino.errors import ArgumentError
from sordino.ledger.keys import sync_directory

from .envelope import inner_length, opened
from .parts import read, secret

_FOLDER = "arrived"
_NAME = re.compile(r"([0-9a-f]{32})\.(\d+)\.(\d+)")


class Arrival:
    """What a shuffler sent for a round whose folder this is."""

    def __init__(self, survey: Survey, key: PartyKey, folder: Path) -> None:
        if len(survey.parties) != 2 or survey.parties[0].key != key.text:
            raise ArgumentError(
                "this survey names another analyser, so its reports are sealed for another key; define it here anew",
                "SRD-C718",
            )
        self._survey, self._key, self._folder = survey, key, folder / _FOLDER
        self._shared = secret(survey, key, 1)

    def take(self, given: bytes) -> None:
        """Return once a part is on the disk."""
        part = read(self._survey, self._shared, given)
        if part is None:
            raise ArgumentError(
                "this is no part of a batch by this survey's shuffler; only `sordino shuffle` sends batches", "SRD-C718"
            )
        path = self._folder / f"{part.batch.hex()}.{part.number}.{part.of}"
        if path.exists():
            return
        if self.whole:
            raise refused(STALE)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}")
        with os.fdopen(os.open(scratch, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            file.write(part.body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
        sync_directory(self._folder)

    @property
    def whole(self) -> bool:
        """Whether all parts of a batch are here."""
        return bool(self._parts())

    def reports(self) -> list[bytes]:
        """Return the reports of the whole batch; what is sealed for another key, or none, is left out."""
        width = inner_length(self._survey)
        body = b"".join(path.read_bytes() for path in self._parts())
        found = [opened(self._survey, self._key, body[start : start + width]) for start in range(0, len(body), width)]
        return [each for each in found if each is not None]

    def forget(self) -> None:
        """Remove what arrived, once it was counted and is kept (or was too little)."""
        for path in self._folder.glob("*") if self._folder.is_dir() else ():
            path.unlink()

    def _parts(self) -> list[Path]:
        """Return the parts of the batch that is whole, in order; none while there is none."""
        found: dict[str, dict[int, Path]] = {}
        names = sorted(self._folder.iterdir()) if self._folder.is_dir() else []
        for path in names:
            said = _NAME.fullmatch(path.name)
            if said is None:
                continue
            batch = found.setdefault(said[1], {})
            batch[int(said[2])] = path
            if len(batch) == int(said[3]):
                return [batch[number] for number in range(len(batch))]
        return []
