"""The table of recipes: by name, the module that reads one from plain parameters, and makes a saved release again.

Services, the command line and `load` know recipes by this table and in no other way.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from sordino.arguments import one_of

RECIPES: dict[str, str] = {
    "allele-frequencies": "genomes.frequency",
    "answers": "tables.answers",
    "graph-count": "graphs.counting",
    "graph-degrees": "graphs.sequence",
    "heat-map": "places.map_recipe",
    "hierarchy": "hierarchies.plain",
    "marginals": "workloads.margin_recipe",
    "mobility": "movement.recipe",
    "mobility-alerts": "movement.alerts",
    "ranges": "workloads.range_recipe",
    "synthetic": "tables",
    "top-snps": "genomes.association",
}
"""From a recipe's name to its module, which has `read(protected, plain)` and `load(manifest, files)`."""


def read(name: str, protected: Any, plain: Mapping[str, Any]) -> Any:
    """Return the recipe of this name for what is protected, from its parameters as JSON has them."""
    return _module(name).read(protected, plain)


def again(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Any:
    """Return a release as it was, from its manifest and its files."""
    return _module(str(manifest.get("recipe"))).load(manifest, files)


def _module(name: str) -> Any:
    return import_module(f".{RECIPES[one_of('recipe', name, tuple(RECIPES))]}", __package__)
