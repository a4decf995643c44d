"""Two processes train together: their sums, their noise and what they draw are those of one; and how it ends badly."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch.distributed as dist
from scipy import stats
from torch import nn

import sordino as so
from learn import rank
from learn.worlds import account, divided, model
from sordino.errors import ArgumentError
from sordino.learn.descent.parallel import follow
from sordino.learn.descent.ranks import Ranks
from sordino.learn.descent.training import Training
from sordino.learn.run.examples import examples

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Both ranks, run once for all tests."""
    folder = tmp_path_factory.mktemp("ranks")
    path = os.pathsep.join([str(HERE.parent), *sys.path])
    places = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen([sys.executable, str(HERE / "rank.py"), str(each), str(folder)], env=places)  # noqa: S603
        for each in (0, 1)
    ]
    codes = [each.wait(timeout=120) for each in ranks]
    leader, follower = (np.load(folder / f"{name}.npz") for name in ("leader", "follower"))
    return SimpleNamespace(codes=codes, leader=leader, follower=follower)


def test_noise_is_added_once_and_is_that_of_the_recipe(ran: SimpleNamespace) -> None:
    given = rank.world(1)
    recipe = Training(
        rank.flat(), rank.flat_loss, given, budget=rank.account(given), steps=2, noise=1, **rank.FLAT
    ).recipe
    noise = ran.leader["noise"].astype(float).ravel() * 100 / float(recipe.bound.l2_squared) ** 0.5
    assert stats.kstest(noise, "norm").pvalue > 1e-4
    for wrong in (0.7, 1.3, 2**0.5):  # the last: noise by each rank
        assert stats.kstest(noise / wrong, "norm").pvalue < 1e-9


def test_the_sum_is_that_of_one_process(ran: SimpleNamespace) -> None:
    given = rank.world(4)
    words: dict[str, Any] = {"steps": 1, "noise": "0.001", **rank.LEARNT}
    alone = Training(rank.learnt(), nn.CrossEntropyLoss(), given, budget=rank.account(given), **words)
    total = alone._sums.sum(0).sum.double().numpy()
    off = np.abs(ran.leader["sums"][0].astype(float) * rank.UNITS - total).max()
    assert off < 6 * 0.001 * 1.01
    assert np.abs(total).max() > 1


def test_every_unit_is_drawn_by_itself_and_counts_once(ran: SimpleNamespace) -> None:
    counts = np.abs(ran.leader["counts"].astype(float).ravel()) * 100
    whole = np.rint(counts)
    assert np.abs(counts - whole).max() < 0.05
    spread = (whole - rank.UNITS / 2) ** 2 / (rank.UNITS / 4)
    assert stats.norm.sf(abs(whole.mean() - rank.UNITS / 2) / (rank.UNITS / 4 / len(whole)) ** 0.5) > 1e-4
    tails = {factor: stats.chi2.cdf(spread.sum() / factor**2, len(whole)) for factor in (1.0, 0.7, 1.3)}
    assert 1e-4 < tails[1.0] < 1 - 1e-4, f"n = {len(whole)}, p = {tails}"
    assert tails[0.7] > 0.99, f"n = {len(whole)}, p = {tails}"
    assert tails[1.3] < 0.01, f"n = {len(whole)}, p = {tails}"


def test_all_ranks_end_with_the_leaders_weights(ran: SimpleNamespace) -> None:
    np.testing.assert_array_equal(ran.leader["last"], ran.follower["last"])


def test_a_rank_that_fails_stops_all_and_the_charge_stands(ran: SimpleNamespace) -> None:
    assert ran.leader["ended"][0].startswith("1 None the training could not go on")
    assert ran.follower["ended"][0].startswith("0 None this rank could not go on")
    assert all(each["ended"][1].startswith("0 the ranks do not train the same") for each in (ran.leader, ran.follower))
    assert ran.leader["ended"][2] == "1 None"
    assert ran.codes[1] == 9


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Ranks]:
    """A group of one."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield Ranks()
    dist.destroy_process_group()


def test_one_rank_is_enough(alone: Ranks) -> None:
    given = divided()
    run = so.learn.train(
        model(),
        nn.CrossEntropyLoss(),
        given,
        budget=account(given),
        together=alone,
        batch=100,
        steps=4,
        clip=1,
        epsilon=2,
    )
    assert run.settled[-1].steps == 4


@pytest.mark.parametrize("words", [{"sampling": "fixed-size"}, {"clipping": "adaptive"}])
def test_what_several_processes_cannot_do_is_refused(alone: Ranks, words: Any) -> None:
    given = divided(neighbours=so.Neighbours.REPLACE_ONE) if "sampling" in words else divided()
    data = account(given)
    with pytest.raises(ArgumentError, match="several processes"):
        Training(
            model(),
            nn.CrossEntropyLoss(),
            given,
            budget=data,
            together=alone,
            batch=100,
            steps=4,
            clip=1,
            noise=3,
            **words,
        )
    assert not data.history
    with pytest.raises(ArgumentError, match="rank 0 leads"):
        follow(model(), nn.CrossEntropyLoss(), divided(), together=alone, batch=100, clip=1)


def test_without_a_group_there_are_no_ranks() -> None:
    with pytest.raises(ArgumentError, match="init_process_group"):
        Ranks()


def test_people_of_a_rank_keep_all_their_examples() -> None:
    x = np.arange(7, dtype=np.float32)[:, None]
    given = examples("marks", x, np.zeros(7), size=3, unit="user", owners=["b", "a", "b", "c", "a", "b", "c"])
    people = given.people().only(np.array([False, True, True]))
    (kept, _), owner = people.take(np.arange(2))
    assert kept[:, 0].tolist() == [0, 2, 5, 3, 6]
    assert owner.tolist() == [0, 0, 0, 1, 1]
    other = examples("marks", x + 1, np.zeros(7), size=7)
    marks = {each.people().mark() for each in (given, other, examples("marks", x, np.zeros(7), size=7))}
    assert len(marks) == 3
    assert given.people().mark() in marks
