"""Ibis with the compilers of the engines that are used: each is loaded when somebody asks for it.

``ibis.backends.sql.compilers`` loads those of twenty engines for whoever wants one, a tenth of the time until a process
has its first answer. What stands in its place here loads each by its name, and for any other name it becomes the
package as Ibis made it. Where Ibis was used before, or is made otherwise, nothing is changed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_PARENT, _NAME = "ibis.backends.sql", "compilers"
_PACKAGE = f"{_PARENT}.{_NAME}"


class _Compilers(ModuleType):
    """The package, as long as only modules in it were asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        if find_spec(f"{_PACKAGE}.{name}") is not None:
            return import_module(f"{_PACKAGE}.{name}")
        self.__class__ = ModuleType  # type: ignore[assignment]  # from here on it is like any other
        if self.__spec__ is not None and self.__spec__.loader is not None:
            self.__spec__.loader.exec_module(self)
        return getattr(self, name)


def duckdb_backend() -> Any:
    """Return Ibis's backend for DuckDB, not connected, with no compiler loaded but its own."""
    _load_by_name()
    return import_module("ibis.backends.duckdb").Backend()  # what ibis.duckdb finds by reading all installed packages


def _load_by_name() -> None:
    spec = None if _PACKAGE in sys.modules else find_spec(_PACKAGE)
    if spec is None or _PACKAGE in sys.modules:
        return
    package = module_from_spec(spec)
    package.__class__ = _Compilers
    sys.modules[_PACKAGE] = package
    setattr(import_module(_PARENT), _NAME, package)
