"""The secret file of a stream: what it must remember to go on, on disk before any number leaves.

One file for each stream, that its owner alone can read, replaced as a whole: written and synced under another name
first. With it lies the release that it belongs to, so that after a crash the same bytes are recorded, never others. A
lock beside it keeps a second process away.

**Assumes**: the folder is as safe as the data itself: the file holds sums without noise.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from sordino.errors import ArgumentError, LedgerError

from .buffered import Exponentials
from .buffered_sum import Buffered
from .plan import StreamPlan
from .spec import StreamSpec
from .strategy import State, Strategy

_FORM = 1


@dataclass(frozen=True, eq=False)
class Kept:
    """How far a stream is: steps taken, the number of the newest release and its bytes, and what is remembered."""

    secret: State
    public: State
    taken: int = 0
    number: int = 0
    body: str | None = None


class Folder:
    """A place for one stream's file; the lock is held until `close`."""

    def __init__(self, folder: Path, identifier: str) -> None:
        self._path = folder / f"{_name(identifier)}.stream"
        self._identifier = identifier
        self._lock: int | None = os.open(self._path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise LedgerError(
                "another process has this stream open: end it there first, or hand what arrives to it", "SRD-C503"
            ) from None

    def write(self, plan: StreamPlan, kept: Kept) -> None:
        """Put the state on disk; it is there when this returns."""
        said = {
            "form": _FORM,
            "id": self._identifier,
            "plan": plan.digest(),
            "noise": [plan.variance.numerator, plan.variance.denominator],
            "buffers": _spelled_buffers(plan.strategy),
            "taken": kept.taken,
            "number": kept.number,
            "body": kept.body,
            "secret": _plain(kept.secret),
            "public": _plain(kept.public),
        }
        text = json.dumps(said, separators=(",", ":")).encode()
        scratch = self._path.with_suffix(".part")
        try:
            handle = os.open(scratch, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, self._path)
            _sync(self._path.parent)
        except OSError:
            raise LedgerError(
                "the stream's file cannot be written, so no number leaves; see that there is room in its folder, and "
                "who owns it",
                "SRD-C504",
            ) from None

    def read(self) -> Mapping[str, Any] | None:
        """Return what the file says, None if there is none; refuse one that is not as it was written."""
        try:
            whole = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            raise _altered() from None
        check, _, text = whole.partition(b"\n")
        if hashlib.sha256(text).hexdigest().encode() != check:
            raise _altered()
        said: Mapping[str, Any] = json.loads(text)
        if said["form"] != _FORM or said["id"] != self._identifier:
            raise _altered()
        return said

    def beside(self, suffix: str) -> Path:
        """Return the path of another file of the same stream."""
        return self._path.with_suffix(suffix)

    def size(self) -> int:
        """Return how many bytes the file has."""
        return self._path.stat().st_size

    def remove(self) -> None:
        """Delete what was remembered: the stream is settled, and nobody can go on with it."""
        for suffix in (".stream", ".people"):
            self.beside(suffix).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        """Let another process go on if this one cannot; else whoever holds the folder closes it."""
        if error is not None:
            self.close()

    def close(self) -> None:
        """Let another process go on with the stream."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def prepare(folder: Any) -> Path:
    """Return a folder for streams, made if it is missing and tried: before anything is charged."""
    if not isinstance(folder, str | os.PathLike):
        raise ArgumentError(f"folder must be a path, not {type(folder).__name__}", "SRD-A001")
    path = Path(folder)
    trial = path / f".trial-{os.getpid()}"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(trial, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(b"tried")
            os.fsync(file.fileno())
        trial.unlink()
        _sync(path)
    except OSError:
        raise ArgumentError(
            "the folder for the stream's file cannot be written; nothing was charged: name one that can", "SRD-C505"
        ) from None
    return path


def plan_again(said: Mapping[str, Any], plan: StreamPlan) -> StreamPlan:
    """Return the plan with the noise and the numbers that were charged: a later fit may differ in its last bits."""
    return replace(
        plan, variance=Fraction(*map(int, said["noise"])), strategy=strategy_again(plan.spec, said["buffers"])
    )


def strategy_again(spec: StreamSpec, buffers: Any) -> Strategy:
    """Return the strategy of a spec, with buffers as they were spelled."""
    if buffers is None:
        return spec.tactics()
    decays, weights = (tuple(float.fromhex(each) for each in some) for some in buffers)
    return Buffered(spec.steps, Exponentials(decays, weights))


def kept_again(said: Mapping[str, Any]) -> Kept:
    """Return the state that a file holds."""
    return Kept(_arrays(said["secret"]), _arrays(said["public"]), said["taken"], said["number"], said["body"])


def _spelled_buffers(strategy: Strategy) -> Any:
    if not isinstance(strategy, Buffered):
        return None
    return [[each.hex() for each in some] for some in (strategy.shape.decays, strategy.shape.weights)]


def _plain(state: State) -> dict[str, Any]:
    return {name: [each.dtype.str, list(each.shape), each.ravel().tolist()] for name, each in state.items()}


def _arrays(plain: Mapping[str, Any]) -> State:
    found = {}
    for name, (kind, shape, numbers) in plain.items():
        flat = np.empty(len(numbers), dtype=object if kind == "|O" else np.dtype(kind))
        flat[:] = numbers
        found[name] = flat.reshape(shape)
    return found


def _name(identifier: str) -> str:
    plain = identifier.replace("-", "").replace("_", "")
    return identifier if plain.isascii() and plain.isalnum() else hashlib.sha256(identifier.encode()).hexdigest()


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _altered() -> LedgerError:
    return LedgerError(
        "the stream's file is not as it was written, so the stream cannot go on; put back the newest one, or open "
        "another stream, which is charged anew",
        "SRD-C504",
    )
