"""Counts of a graph, ready to be published: edges, triangles, stars, clustering; for edges or for nodes.

>>> import numpy as np
>>> import sordino as so
>>> friends = so.publish.graph("friends", np.array([[0, 1], [1, 2], [0, 2], [2, 3]]), unit="edge", nodes=4)
>>> account = so.account(friends, so.budget(epsilon=1))
>>> so.publish.triangles(account).price(epsilon=1).fits
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sordino.arguments import one_of, whole
from sordino.data.account import DataAccount
from sordino.data.graph import EDGE, Graph
from sordino.data.graph import graph as graph
from sordino.errors import ArgumentError
from sordino.keywords import check_names
from sordino.publish.publication import Publication
from sordino.publish.spending import Form, Spend

from .edge_design import EdgeCount, EdgeDesign, edge_counts
from .node_design import NodeCount, NodeDesign
from .release import Counts, counts_again

_WHAT = ("edges", "triangles", "stars", "clustering")
_LARGEST_STAR = 20
_LARGEST_CAP = 2**40


def edges(account: DataAccount[Any], *, caps: tuple[int, int] | None = None) -> Publication[Counts]:
    """Return a publication of how many edges there are; `caps` as in `triangles`."""
    return Publication(account, _recipe(account.protected, "edges", 2, caps))


def triangles(account: DataAccount[Any], *, caps: tuple[int, int] | None = None) -> Publication[Counts]:
    """Return a publication of how many triangles there are.

    Where nodes are protected, no node counts in more triangles than a cap; powers of two between the two `caps` are
    tried, and one is chosen privately. Left out, they go from four times the number of nodes that may be to the most
    that there can be at one node. Name closer ones if you can: a choice among few is better, and caps that are far too
    small take long to compute.

    **Guarantee**: pure ε for the graph's unit: one edge, or one node with all its edges.
    """
    return Publication(account, _recipe(account.protected, "triangles", 2, caps))


def stars(account: DataAccount[Any], *, size: int = 2, caps: tuple[int, int] | None = None) -> Publication[Counts]:
    """Return a publication of how many stars of `size` edges there are: a node, and so many of its neighbours.

    Where nodes are protected, `size` is 2; `caps` as in `triangles`.
    """
    return Publication(account, _recipe(account.protected, "stars", size, caps))


def clustering(account: DataAccount[Any], *, caps: tuple[int, int] | None = None) -> Publication[Counts]:
    """Return a publication of the clustering coefficient: which part of stars of two edges is closed to triangles.

    Half of ε is for triangles, half for stars; both counts come out. `caps`, as in `triangles`, are for both.
    """
    return Publication(account, _recipe(account.protected, "clustering", 2, caps))


@dataclass(frozen=True)
class Counting:
    """Some count of a graph."""

    what: str
    size: int
    caps: tuple[int, int] | None
    counts: tuple[EdgeCount, ...] | tuple[NodeCount, ...]

    name: ClassVar[str] = "graph-count"
    forms: ClassVar[tuple[Form, ...]] = ("pure",)
    adapts: ClassVar[bool] = False

    def design(self, spend: Spend) -> EdgeDesign | NodeDesign:
        """Return the counts with their noise."""
        edge = tuple(each for each in self.counts if isinstance(each, EdgeCount))
        node = tuple(each for each in self.counts if isinstance(each, NodeCount))
        return EdgeDesign.of(edge, spend) if edge else NodeDesign.of(node, spend)

    def plain(self) -> dict[str, Any]:
        """Return the parameters."""
        found: dict[str, Any] = {"what": self.what}
        if self.what == "stars":
            found["size"] = self.size
        return found | ({"caps": list(self.caps)} if self.caps is not None else {})


def read(protected: Any, plain: Mapping[str, Any]) -> Counting:
    """Return the recipe from plain parameters: what, and size or caps where there are any."""
    check_names(plain, ("what", "size", "caps"), "a graph's count has no word")
    caps = plain.get("caps")
    return _recipe(protected, plain.get("what"), plain.get("size", 2), None if caps is None else tuple(caps))


def load(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> Counts:
    """Return counts that were saved."""
    del files
    return counts_again(manifest)


def _recipe(protected: Any, what: Any, size: Any, caps: Any) -> Counting:
    kind = one_of("what", what, _WHAT)
    check_graph(protected)
    edges_each = whole("size", size, least=2, most=_LARGEST_STAR)
    if protected.unit == EDGE:
        if caps is not None:
            raise ArgumentError("caps are for graphs whose nodes are protected; leave them out here", "SRD-P503")
        return Counting(kind, edges_each, None, edge_counts(kind, edges_each, protected.nodes))
    if edges_each != 2:
        raise ArgumentError(
            "where nodes are protected only stars of two edges are counted; ask for size=2, or declare the graph with "
            'unit="edge"',
            "SRD-P504",
        )
    names = ("triangles", "stars") if kind == "clustering" else (kind,)
    return Counting(kind, 2, caps, tuple(NodeCount(each, _caps(each, caps, protected.nodes)) for each in names))


def check_graph(protected: Any) -> None:
    """Refuse anything but a graph."""
    if not isinstance(protected, Graph):
        raise ArgumentError("this is published of a graph: open the account for so.publish.graph(…)", "SRD-P501")


def _caps(what: str, caps: Any, nodes: int | None) -> tuple[int, ...]:
    """Return powers of two from the least cap to the largest."""
    if caps is None:
        if nodes is None:
            raise ArgumentError(
                "how many patterns may there be at one node? Say caps=(least, most), or how many nodes there may be "
                "with graph(…, nodes=…)",
                "SRD-P503",
            )
        at_one = {"edges": nodes - 1, "triangles": (nodes - 1) * (nodes - 2) // 2, "stars": 3 * nodes**2 // 2}[what]
        caps = (8 if what == "edges" else 4 * nodes, at_one)
        caps = (min(caps), max(caps))
    if not isinstance(caps, tuple) or len(caps) != 2:
        raise ArgumentError("caps must be two whole numbers: (least, most)", "SRD-P503")
    least = whole("the least cap", caps[0], least=1, most=_LARGEST_CAP)
    most = whole("the largest cap", caps[1], least=least)
    top = min(most, _LARGEST_CAP)
    return tuple(2**power for power in range((least - 1).bit_length(), (top - 1).bit_length() + 1))
