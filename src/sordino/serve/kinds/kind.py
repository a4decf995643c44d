"""A kind of release: how it is asked for, priced, run and shown. All that a service knows of a room is such a row.

A row of one's own is a `Kind` in a module that can be imported, named in the settings (``kinds: ["my.module:NAME"]``)
or by an entry point of the group ``sordino.kinds``.

**Guarantee**: whatever a row does, it has data only on an account that charges first (`run`) or that only quotes
(`price`); policy, idempotency keys, approvals, receipts and jobs are the same for every kind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sordino.accounting.event import Event
from sordino.accounting.neighbours import Neighbours
from sordino.accounting.plan import Plan

from .page import Page, plain_page
from .sort import Sort

Plain = dict[str, Any]


class Request(Protocol):
    """What somebody asks for, read and checked; nothing of it has met data."""

    @property
    def dataset(self) -> str:
        """The data set that it is about."""
        ...

    @property
    def project(self) -> str | None:
        """The project that is charged as well."""
        ...

    @property
    def plain(self) -> Plain:
        """All that was asked, as JSON can hold it."""
        ...


def digest(kind: str, request: Request) -> str:
    """Return the digest of all that is asked, which an idempotency key and an approval stand for."""
    spelt = json.dumps([kind, request.plain], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(spelt.encode()).hexdigest()


class Running(Protocol):
    """What a run may know of where it runs, and say of itself."""

    @property
    def work(self) -> str | None:
        """The open work that an earlier process of the same job left behind, to be gone on with; else None."""
        ...

    @property
    def folder(self) -> Path:
        """Where it may keep what it needs to go on after a crash. What lies there is as secret as the data."""
        ...

    def stage(self, words: str) -> None:
        """Say how far it is: planned, reserved, running, settled or failed. The gate does."""
        ...

    def tell(self, **public: str | int | float) -> None:
        """Show whoever watches what the plan makes public, such as a step; never anything of the data."""
        ...


@dataclass(frozen=True)
class Option:
    """One word of a command: an option, the argument (`place` 0) or a switch."""

    name: str
    help: str
    switch: bool = False
    default: Any = None


@dataclass(frozen=True)
class Command:
    """How a kind is asked for by a command of its own, beside ``sordino run KIND``."""

    name: str
    help: str
    argument: Option
    options: tuple[Option, ...]
    request: Callable[[Mapping[str, Any]], Plain]
    """What is asked for, from the words that were typed; those that were not are left out."""


@dataclass(frozen=True)
class Shapes:
    """What requests and responses of a kind hold, for the description of the API: models of pydantic."""

    request: Any = dict[str, Any]
    priced: Any = dict[str, Any]
    released: Any = dict[str, Any]


@dataclass(frozen=True)
class Quoted:
    """What a request would run: its event, under which relation, and what else its price says."""

    event: Event
    ran: Neighbours | None = None
    said: Plain = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, **said: Any) -> Quoted:
        """Return the quotation of a plan."""
        return cls(plan.event(), plan.bound.neighbours, said)


@dataclass(frozen=True)
class StillOpen:
    """What a run returns that charged work and left it open: more is asked of it by its id (`Kind.opened`)."""

    work: str
    said: Plain
    """What is told of it."""
    live: Any
    """What `OpenWork.part` asks, for as long as this process lives."""


@dataclass(frozen=True)
class OpenWork:
    """How more is asked of work that stays open: part by part, under the charge that began it."""

    resume: Callable[[Any, Any, str], Any]
    """Live work again, after a restart: of a data set on a gate and a request, by its id."""
    part: Callable[[Any, Mapping[str, Any]], Plain]
    """What live work answers to what is asked; what it tells was recorded first."""
    finish: Callable[[Any], Any]
    """Settles it, and returns the last release."""
    shape: Any = dict[str, Any]
    """What is asked, as a model of pydantic."""


def _no_days(_data: Any, _request: Any) -> tuple[str, ...]:
    return ()


def plain_text(body: Mapping[str, Any]) -> str:
    """Return all that is told, for kinds without words of their own."""
    return json.dumps(body, ensure_ascii=False, indent=2)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A row of the table. What has a default need not be said by a kind that has no pages or commands of its own."""

    name: str
    """As it stands in addresses and in the ledger."""
    title: str
    """What one release of it is called, as *a question*."""
    read: Callable[[Mapping[str, Any]], Any]
    """A `Request` from plain JSON; refuses what cannot be."""
    price: Callable[[Any, Any], Quoted]
    """What a request about a data set costs, on an account that only quotes."""
    run: Callable[[Any, Any, Running], Any]
    """What is released for a request about a data set on a gate: a `Release`, charged before data was touched."""
    about: tuple[str, ...] = ("tables",)
    """The sorts of data that it can be asked about, by name."""
    sorts: tuple[Sort, ...] = ()
    """Sorts of data that come with it; whoever offers the kind can register data of them."""
    days: Callable[[Any, Any], tuple[str, ...]] = _no_days
    """The days that a request reads, where days have budgets of their own."""
    apart: bool = False
    """Whether it runs in a process of its own, to be watched, stopped and gone on with: for work of hours."""
    files: tuple[str, ...] = ()
    """What a run apart leaves in its folder for whoever asked, once it is settled: names of files in which there is
    nothing but what was released."""
    shapes: Callable[[], Shapes] = Shapes
    opened: Callable[[], OpenWork] | None = None
    """How more is asked of it, where a run leaves its work open (`StillOpen`)."""
    begun_at: tuple[str, str] | None = None
    """The page where one is asked for, to which ``?dataset=`` is added, and what a link to it says."""
    watched_at: str = "/jobs/"
    """Where a job of it is looked at; its id follows."""
    page: Callable[[Mapping[str, Any]], Page] = plain_page
    """What the page of a release shows, from its body."""
    csv: Callable[[Mapping[str, Any]], str] | None = None
    """A release as comma-separated values, from its body, where it is a table."""
    pages: Callable[[], Any] | None = None
    """A router of FastAPI with pages of its own."""
    beside: Callable[[], Any] | None = None
    """An ASGI middleware before all others, given the `service`: for what comes by many, without a login or a line in
    the log, and has limits of its own."""
    again: Callable[[Mapping[str, Any]], str] | None = None
    """The address of the page where the same can be asked again, from what was asked."""
    command: Callable[[], Command] | None = None
    commands: Callable[[], tuple[str, Any]] | None = None
    """A group of further commands, of typer, and what it is called."""
    price_text: Callable[[Mapping[str, Any]], str] = plain_text
    release_text: Callable[[Mapping[str, Any]], str] = plain_text
