"""Checkpoints: weights, the optimizer's state and how far a training was, in one file that is whole or not there.

Arrays by name and one text, never pickled code: reading a stranger's file runs nothing.

**Guarantee**: a file is written and synced under another name before it takes the place of the one before. One whose
arrays are not those it was written with, or that belongs to another recipe, is refused before anything is charged.
What it holds is released already: noisy sums went into it, and nothing else of the data.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sordino.errors import ArgumentError

from .rows import Array

_MANIFEST = "manifest"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """How far a training is. `arrays` holds weights and the optimizer's numbers by name; `texts` what is no array."""

    recipe: str
    step: int
    arrays: Mapping[str, Array]
    texts: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Write it in place of what is there."""
        said = {"recipe": self.recipe, "step": self.step, "texts": self.texts, "digest": weights_digest(self.arrays)}
        manifest = np.frombuffer(json.dumps(said).encode(), dtype=np.uint8)
        scratch = path.with_name(f"{path.name}.part")
        with open(scratch, "wb") as file:
            named: dict[str, Any] = {f"/{name}": each for name, each in self.arrays.items()}
            np.savez(file, manifest=manifest, **named)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    @classmethod
    def load(cls, path: Path, recipe: str) -> Checkpoint | None:
        """Return the checkpoint in a file, None if there is no file; refuse what is not one of this recipe."""
        if not path.exists():
            return None
        kept = _read(path)
        if kept is None:
            raise ArgumentError(
                "this checkpoint is not as it was written: use an older copy, or train from the beginning with "
                "another file",
                "SRD-T001",
            )
        if kept.recipe != recipe:
            raise ArgumentError(
                "this checkpoint belongs to another training: its model, data, noise or number of steps differ; name "
                "another file, or train as it was begun",
                "SRD-T001",
            )
        return kept


def check_place(path: Path) -> None:
    """Refuse a file that could not be written: it is found out before the first charge, not after."""
    if not path.parent.is_dir() or path.is_dir() or not os.access(path.parent, os.W_OK):
        raise ArgumentError(
            "a checkpoint is a file in a folder that is there and may be written to; make the folder, or name another",
            "SRD-A003",
        )


_UNREADABLE = (OSError, EOFError, ValueError, LookupError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What NumPy and an archive raise at files that were cut, changed or are something else."""


def _read(path: Path) -> Checkpoint | None:
    """Return what a file holds, None if that is not what was written."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
            said = json.loads(found[_MANIFEST].tobytes())
            arrays = {name[1:]: found[name] for name in found.files if name != _MANIFEST}
        kept = Checkpoint(str(said["recipe"]), int(said["step"]), arrays, dict(said["texts"]))
        return kept if said["digest"] == weights_digest(arrays) else None
    except _UNREADABLE:
        return None


def weights_digest(arrays: Mapping[str, Array]) -> str:
    """Return the SHA-256 of arrays by name, in hexadecimal: of their types, shapes and bytes."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        each = np.ascontiguousarray(arrays[name])
        found.update(json.dumps([name, each.dtype.str, each.shape]).encode())
        found.update(each.tobytes())
    return found.hexdigest()
