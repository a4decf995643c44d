"""Graphs as a sort of data: what their declarations say, and what is public about them.

::

    name: friends
    sort: graph
    unit: edge                 # or node: a person with all edges
    file: edges.txt            # or .csv, .tsv, .edges, each also with .gz; .parquet
    nodes: 4039                # how many there may be, called 0 to 4038; or a list of their names
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.data.declarations_file import head
from sordino.data.edge_lists import EdgeList
from sordino.data.graph import EDGE, NODE, Graph, graph
from sordino.errors import ArgumentError
from sordino.serve.kinds.sort import Sort

_WORDS = ("file", "nodes")
_MOST_LISTED = 100_000


@dataclass(frozen=True)
class Declared:
    """What is declared about a graph: all of it is public."""

    name: str
    unit: Unit
    neighbours: Neighbours
    file: str
    nodes: int | tuple[str, ...] | None


def read(plain: Mapping[str, Any], directory: Path) -> Declared:
    """Return what declarations say; opens nothing."""
    said, rest = head(plain, _WORDS, ("file",))
    if said.unit not in (EDGE, NODE) or said.neighbours is not Neighbours.ADD_REMOVE:
        raise ArgumentError(
            "a graph protects each edge or each node, which is there or not: say unit: edge, or unit: node", "SRD-A006"
        )
    if not isinstance(rest["file"], str):
        raise ArgumentError("file must name the file of edges", "SRD-A006")
    return Declared(said.name, said.unit, said.neighbours, str(directory / rest["file"]), _nodes(rest.get("nodes")))


def _nodes(given: Any) -> int | tuple[str, ...] | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool)):
        return given
    if not isinstance(given, list) or not all(isinstance(each, str | int) for each in given):
        raise ArgumentError("nodes must be how many there may be, or a list of their names", "SRD-A006")
    if len(given) > _MOST_LISTED:
        raise ArgumentError(f"more than {_MOST_LISTED:,} nodes are declared by their number alone", "SRD-A006")
    return tuple(map(str, given))


def _open(declared: Declared) -> Graph:
    return graph(declared.name, declared.file, unit="edge" if declared.unit == EDGE else "node", nodes=declared.nodes)


def _outline(found: Graph) -> Graph:
    """Return the graph without its edges."""
    return replace(found, _source=EdgeList())


GRAPHS = Sort(
    name="graph",
    read=read,
    sources=lambda declared: {"the edges": declared.file},
    open=_open,
    outline=_outline,
    public=lambda found: {"nodes": found.nodes, "protects": f"each {found.unit.name}"},
)
