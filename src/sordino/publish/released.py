"""What a publication releases: a manifest for the ledger, and files that it names by their digests.

**Guarantee**: all of it is noisy, or computed from what is: whoever has the manifest and the files has everything that
left, and can check each file by its digest. The ledger writes and syncs files before it settles.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

from sordino.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANIFEST = "manifest.json"
_VERSION = 1


class Said(Protocol):
    """A plan that can say itself in a manifest."""

    def said(self) -> dict[str, Any]:
        """Return the recipe, its parameters, whom it is about, and what it spends."""
        ...


@dataclass(frozen=True, eq=False)
class Released(ABC):
    """One publication, as it left. A recipe's own has fields and verbs of its own beside."""

    plan: Said
    receipt: Any

    @abstractmethod
    def measured(self) -> dict[str, Any]:
        """Return what is small enough for the manifest, as JSON can hold it: noisy numbers, choices, sizes."""

    @abstractmethod
    def contents(self) -> Mapping[str, bytes]:
        """Return what is too large for the manifest, by the names of files."""

    @abstractmethod
    def plot(self) -> Figure:
        """Return a picture of what was published."""

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """What is released beside the manifest, by the names of files."""
        return self.contents()

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """All that the ledger keeps of it: recipe, parameters, what was spent, what was measured, digests of files."""
        return {
            "version": _VERSION,
            **self.plan.said(),
            "measured": self.measured(),
            "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(self.files.items())},
        }

    def to_json(self) -> str:
        """Return the manifest."""
        return json.dumps(self.manifest, separators=(",", ":"), sort_keys=True, allow_nan=False)

    def with_receipt(self, receipt: Any) -> Self:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)

    def save(self, folder: str | Path) -> Path:
        """Write manifest and files into a folder, made if there is none; `load` reads them again."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (place / name).write_bytes(content)
        (place / MANIFEST).write_text(self.to_json(), encoding="utf-8")
        return place


@dataclass(frozen=True)
class Saved:
    """The plan of a publication that was saved, as its manifest says it."""

    manifest: Mapping[str, Any]

    def said(self) -> dict[str, Any]:
        """Return what the manifest says of the plan."""
        return {name: value for name, value in self.manifest.items() if name not in ("version", "measured", "files")}


def read_saved(folder: str | Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return manifest and files of a saved publication, after checking each file by its digest."""
    place = Path(folder)
    try:
        manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        files = {str(name): (place / str(name)).read_bytes() for name in manifest["files"] if "/" not in str(name)}
    except (OSError, ValueError, KeyError, TypeError):
        raise ArgumentError(
            "this folder holds no saved publication; name the one that save(…) wrote, with its manifest.json",
            "SRD-P002",
        ) from None
    for name, content in files.items():
        if hashlib.sha256(content).hexdigest() != manifest["files"][name]:
            raise ArgumentError(f"the file {name} is not what was published: it was altered since", "SRD-P003")
    return manifest, files
