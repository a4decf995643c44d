"""Somebody else's code as a command finds it: ``package.module:name``, looked for here first; and its failures.

What that code raises must not end the command as a refuted claim would (exit code 1), so all of it is turned into an
error of ours (exit code 2) that says whose it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from sordino.errors import ArgumentError, SordinoError

_FORM = "write it as package.module:name, for example my_library.noise:laplace"


class Foreign:
    """While this is open, whatever is raised that is not ours is told as the failure of `what`."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, SordinoError | KeyboardInterrupt | GeneratorExit):
            return
        raise ArgumentError(f"{self._what} raised {type(error).__name__}: {error}", "SRD-V061") from error


def load(path: str) -> Any:
    """Return what a dotted path names; the working directory is looked at first, as by ``python -m``."""
    module, colon, name = path.partition(":")
    if not colon or not module or not all(part.isidentifier() for part in [*module.split("."), *name.split(".")]):
        raise ArgumentError(f"{path[:80]!r} is not the path of a callable; {_FORM}", "SRD-A001")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        with Foreign(f"importing {module}"):
            found = _imported(module)
    finally:
        sys.path.remove(here)
    for part in name.split("."):
        if not hasattr(found, part):
            raise ArgumentError(f"module {module} has no {name}; {_FORM}", "SRD-A005")
        found = getattr(found, part)
    return found


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ArgumentError(
            f"there is no module {module} here or among the installed packages; run the command in the directory that "
            "holds it, or install it",
            "SRD-A005",
        ) from None


def load_callable(path: str) -> Callable[..., Any]:
    """Return the callable that a dotted path names, whose failures are told as such."""
    found = load(path)
    if not callable(found):
        raise ArgumentError(f"{path} is a {type(found).__name__} and cannot be called; name a function", "SRD-A001")

    @wraps(found, updated=())
    def guarded(*values: Any, **words: Any) -> Any:
        with Foreign(path):
            return found(*values, **words)

    return guarded
