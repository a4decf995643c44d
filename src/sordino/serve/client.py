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
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from sordino.errors import ArgumentError
from sordino.ledger.receipt import Receipt, verify_receipt
from sordino.query.frame.draft import Arranged, Draft
from sordino.query.frame.frame import Frame
from sordino.query.frame.written import check_it_travels
from sordino.query.model.bounding import Bounding
from sordino.query.release.goal import Within

from .public_schema import schema_of
from .remote import Remote, Told, part
from .told import ToldAnswer, ToldPrice

if TYPE_CHECKING:
    import httpx

_SECONDS = 60.0
_IDLE = 2.0
"""An idle connection is given up after so many seconds: a request that crosses the server's own end of it is lost."""
_AMOUNTS = ("epsilon", "rho", "noise", "delta")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _quiet(_: str) -> None:
    """Tell nobody."""


class RemoteAsk:
    """A question about a data set of a service, ready to be priced and run with the words of `Ask`."""

    _field = "sql"

    def __init__(self, account: RemoteAccount, text: str) -> None:
        self._account = account
        self.text = text

    def price(self, **words: Any) -> ToldPrice:
        """Return the cost and the error to expect in every column; touches no data and charges nothing."""
        return ToldPrice.of(self._account.house.remote.price(self._question(words)))

    def run(self, *, key: str | None = None, **words: Any) -> ToldAnswer:
        """Charge the price, then return the noisy answer.

        `key` is the idempotency key, a new one if it is left out: the same question under the same key is answered and
        charged once, whoever sends it again.
        """
        house = self._account.house
        found = house.remote.run(self._question(words), key, house.stage)
        answer = ToldAnswer(found["answer"], found["receipt"])
        if house.key is not None:
            verify_receipt(answer.proof, house.key, answer.to_json().encode())
        return answer

    def _question(self, words: Mapping[str, Any]) -> dict[str, Any]:
        return question(self._account.name, self.text, words, self._field)

    def __repr__(self) -> str:
        return f"RemoteAsk({self.text!r})"


class RemoteFrameAsk(Arranged, RemoteAsk):
    """A question that was built by method calls, with what can still be done to its answer. Its text travels.

    **Guarantee**: the service reads the same question from the text; what would read otherwise is refused here.
    """

    _field = "calls"

    def __init__(self, account: RemoteAccount, draft: Draft) -> None:
        check_it_travels(draft.text, draft)
        super().__init__(account, draft.text)
        self._draft = draft

    def _redrafted(self, draft: Draft) -> Self:
        return type(self)(self._account, draft)


class RemoteAccount:
    """A data set of a service, with everything that is asked about it charged to its budget there."""

    def __init__(self, house: Connection, name: str) -> None:
        self.house = house
        self.name = name

    def sql(self, text: str) -> RemoteAsk:
        """Return the question that the text asks."""
        return RemoteAsk(self, text)

    def table(self, name: str) -> Frame[RemoteFrameAsk]:
        """Return a table to ask about by method calls: ``.group_by("city").agg(rides=so.count())``.

        What is publicly known is fetched, so that mistakes are found here, where they are made.
        """
        return Frame.over(schema_of(self.metadata), name, partial(RemoteFrameAsk, self))

    @property
    def metadata(self) -> dict[str, Any]:
        """What is publicly known about the data set: who is protected, tables, columns, policy."""
        return self.house.remote.get(f"/datasets/{part(self.name)}")

    @property
    def budget(self) -> dict[str, Any]:
        """The budget: cap, used part, what remains, who used it, how it went down."""
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

    def table(self, name: str) -> Frame[RemoteFrameAsk]:
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


def question(dataset: str, text: str, words: Mapping[str, Any], field: str = "sql") -> dict[str, Any]:
    """Return a question as a service takes it, from the words of `Ask.price`; `field` is sql or calls."""
    asked: dict[str, Any] = {"dataset": dataset, field: text}
    further: dict[str, Any] = {}
    for name, value in words.items():
        if value is None:
            continue
        place = asked if name in (*_AMOUNTS, "error", "project") else further
        place[name] = _plain(value)
    return asked | ({"words": further} if further else {})


def the_one(names: list[str], given: str | None) -> str:
    """Return the data set that is meant: the one named, or the only one."""
    if given is not None:
        return given
    if len(names) != 1:
        there = f"there are {', '.join(names)}" if names else "there is none yet"
        raise ArgumentError(f"say which data set is meant; {there}", "SRD-A003")
    return names[0]


def _plain(value: Any) -> Any:
    """Return what JSON can hold; exact numbers as texts."""
    match value:
        case Within():
            goal = {"within": _plain(value.amount), "of": value.of, "confidence": _plain(value.confidence)}
            return goal | ({} if value.size is None else {"size": value.size})
        case Bounding():
            limits = {name: getattr(value, name) for name in ("rows", "groups", "rows_per_group")}
            return {"method": value.method} | {name: each for name, each in limits.items() if each is not None}
        case Fraction():
            return _decimal(value)
        case Decimal():
            return str(value)
        case Mapping():
            return {name: _plain(each) for name, each in value.items()}
    return value


def _decimal(exact: Fraction) -> str:
    """Return the decimal text of a fraction; services read decimals alone, so that what is charged is what is said."""
    text = f"{Decimal(exact.numerator) / Decimal(exact.denominator):f}"
    if Fraction(text) != exact:
        raise ArgumentError(f"{exact} has no short decimal, and a service reads decimals; give one", "SRD-A001")
    return text
