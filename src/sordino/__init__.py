"""sordino: differential privacy on one ledger. A *sordino* is the mute of a violin: the music still comes through.

A map of the house, from the ground up (upper rooms may import lower ones, never the other way):

``noise``       exact randomness; the only room that touches entropy
``accounting``  what privacy costs: units, bounds, events, curves, composition, calibration, budgets and filters
``mechanisms``  noise and accounting together: each adds noise and names its own event
``ledger``      the durable, tamper-evident record of every price paid
``data``        what is protected: data sets, units, neighbouring relations, declarations, sources
``query``       questions about tables: SQL and dataframes, on any engine, one person protected whatever the rows
``learn``       models: private training, estimators, teachers, predictions, federation
``collect``     data that arrives: surveys of devices, shuffled reports, two servers, streams, alerts
``publish``     whole publications: synthetic tables, hierarchies, maps, mobility, graphs, genomes, workloads
``gate``        plan, price, reserve, run, settle: the one way to a release
``serve``       the skins: a ledger on one machine, the command line, the service and its client
``audit``       attacks on others and on ourselves; what a stranger can verify

The way of a question: it becomes a frozen *plan*; its *price* is known before data is touched; the *account* charges it
and gives a *grant*; it is run once for that grant, what comes out is noisy, and its *receipt* proves the charge.

>>> import pyarrow as pa
>>> import sordino as so
>>> table = pa.table({"rider": [1, 1, 2], "fare": [9.0, 5.0, 7.0]})
>>> rides = so.dataset("rides", table, unit="rider", columns={"fare": so.bounds(0, 100)}, limits=so.limits(rows=2))
>>> budget = so.account(rides, so.budget(epsilon=1))
>>> answer = budget.sql("SELECT COUNT(*) AS rides, AVG(fare) AS fare FROM rides").run(epsilon=0.5)
>>> answer.names
['rides', 'fare']

Everything here is imported when first asked for, so ``import sordino`` costs next to nothing.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import VERSION

if TYPE_CHECKING:
    from . import (  # not audit: what is below it may import this
        accounting,
        collect,
        learn,
        mechanisms,
        noise,
        publish,
        query,
    )
    from .accounting.account import Account, unlimited
    from .accounting.bound import ROW, Bound, Unit
    from .accounting.budget import Budget, budget
    from .accounting.event import Event
    from .accounting.explain import explain
    from .accounting.neighbours import Neighbours
    from .data.by_day import days
    from .data.dataset import dataset
    from .data.declarations_file import dataset_from_file
    from .data.declare import bounds, column, keys, limits, personal, private, public
    from .data.smartnoise import dataset_from_smartnoise
    from .data.sources import source
    from .query.ask import account
    from .query.frame.aggregates import (
        correlation,
        count,
        count_distinct,
        count_people,
        covariance,
        deviation,
        histogram,
        maximum,
        mean,
        median,
        minimum,
        quantile,
        regression,
        sum,  # noqa: A004  (only for who reads types; users write so.sum)
        top,
        variance,
    )
    from .query.frame.expression import col, lit
    from .query.frame.when import when
    from .query.frame.windows import lag, lead, rank, row_number
    from .query.model.bounding import bounding
    from .query.words import within
    from .serve.afar.client import connect
    from .serve.local import open  # noqa: A004

__version__ = VERSION

_HOME = {
    "ROW": "accounting.bound",
    "Account": "accounting.account",
    "Bound": "accounting.bound",
    "Budget": "accounting.budget",
    "Event": "accounting.event",
    "Neighbours": "accounting.neighbours",
    "Unit": "accounting.bound",
    "account": "query.ask",
    "open": "serve.local",
    "bounding": "query.model.bounding",
    "bounds": "data.declare",
    "budget": "accounting.budget",
    "col": "query.frame.expression",
    "column": "data.declare",
    "connect": "serve.afar.client",
    "correlation": "query.frame.aggregates",
    "count": "query.frame.aggregates",
    "count_distinct": "query.frame.aggregates",
    "count_people": "query.frame.aggregates",
    "covariance": "query.frame.aggregates",
    "dataset": "data.dataset",
    "days": "data.by_day",
    "source": "data.sources",
    "dataset_from_file": "data.declarations_file",
    "dataset_from_smartnoise": "data.smartnoise",
    "deviation": "query.frame.aggregates",
    "explain": "accounting.explain",
    "histogram": "query.frame.aggregates",
    "keys": "data.declare",
    "lag": "query.frame.windows",
    "lead": "query.frame.windows",
    "limits": "data.declare",
    "lit": "query.frame.expression",
    "maximum": "query.frame.aggregates",
    "mean": "query.frame.aggregates",
    "median": "query.frame.aggregates",
    "minimum": "query.frame.aggregates",
    "personal": "data.declare",
    "private": "data.declare",
    "public": "data.declare",
    "quantile": "query.frame.aggregates",
    "rank": "query.frame.windows",
    "regression": "query.frame.aggregates",
    "row_number": "query.frame.windows",
    "sum": "query.frame.aggregates",
    "top": "query.frame.aggregates",
    "unlimited": "accounting.account",
    "variance": "query.frame.aggregates",
    "when": "query.frame.when",
    "within": "query.words",
}
_ROOMS = ("accounting", "audit", "collect", "data", "learn", "mechanisms", "noise", "publish", "query")

__all__ = [
    "ROW",
    "Account",
    "Bound",
    "Budget",
    "Event",
    "Neighbours",
    "Unit",
    "account",
    "accounting",
    "audit",
    "bounding",
    "bounds",
    "budget",
    "col",
    "collect",
    "column",
    "connect",
    "correlation",
    "count",
    "count_distinct",
    "count_people",
    "covariance",
    "dataset",
    "dataset_from_file",
    "dataset_from_smartnoise",
    "days",
    "deviation",
    "explain",
    "histogram",
    "keys",
    "lag",
    "lead",
    "learn",
    "limits",
    "lit",
    "maximum",
    "mean",
    "mechanisms",
    "median",
    "minimum",
    "noise",
    "open",
    "personal",
    "private",
    "public",
    "publish",
    "quantile",
    "query",
    "rank",
    "regression",
    "row_number",
    "source",
    "sum",
    "top",
    "unlimited",
    "variance",
    "when",
    "within",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return _imported(name)
    if name in _HOME:
        return getattr(_imported(_HOME[name]), name)
    raise AttributeError(f"sordino has no {name!r}; it has {', '.join(__all__)}")


def _imported(name: str) -> Any:
    """Import a module without looking for garbage meanwhile: what modules define stays, and takes long to walk."""
    collects = gc.isenabled()
    gc.disable()
    try:
        return import_module(f"{__name__}.{name}")
    finally:
        if collects:
            gc.enable()


def __dir__() -> list[str]:
    return __all__
