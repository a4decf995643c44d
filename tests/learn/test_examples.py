"""Examples: declared by types and public numbers, read only when asked, by unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import sordino as so
from sordino.errors import ArgumentError
from sordino.learn.run.examples import examples


class Untouched:
    """A data set of torch's kind that may not be looked at."""

    def __getitem__(self, place: int) -> Any:
        raise AssertionError("it was read")

    def __len__(self) -> int:
        raise AssertionError("it was counted")


class Pairs:
    def __getitem__(self, place: int) -> tuple[torch.Tensor, int]:
        return torch.full((2, 2), float(place)), place % 3

    def __len__(self) -> int:
        return 5


def test_declaring_reads_nothing() -> None:
    found = examples("pictures", Untouched(), size=60_000, like=(np.zeros((2, 2), np.float32), 0))
    assert [each.shape for each in found.like] == [(2, 2), ()]
    assert so.account(found, so.budget(epsilon=1, delta="1e-6")).protected is found
    with pytest.raises(ArgumentError, match="make one up"):
        examples("pictures", Untouched(), size=60_000)


def test_arrays_tables_and_items_are_read_by_place() -> None:
    arrays = examples("a", np.arange(6.0).reshape(3, 2), [1, 0, 1], size=3)
    table = examples("b", pa.table({"p": [0.0, 2, 4], "q": [1.0, 3, 5]}), np.array([1, 0, 1]), size=3)
    for found in (arrays, table):
        (x, y), owner = found.people().take(np.array([2, 0]))
        assert x.tolist() == [[4, 5], [0, 1]]
        assert y.tolist() == [1, 1]
        assert owner.tolist() == [0, 1]
    (x, y), _ = examples("c", Pairs(), size=5, like=(np.zeros((2, 2), np.float32), 0)).people().take(np.array([4, 1]))
    assert (x[:, 0, 0].tolist(), y.tolist()) == ([4.0, 1.0], [1, 1])


def test_examples_of_one_owner_are_taken_together() -> None:
    owners = ["b", "a", "b", "c", "b"]
    found = examples("d", np.arange(5.0), np.arange(5), size=3, unit="user", owners=owners)
    people = found.people()
    assert len(people) == 3
    (x, _), owner = people.take(np.array([1, 2]))
    assert (x.tolist(), owner.tolist()) == ([0, 2, 4, 3], [0, 0, 0, 1])
    (x, _), owner = people.take(np.array([], dtype=np.intp))
    assert len(x) == len(owner) == 0


@pytest.mark.parametrize(
    ("given", "words", "said"),
    [
        ((), {}, "features"),
        ((np.zeros(3),), {"unit": "user"}, "needs owners"),
        ((np.zeros(3),), {"owners": [1, 2, 3]}, "a unit with a name"),
        ((np.zeros(3),), {"unit": "user", "owners": [[1, 2], [3, 4], [5, 6]]}, "several owners"),
        ((np.array(["x", "y"]),), {}, "encode texts"),
        ((object(),), {}, "not object"),
        ((np.zeros(()),), {}, "one row for each"),
        ((np.zeros(3),), {"size": 0}, "size"),
        ((np.zeros(3),), {"classes": 1}, "classes"),
    ],
)
def test_what_cannot_be_is_refused_without_showing_it(given: tuple[Any, ...], words: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError, match=said) as refused:
        examples("e", *given, **({"size": 3} | words))
    assert "x" not in str(refused.value).split("SRD")[0].split()


def test_a_name_is_needed() -> None:
    with pytest.raises(ArgumentError, match="name"):
        examples("", np.zeros(3), size=3)


def test_owners_are_told_apart_as_they_are() -> None:
    owners = ["a", "a\0", 1, "1", None, "a"]
    given = examples("notes", np.zeros((6, 1)), size=5, unit="user", owners=owners)
    assert len(given.people()) == 5
    stored = examples("notes", np.zeros((6, 1)), size=5, unit="user", owners=np.array(owners, dtype=object))
    assert len(stored.people()) == 5


@pytest.mark.parametrize("owners", [[["a", "b"], ["b"]], [("a",), ("b",)], np.zeros((2, 2)), [{"a"}, {"b"}]])
def test_examples_of_several_owners_are_refused_with_the_reason(owners: Any) -> None:
    with pytest.raises(ArgumentError, match="several owners"):
        examples("notes", np.zeros((2, 1)), size=2, unit="user", owners=owners)


def _kept(examples_of: dict[int, tuple[str, ...]], most: int) -> set[int]:
    """A cap that looks natural: an example is kept if it is among the first `most` of each of its owners."""
    rank = {owner: [each for each, whose in examples_of.items() if owner in whose] for owner in "uvwxyz"}
    return {each for each, whose in examples_of.items() if all(each in rank[owner][:most] for owner in whose)}


def test_why_no_cap_is_offered_for_shared_examples() -> None:
    """By enumeration: with u gone, as many of the others' examples come back as u shared, whatever the cap."""
    shared = {number: ("u", other) for number, other in enumerate("vwxyz")}
    alone = {number + 5: (other,) for number, other in enumerate("vwxyz")}
    whole = _kept(shared | alone, 1)
    assert len(_kept(alone, 1) - whole) == 5 > 1
