"""Processes that find prices, for services that are asked for many: Python computes on one core of a process at a time.

A price is a pure function of a question, of what is declared about the data, of what the ledger held at one moment, and
of the owner's policy. So it can be found in a process that has neither the data nor the ledger: what is declared is
sent there once, the rest with every question.
"""

from __future__ import annotations

import io
import pickle
import signal
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

from sordino.data.account import Protected
from sordino.errors import SordinoError
from sordino.gate import Policy
from sordino.serve.kinds.sort import On
from sordino.serve.kinds.table import kind_at, sort_at

from .quotation import quotation
from .quoting import Holdings, Quote

Plain = dict[str, Any]
Known = tuple[str, int]
"""The name of a data set, and how often it was declared anew."""
Outline = tuple[str, str, Protected]
"""Where a sort of data comes from, its name, and what was declared of it (see `Sort.outline`)."""
About = tuple[Holdings, Policy, str, Plain]
"""What was held at one moment, the owner's policy, where the kind comes from, and what is asked."""
_UNKNOWN = "unknown"
_SECONDS_TO_END = 5.0


class PriceProcesses:
    """So many processes, each with one question at a time; who asks first is answered first."""

    def __init__(self, count: int) -> None:
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._count = count
        for _ in range(count):
            self._idle.put(_Process())

    def price(self, known: Known, outline: Outline, about: About) -> Plain:
        """Return what a request costs (see ``quotation.py``); raises what finding it raised."""
        process = self._idle.get()
        try:
            found = process.ask(known, outline, about)
        except (EOFError, OSError):  # it was killed; nothing was lost but time
            process = process.replaced()
            found = process.ask(known, outline, about)
        finally:
            self._idle.put(process)
        if isinstance(found, SordinoError):
            raise found
        if not isinstance(found, dict):
            raise RuntimeError(f"a price could not be found: {found}")
        return found

    def close(self) -> None:
        """End all processes, each when it has answered."""
        for _ in range(self._count):
            self._idle.get().close()


class _Process:
    """A process and the line to it."""

    def __init__(self) -> None:
        context = get_context("spawn")  # a copy of this one would hold its locks, and the ledger's key
        self._line, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other,), name="sordino-price", daemon=True)
        self._process.start()
        other.close()

    def ask(self, known: Known, outline: Outline, rest: About) -> Any:
        """Return what came back: a price, an error, or the kind of another error."""
        self._line.send((known, rest))
        found = self._line.recv()
        if found == _UNKNOWN:
            self._line.send_bytes(_pickled(outline))
            found = self._line.recv()
        return found

    def replaced(self) -> _Process:
        """Return another process in place of this one."""
        self.close()
        return _Process()

    def close(self) -> None:
        self._line.close()
        self._process.join(_SECONDS_TO_END)
        if self._process.is_alive():
            self._process.terminate()


def _work(line: Connection) -> None:
    """Find prices until the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service ends this process when it has ended its own work
    declared: dict[str, tuple[int, On]] = {}
    while True:
        try:
            (name, version), rest = line.recv()
            if declared.get(name, (None,))[0] != version:
                line.send(_UNKNOWN)
                origin, sort, outline = pickle.loads(line.recv_bytes())  # noqa: S301  (from the service, over its pipe)
                declared[name] = version, sort_at(origin, sort).on(outline)
            line.send(_found(declared[name][1], *rest))
        except (EOFError, OSError):
            return


def _found(
    on: On, holdings: Holdings, policy: Policy, origin: str, plain: Mapping[str, Any]
) -> Plain | SordinoError | str:
    """Return a price, an error of ours, or the kind of any other error, without its words."""
    try:
        quote, kind = Quote(holdings), kind_at(origin)
        return quotation(kind, on(quote), quote, policy, kind.read(plain))
    except SordinoError as error:
        return error
    except Exception as error:  # it would end the process; what it says stays here
        return type(error).__name__


class _Pickler(pickle.Pickler):
    """Also writes read-only views of dictionaries, as which much is declared."""

    def reducer_override(self, value: Any) -> Any:
        """Return how to write a value, or that it is written as usual."""
        return (_read_only, (dict(value),)) if isinstance(value, MappingProxyType) else NotImplemented


def _read_only(value: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(value)


def _pickled(outline: Outline) -> bytes:
    written = io.BytesIO()
    _Pickler(written, protocol=pickle.HIGHEST_PROTOCOL).dump(outline)
    return written.getvalue()
