"""Counts and degrees of graphs pass the gate: priced, charged, run, saved; neighbours differ in nothing but noise."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as so
from publish.graphs.every_graph import ends_of
from sordino.accounting import events
from sordino.errors import ArgumentError, RunError
from sordino.publish import recipes
from sordino.publish.graphs import edge_design, node_design
from sordino.publish.graphs.counting import Counting
from sordino.publish.graphs.release import Counts, Degrees

NODES = 12
ENDS = np.argwhere(np.triu(np.random.default_rng(4).random((NODES, NODES)) < 0.5, 1))


def account(unit: Any = "edge", *, ends: Any = ENDS, nodes: int | None = NODES, **budget: Any) -> Any:
    return so.account(
        so.publish.graph("friends", ends, unit=unit, nodes=nodes), so.budget(**(budget or {"epsilon": 9}))
    )


def test_the_first_look(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("\n".join(f"{a} {b}" for a, b in ENDS))
    with so.open(tmp_path / "budget.db") as house:
        friends = so.publish.graph("friends", tmp_path / "edges.txt", unit="edge")
        g = house.account(friends, so.budget(epsilon=2))
        made = so.publish.triangles(g).run(epsilon=1)
        assert isinstance(made.value, int)
        assert made.receipt is not None
        so.publish.degrees(g).run(epsilon=0.5).plot().savefig(tmp_path / "degrees.png")
        assert house.verify().sound
    assert (tmp_path / "degrees.png").stat().st_size > 5000


ASKED = {
    "edges": (lambda data: so.publish.edges(data), events.DiscreteLaplace),
    "triangles": (lambda data: so.publish.triangles(data), events.Ladder),
    "stars": (lambda data: so.publish.stars(data, size=3), events.Ladder),
    "clustering": (lambda data: so.publish.clustering(data), events.Composed),
    "degrees": (lambda data: so.publish.degrees(data), events.DiscreteLaplace),
}


@pytest.mark.parametrize("what", ASKED)
def test_it_is_charged_what_was_said_and_made_again(what: str, tmp_path: Path) -> None:
    make, event = ASKED[what]
    data = account()
    asked = make(data)
    assert isinstance(asked.price(epsilon=1).event, event)
    made = asked.run(epsilon="1")
    assert data.account.used == pytest.approx(1 / 9, abs=1e-6)
    again = so.publish.load(made.save(tmp_path))
    assert again.manifest == made.manifest
    assert again.plot() is not None
    assert recipes.read(asked.recipe.name, data.protected, json.loads(json.dumps(asked.recipe.plain()))) == asked.recipe


@pytest.mark.parametrize("epsilon", ["0.7", "0.333333333333333333333", "1e-3"])
@pytest.mark.parametrize("what", ASKED)
def test_no_share_is_rounded_beyond_the_whole(what: str, epsilon: str) -> None:
    for data in (account(), account(nodes=None), account("node")):
        if (what == "stars" and data.protected.nodes is None) or (
            data.protected.unit.name == "node" and what in "stars degrees"
        ):
            continue
        assert ASKED[what][0](data).run(epsilon=epsilon) is not None


@pytest.mark.parametrize("what", ["edges", "triangles", "stars", "clustering"])
def test_nodes_have_counts_of_their_own(what: str, tmp_path: Path) -> None:
    data = account("node")
    asked = getattr(so.publish, what)(data, caps=(4, 64))
    made = asked.run(epsilon=3)
    assert data.account.used == pytest.approx(1 / 3, abs=1e-6)
    assert set(made.caps.values()) <= {4, 8, 16, 32, 64}
    assert "at one node" in str(made)
    assert what != "clustering" or 0 <= made.value <= 1
    again = so.publish.load(made.save(tmp_path))
    assert again.manifest == made.manifest
    assert recipes.read(asked.recipe.name, data.protected, asked.recipe.plain()) == asked.recipe
    assert len(getattr(so.publish, what)(account("node", nodes=100)).recipe.counts[0].caps) > 1


def test_one_cap_is_not_chosen() -> None:
    asked = so.publish.triangles(account("node"), caps=(64, 64))
    assert isinstance(asked.price(epsilon=1).event, events.DiscreteLaplace)
    assert next(iter(asked.run(epsilon=1).caps.values())) == 64


def test_the_noise_is_the_same_event_for_every_cap() -> None:
    design = so.publish.triangles(account("node"), caps=(1, 2**20)).plan(epsilon=1).design
    (count,) = design.counts
    found = {design._noise(count, cap).event(node_design.bound_of(cap)) for cap in count.caps}
    assert len(found) == 1
    (event,) = found
    assert Fraction(event.sensitivity) / event.scale == design.noise


def test_degrees_by_rho_and_without_declared_nodes() -> None:
    made = so.publish.degrees(account(nodes=None, rho=1)).run(rho=1)
    assert made.law == "gaussian"
    assert len(made.noisy) >= 1
    assert made.table().num_rows == len(made.noisy)
    low, high = made.intervals()
    assert (low <= high).all()
    exact = so.publish.degrees(account(nodes=NODES, epsilon=1000)).run(epsilon=1000)
    assert exact.fitted.tolist() == sorted(np.bincount(ENDS.ravel(), minlength=NODES), reverse=True)


def test_much_epsilon_is_the_truth() -> None:
    data = account(epsilon=10**4)
    full = account("node", epsilon=10**4)
    both = so.publish.clustering(data).run(epsilon=1000)
    assert so.publish.edges(data).run(epsilon=1000).value == len(ENDS)
    nodes = so.publish.clustering(full, caps=(256, 256)).run(epsilon=5000)
    for name, count in both.counts.items():
        assert nodes.counts[name] == pytest.approx(count, abs=2)
    assert so.publish.edges(full, caps=(16, 16)).run(epsilon=1000).value == pytest.approx(len(ENDS), abs=1)


class _Seen:
    """What a design hands to noise, and how: with everything public that a release shows beside."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, asked: Any, epsilon: Any) -> None:
        self.values: list[Any] = []
        self.bounds: list[Any] = []
        from sordino.publish.publication import Running

        def release(_: Any, mechanism: Any, bound: Any, value: Any) -> Any:
            self.values.append(value)
            self.bounds.append((mechanism, bound))
            return 0 if type(value) is int else np.zeros(len(value), np.int64) if isinstance(value, np.ndarray) else 0

        stages: list[Any] = []
        with monkeypatch.context() as patched:
            patched.setattr(Running, "release", release)
            made = asked.telling(lambda stage, **public: stages.append((stage, public))).run(epsilon=epsilon)
        self.public = (made.manifest, sorted(made.files), stages, str(asked.price(epsilon=epsilon)))


@pytest.mark.parametrize("what", ASKED)
@pytest.mark.parametrize("nodes", [NODES, None])
def test_the_neighbour_oracle_for_edges(what: str, nodes: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "stars" and nodes is None:
        nodes = NODES
    make, _ = ASKED[what]
    whole = _Seen(monkeypatch, make(account(nodes=nodes)), 1)
    for left in range(0, len(ENDS), 5):
        less = _Seen(monkeypatch, make(account(nodes=nodes, ends=np.delete(ENDS, left, axis=0))), 1)
        assert less.public == whole.public
        assert less.bounds == whole.bounds
        for one, other, (_, bound) in zip(whole.values, less.values, whole.bounds, strict=True):
            if hasattr(one, "sensitivities"):
                assert abs(one.value - other.value) <= min(one.sensitivities[0], other.sensitivities[0])
                assert (one.sensitivities[:-1] <= other.sensitivities[1:]).all()
                assert (other.sensitivities[:-1] <= one.sensitivities[1:]).all()
                assert len(one.sensitivities) == len(other.sensitivities)
            else:
                moved = np.abs(np.atleast_1d(one) - np.atleast_1d(other))
                assert moved.sum() <= bound.l1
                assert moved.max() <= bound.linf


def test_a_run_that_fails_is_mute_and_stays_charged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "edges.txt").write_text("0 1\n")
    graph = so.publish.graph("friends", tmp_path / "edges.txt", unit="edge")
    data = so.account(graph, so.budget(epsilon=1))

    def broken(*_: Any) -> Any:
        raise ValueError("edge 0 1 is odd")

    monkeypatch.setattr(edge_design, "triangle_count", broken)
    with pytest.raises(RunError) as raised:
        so.publish.triangles(data).run(epsilon=0.5)
    assert "odd" not in str(raised.value)
    assert raised.value.__cause__ is None
    assert data.account.used == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda: so.publish.triangles(account(), caps=(1, 2)), "SRD-P503"),
        (lambda: so.publish.triangles(account("node", nodes=None)), "SRD-P503"),
        (lambda: so.publish.triangles(account("node"), caps=(4,)), "SRD-P503"),
        (lambda: so.publish.triangles(account("node"), caps=(4, 2)), "SRD-A002"),
        (lambda: so.publish.stars(account("node"), size=3), "SRD-P504"),
        (lambda: so.publish.stars(account(nodes=None), size=4), "SRD-P502"),
        (lambda: so.publish.degrees(account("node")), "SRD-P504"),
        (lambda: so.publish.degrees(account(nodes=2**27)), "SRD-P502"),
        (lambda: recipes.read("graph-count", account().protected, {"what": "squares"}), "SRD-A001"),
        (lambda: recipes.read("graph-count", account().protected, {"how": 1}), "SRD-A001"),
        (lambda: recipes.read("graph-degrees", object(), {}), "SRD-P501"),
        (lambda: so.publish.triangles(account(rho=1)).price(rho=1), "SRD-A003"),
    ],
)
def test_what_cannot_be_is_refused(ask: Any, code: str) -> None:
    with pytest.raises(ArgumentError, match=code):
        ask()


def test_what_has_no_edges() -> None:
    empty = ends_of(frozenset())
    data = account(ends=empty, epsilon=100)
    for what in ("edges", "triangles", "stars", "clustering"):
        assert isinstance(getattr(so.publish, what)(data).run(epsilon=1), Counts)
        assert isinstance(getattr(so.publish, what)(account("node", ends=empty), caps=(2, 8)).run(epsilon=1), Counts)
    assert isinstance(so.publish.degrees(data).run(epsilon=1), Degrees)
    assert Counting.adapts is False
