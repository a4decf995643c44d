"""Whole publications: synthetic tables, hierarchies, maps, mobility, graphs, genomes, workloads of queries.

What they share, from the ground up:

    words.py        how a publication may be asked for: what to spend, how sure intervals are
    spending.py     what is spent: pure ε, or ρ, and as what an account is charged for it
    price.py        what it costs, and how far off it will be
    measuring.py    tables, met as marginals over public cells: exact counts in, noise at once
    released.py     what comes out: a manifest, and files that it names by their digests
    files.py        arrays and tables as bytes
    publication.py  a recipe for an account: price, plan, run
    picturing.py    what all drawings share
    recipes.py      the table of recipes, for services and the command line; loading.py: saved ones, made again

Recipes, none of which knows another: ``tables/`` (synthetic rows), ``hierarchies/`` (trees of places), ``places/``
(maps, mobility), ``graphs/``, ``genomes/``, ``workloads/``. Each says what it needs from the data before it sees any.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .hierarchies.recipe import hierarchy
    from .hierarchies.tree import tree
    from .loading import load

_HOME: dict[str, str] = {
    "hierarchy": "hierarchies.recipe",
    "load": "loading",
    "tree": "hierarchies.tree",
}

__all__ = ["hierarchy", "load", "tree"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
