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

Recipes, none of which knows another: ``tables/`` (synthetic rows), ``hierarchy/`` (trees of places), ``places/`` (maps,
mobility), ``graphs/``, ``genomes/``, ``workloads/``. Each says what it needs from the data before it sees any.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .genomes.association import top_snps
    from .genomes.frequency import frequencies, genotypes
    from .graphs.counting import clustering, edges, graph, stars, triangles
    from .graphs.sequence import degrees
    from .loading import load

_HOME: dict[str, str] = {
    "clustering": "graphs.counting",
    "degrees": "graphs.sequence",
    "edges": "graphs.counting",
    "frequencies": "genomes.frequency",
    "genotypes": "genomes.frequency",
    "graph": "graphs.counting",
    "load": "loading",
    "stars": "graphs.counting",
    "top_snps": "genomes.association",
    "triangles": "graphs.counting",
}

__all__ = [
    "clustering",
    "degrees",
    "edges",
    "frequencies",
    "genotypes",
    "graph",
    "load",
    "stars",
    "top_snps",
    "triangles",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
