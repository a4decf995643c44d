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
    nested.py       noisy counts of cells and of groups of cells, made into one estimate; intervals.py: how far off
    recipes.py      the table of recipes, for services and the command line; loading.py: saved ones, made again

Recipes, none of which knows another: ``tables/`` (synthetic rows), ``hierarchies/`` (trees of places), ``places/``
(maps), ``movement/`` (mobility), ``graphs/``, ``genomes/``, ``workloads/`` (ranges and marginals). Each says what it
needs from the data before it sees any.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .genomes.association import top_snps
    from .genomes.frequency import frequencies, genotypes
    from .graphs.counting import clustering, edges, graph, stars, triangles
    from .graphs.sequence import degrees
    from .hierarchies.recipe import hierarchy
    from .hierarchies.tree import tree
    from .loading import load
    from .movement.alerts import mobility_alerts
    from .movement.recipe import mobility
    from .places.map_recipe import heat_map
    from .tables.answers import answers, those
    from .tables.constraints import at_most, between, determines, never
    from .tables.recipe import synthetic
    from .tables.workload import combinations, pairs, triples
    from .workloads.margin_recipe import marginals
    from .workloads.range_recipe import ranges

_HOME: dict[str, str] = {
    "answers": "tables.answers",
    "at_most": "tables.constraints",
    "between": "tables.constraints",
    "combinations": "tables.workload",
    "clustering": "graphs.counting",
    "degrees": "graphs.sequence",
    "determines": "tables.constraints",
    "edges": "graphs.counting",
    "frequencies": "genomes.frequency",
    "genotypes": "genomes.frequency",
    "graph": "graphs.counting",
    "heat_map": "places.map_recipe",
    "hierarchy": "hierarchies.recipe",
    "load": "loading",
    "marginals": "workloads.margin_recipe",
    "mobility": "movement.recipe",
    "mobility_alerts": "movement.alerts",
    "never": "tables.constraints",
    "pairs": "tables.workload",
    "ranges": "workloads.range_recipe",
    "stars": "graphs.counting",
    "synthetic": "tables.recipe",
    "those": "tables.answers",
    "top_snps": "genomes.association",
    "tree": "hierarchies.tree",
    "triangles": "graphs.counting",
    "triples": "tables.workload",
}

__all__ = [
    "answers",
    "at_most",
    "between",
    "clustering",
    "combinations",
    "degrees",
    "determines",
    "edges",
    "frequencies",
    "genotypes",
    "graph",
    "heat_map",
    "hierarchy",
    "load",
    "marginals",
    "mobility",
    "mobility_alerts",
    "never",
    "pairs",
    "ranges",
    "stars",
    "synthetic",
    "those",
    "top_snps",
    "tree",
    "triangles",
    "triples",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
