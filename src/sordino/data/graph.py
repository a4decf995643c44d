"""A graph that is protected: by its edges (who knows whom) or by its nodes (a person with all edges).

**Edges** (`unit="edge"`): neighbours differ by one edge; which nodes there are is public. **Nodes** (`unit="node"`):
neighbours differ by one node and all edges at it; how many nodes there are is private.

What only the data shows is repaired, edge by edge: directions are dropped, an edge that is written twice is one, an
edge from a node to itself is left out, and so is one with an end that is not among the declared nodes.

**Guarantee**: each repair looks at one edge alone, so neighbours stay neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sordino.accounting.bound import Unit
from sordino.accounting.neighbours import Neighbours
from sordino.arguments import one_of, whole
from sordino.errors import ArgumentError

from .edge_lists import EdgeList, edge_list
from .ownership import checked_name

MOST_NODES = 2**31
EDGE, NODE = Unit("edge"), Unit("node")


@dataclass(frozen=True)
class Edges:
    """The edges of a graph, repaired: secret. Nodes with an edge are numbered from 0; others are not told of."""

    ends: NDArray[np.int64] = field(repr=False)
    """Two columns, the lower number first; each edge once."""
    nodes: int = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with its name, whom it protects, and which nodes there may be."""

    name: str
    unit: Unit
    nodes: int | None
    """How many nodes there may be, if that is declared."""
    _names: pa.Array | None = field(repr=False)
    _source: EdgeList = field(repr=False)

    @property
    def neighbours(self) -> Neighbours:
        """One edge, or one node with its edges, is there or not."""
        return Neighbours.ADD_REMOVE

    def check_ready(self) -> None:
        """Raise `SourceError` if the file of edges is gone or is no such file; asked before every charge."""
        self._source.check_ready(self.name)

    def edges(self) -> Edges:
        """Return all edges: secret until they have met noise."""
        one, other = self._source.read()
        coded = pa.concat_arrays([one, other])
        if self.nodes is None:
            places = coded.dictionary_encode().indices
        elif self._names is not None:
            places = pc.index_in(coded, self._names)
        else:
            places = _numbered(coded, self.nodes)
        numbers = pc.fill_null(places.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
        return _repaired(np.stack(np.split(numbers, 2), axis=1))

    def __repr__(self) -> str:
        known = "nodes that are not declared" if self.nodes is None else f"{self.nodes:,} nodes at most"
        return f"Graph({self.name!r}, protects each {self.unit.name}, {known})"


def graph(
    name: str, source: Any, *, unit: Literal["edge", "node"], nodes: int | Iterable[int | str] | None = None
) -> Graph:
    """Declare a graph: where its edges are, and whether an edge or a node with all its edges is protected.

    `source` is a path (.txt, .csv, .tsv or .edges, each also with .gz; .parquet) or a pandas, polars or Arrow table
    with the two ends in its first two columns, or an array of two columns of whole numbers. `nodes` says publicly which
    nodes there may be: a number n, if they are called 0 to n − 1, or a list of names; edges at others are left out.

    **Guarantee**: no edge is read here.
    **Assumes**: `nodes` is public, and with `unit="edge"` it is no secret who is a node. Edges are undirected.
    """
    checked_name("the graph's name", name)
    protects = EDGE if one_of("unit", unit, ("edge", "node")) == "edge" else NODE
    if nodes is None or isinstance(nodes, int | np.integer):
        count = None if nodes is None else whole("nodes", nodes, least=2, most=MOST_NODES)
        return Graph(name, protects, count, None, edge_list(name, source))
    if isinstance(nodes, str) or not isinstance(nodes, Iterable):
        raise ArgumentError("nodes must be how many there may be, or a list of their names", "SRD-A001")
    names = pa.array([str(each) for each in nodes], pa.large_string()).unique()
    whole("the number of nodes", len(names), least=2, most=MOST_NODES)
    return Graph(name, protects, len(names), names, edge_list(name, source))


def _numbered(names: pa.Array, nodes: int) -> pa.Array:
    """Return names as numbers below `nodes`; null for any other name."""
    plain = pc.match_substring_regex(names, r"^(0|[1-9][0-9]{0,9})$")
    numbers = pc.if_else(plain, names, pa.scalar(None, pa.large_string())).cast(pa.int64())
    return pc.if_else(pc.less(numbers, nodes), numbers, pa.scalar(None, pa.int64()))


def _repaired(ends: NDArray[np.int64]) -> Edges:
    """Return each edge between two known nodes once."""
    known = ends[(ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])]
    nodes, places = np.unique(known, return_inverse=True)
    numbered = np.sort(places.reshape(-1, 2), axis=1)
    both = np.unique(numbered[:, 0] * len(nodes) + numbered[:, 1])
    size = max(len(nodes), 1)
    return Edges(np.stack([both // size, both % size], axis=1), len(nodes))
