"""Metrics for Prometheus: how much is asked, how it ends, how long it takes, how much of each budget is used.

Labels are routes (as templates), methods, statuses and names of data sets: none of them comes from data or a question.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from sordino.errors import SordinoError
from sordino.serve.asking.premises import Premises
from sordino.serve.telling.budgets import summary

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "sordino_requests",
            "Requests by route, method and status.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "sordino_request_seconds", "How long requests took.", ("route",), registry=self._registry
        )
        self._frozen = Gauge("sordino_ledger_frozen", "1 if the ledger is frozen.", registry=self._registry)
        self._size = Gauge("sordino_ledger_entries", "Entries in the ledger.", registry=self._registry)
        self._used = Gauge(
            "sordino_budget_used", "The used part of each data set's budget.", ("dataset",), registry=self._registry
        )

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self, house: Premises) -> bytes:
        """Return the page that Prometheus reads."""
        try:
            self._size.set(house.ledger.size)
            for name in house.registry.names():
                found = summary(house, name)
                self._used.labels(name).set(0 if found is None else found["used"])
        except SordinoError:
            pass  # the next line says that it is frozen, which is all there is to say
        self._frozen.set(house.ledger.frozen is not None)
        return generate_latest(self._registry)
