"""What one edge changes, over every pair of neighbours on five nodes: both properties that a ladder stands on."""

from __future__ import annotations

import pytest

from publish.graphs.every_graph import all_graphs, ends_of, one_edge_more, triangles_by_hand
from sordino.publish.graphs.local_sensitivities import of_stars, of_triangles
from sordino.publish.graphs.patterns import star_count

NODES, FAR = 5, 8


@pytest.fixture(scope="module")
def triangles() -> dict:
    return {g: (triangles_by_hand(g, NODES), of_triangles(ends_of(g), NODES, FAR)) for g in all_graphs(NODES)}


@pytest.fixture(scope="module", params=[(2, 4), (3, 4), (2, 2), (3, 3)])
def stars(request: pytest.FixtureRequest) -> dict:
    size, most = request.param
    found = {}
    for graph in all_graphs(NODES):
        ends = ends_of(graph)
        found[graph] = star_count(ends, NODES, size, most), of_stars(ends, NODES, size, most, FAR)
    return found


def check(known: dict) -> None:
    for graph, (count, near) in known.items():
        for other in one_edge_more(graph, NODES):
            its_count, its_near = known[other]
            moved = abs(count - its_count)
            assert moved <= near[0]
            assert moved <= its_near[0]
            assert (near[:-1] <= its_near[1:]).all()
            assert (its_near[:-1] <= near[1:]).all()


def test_triangles(triangles: dict) -> None:
    check(triangles)


def test_stars(stars: dict) -> None:
    check(stars)


def test_the_check_can_fail(triangles: dict) -> None:
    with pytest.raises(AssertionError):
        check({graph: (count, near - 1) for graph, (count, near) in triangles.items()})
    with pytest.raises(AssertionError):  # sensitivities that do not grow with the distance
        check({graph: (count, near * 0 + near[0]) for graph, (count, near) in triangles.items()})


def test_triangles_are_exact_up_to_what_no_edge_can_do(triangles: dict) -> None:
    """A_0 is the most that one edge really changes, in every graph where it changes anything."""
    for graph, (count, near) in triangles.items():
        changes = [triangles[other][0] - count for other in one_edge_more(graph, NODES)]
        changes += [count - triangles[graph - {pair}][0] for pair in graph]
        assert near[0] == max(changes)
