"""``so.connect``: the words of a local account, for data that a service keeps.

::

    house = so.connect("https://privacy.example.org", token)
    ask = house.account("trips").sql("SELECT COUNT(*) AS rides FROM trips")
    ask.price(epsilon=0.5)
    answer = ask.run(epsilon=0.5)

**Guarantee**: a run is charged once at most, however often the connection is lost (see ``remote.py``). With `key`, the
ledger's public key known from elsewhere, every answer's receipt is verified before it is returned.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from sordino.errors import ArgumentError
from sordino.ledger.receipt import Receipt
from sordino.serve.questions.told import ToldAnswer

from .asks import RemoteAsk, RemoteTable, table_afar
from .remote import Remote, Told, part

if TYPE_CHECKING:
    import httpx

_SECONDS = 60.0
_IDLE = 2.0
"""An idle connection is given up after so many seconds: a request that crosses the server's own end of it is lost."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _quiet(_: str) -> None:
    """Tell nobody."""


class RemoteAccount:
    """A data set of a service, with everything that is asked about it charged to its budget there."""

    def __init__(self, house: Connection, name: str) -> None:
        self.house = house
        self.name = name

    def sql(self, text: str) -> RemoteAsk:
        """Return the question that the text asks."""
        return RemoteAsk(self.house, self.name, text)

    def table(self, name: str) -> RemoteTable:
        """Return a table to ask about by method calls: ``.group_by("city").agg(rides=so.count())``.

        What is publicly known is fetched, so that mistakes are found here, where they are made.
        """
        return table_afar(self.house, self.name, self.metadata, name)

    @property
    def metadata(self) -> dict[str, Any]:
        """What is publicly known about the data set: who is protected, tables, columns, policy."""
        return self.house.remote.get(f"/datasets/{part(self.name)}")

    @property
    def budget(self) -> dict[str, Any]:
        """The budget: cap, used part, what remains, who used it, the budget over time."""
        return self.house.remote.budget(self.name)

    @property
    def remaining(self) -> str:
        """The largest events that would still fit, in words."""
        return str(self.budget["remaining"])

    @property
    def history(self) -> list[dict[str, Any]]:
        """The newest releases that may be seen, without their answers."""
        return list(self.house.remote.get("/releases", dataset=self.name)["releases"])

    def __repr__(self) -> str:
        return f"{self.name} at {self.house.url}"


class Connection:
    """A service and whoever has the token. Build it with `connect`; close it, or use it in a ``with``."""

    def __init__(self, http: httpx.Client, *, key: str | None = None, stage: Told = _quiet, **pausing: Any) -> None:
        self.url = str(http.base_url)
        self.remote = Remote(http, **pausing)
        self.key = key
        self.stage = stage

    def datasets(self) -> list[str]:
        """Return the names of the data sets that the token may know of."""
        return [each["name"] for each in self.remote.datasets()]

    def account(self, dataset: str | None = None) -> RemoteAccount:
        """Return a data set that can be asked; the only one that there is, if no name is given."""
        return RemoteAccount(self, the_one(self.datasets(), dataset))

    def sql(self, text: str) -> RemoteAsk:
        """Return a question about the only data set that the token may know of."""
        return self.account().sql(text)

    def table(self, name: str) -> RemoteTable:
        """Return a table of the only data set that the token may know of."""
        return self.account().table(name)

    def answer(self, identifier: str) -> ToldAnswer:
        """Return what was released before, by its id; costs nothing."""
        return ToldAnswer(self.remote.get(f"/releases/{part(identifier)}")["answer"], self.remote.receipt(identifier))

    def receipt(self, identifier: str) -> Receipt:
        """Return the receipt of a release, under the newest checkpoint."""
        return Receipt.from_json(self.remote.receipt(identifier))

    def jobs(self) -> list[dict[str, Any]]:
        """Return the newest jobs: runs that took long, and how far they are."""
        return list(self.remote.get("/jobs")["jobs"])

    def stop(self, job: str) -> dict[str, Any]:
        """Stop a job in a process of its own; what was charged stays charged."""
        return self.remote.change_job(job, "stop")

    def resume(self, job: str) -> dict[str, Any]:
        """Go on with a job that was stopped, or whose process died; only what is charged in tranches pays on."""
        return self.remote.change_job(job, "resume")

    def close(self) -> None:
        """Give the connection back."""
        self.remote.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Connection({self.url})"


def connect(
    url: str | None = None, token: str | None = None, *, key: str | None = None, stage: Told = _quiet
) -> Connection:
    """Return a connection to a service; URL and token may stand in ``SORDINO_URL`` and ``SORDINO_TOKEN``.

    `key` is the public key of the service's ledger: give it, and every receipt is verified. `stage` is told how far a
    run is.
    """
    return Connection(
        http_client(url or os.environ.get("SORDINO_URL"), token or os.environ.get("SORDINO_TOKEN")),
        key=key,
        stage=stage,
    )


def http_client(url: str | None, token: str | None) -> httpx.Client:
    """Return a connection that carries the token; never in the clear over a network."""
    try:
        import httpx
    except ImportError:
        raise ArgumentError("a connection needs an extra: pip install 'sordino[serve]'", "SRD-A005") from None
    if not url or not token:
        raise ArgumentError("give the url of a service and a token, which its owner issues", "SRD-A003")
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise ArgumentError("the url must begin with https://, or the token would travel in the clear", "SRD-A002")
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=_IDLE)
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=_SECONDS, limits=limits)


def the_one(names: list[str], given: str | None) -> str:
    """Return the data set that is meant: the one named, or the only one."""
    if given is not None:
        return given
    if len(names) != 1:
        there = f"there are {', '.join(names)}" if names else "there is none yet"
        raise ArgumentError(f"say which data set is meant; {there}", "SRD-A003")
    return names[0]
