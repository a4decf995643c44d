"""The tree against published values, and against a reference that follows RFC 6962 word by word."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.errors import ArgumentError, LedgerError
from sordino.ledger.tree import (
    EMPTY_ROOT,
    LARGEST_SIZE,
    Frontier,
    Paths,
    aligned,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    leaf_hashes,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

# The leaves and roots that Certificate Transparency's implementations have been tested with since 2013.
PUBLISHED_LEAVES = tuple(
    bytes.fromhex(leaf)
    for leaf in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
)
PUBLISHED_ROOTS = tuple(
    bytes.fromhex(root)
    for root in (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    )
)
PUBLISHED_PATH = tuple(  # of leaf 0 in the tree of 8
    bytes.fromhex(node)
    for node in (
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    )
)

LEAVES = leaf_hashes(f"entry {number}".encode() for number in range(300))


def reference_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1."""
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    k = split(len(leaves))
    return hashlib.sha256(b"\x01" + reference_root(leaves[:k]) + reference_root(leaves[k:])).digest()


def reference_path(m: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if m < k:
        return [*reference_path(m, leaves[:k]), reference_root(leaves[k:])]
    return [*reference_path(m - k, leaves[k:]), reference_root(leaves[:k])]


def reference_subproof(m: int, leaves: list[bytes], known: bool = True) -> list[bytes]:
    """SUBPROOF of RFC 6962, section 2.1.2."""
    if m == len(leaves):
        return [] if known else [reference_root(leaves)]
    k = split(len(leaves))
    if m <= k:
        return [*reference_subproof(m, leaves[:k], known), reference_root(leaves[k:])]
    return [*reference_subproof(m - k, leaves[k:], False), reference_root(leaves[:k])]


def split(n: int) -> int:
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def subtree_of(leaves: list[bytes]) -> Callable[[int, int], bytes]:
    """A subtree function that insists on being asked for complete aligned subtrees only."""

    def subtree(start: int, end: int) -> bytes:
        width = end - start
        assert width > 0
        assert width & (width - 1) == 0
        assert start % width == 0
        assert end <= len(leaves)
        return reference_root(leaves[start:end])

    return subtree


sizes = st.integers(1, 300)


def test_the_published_roots() -> None:
    frontier = Frontier()
    for size, root in enumerate(PUBLISHED_ROOTS):
        assert root_of(leaf_hashes(PUBLISHED_LEAVES[:size])) == root
        assert frontier.root == root
        if size < len(PUBLISHED_LEAVES):
            frontier = frontier.append(leaf_hash(PUBLISHED_LEAVES[size]))
    assert PUBLISHED_ROOTS[0] == EMPTY_ROOT


def test_the_published_path() -> None:
    leaves = leaf_hashes(PUBLISHED_LEAVES)
    assert inclusion_proof(0, 8, subtree_of(leaves)) == PUBLISHED_PATH
    assert verify_inclusion(leaves[0], 0, 8, PUBLISHED_PATH, PUBLISHED_ROOTS[8])


def test_a_leaf_is_not_a_node() -> None:
    left, right = LEAVES[:2]
    assert leaf_hash(left + right) != node_hash(left, right)
    assert not verify_inclusion(leaf_hash(left + right), 0, 1, (), node_hash(left, right))


@given(st.integers(0, 300))
def test_the_root_is_that_of_the_standard(size: int) -> None:
    assert root_of(LEAVES[:size]) == reference_root(LEAVES[:size])


@given(st.lists(st.integers(0, 40), max_size=8))
def test_growing_in_any_steps_is_the_same(steps: list[int]) -> None:
    frontier, at = Frontier(), 0
    for step in steps:
        step = min(step, len(LEAVES) - at)
        frontier, at = frontier.extend(LEAVES[at : at + step]), at + step
    assert frontier == Frontier().extend(LEAVES[:at])
    assert frontier.size == at
    assert frontier.root == reference_root(LEAVES[:at])
    assert list(frontier.hashes) == [reference_root(LEAVES[start:end]) for start, end in aligned(0, at)]
    assert Frontier.from_bytes(frontier.to_bytes()) == frontier


@given(st.data(), sizes)
def test_proofs_are_those_of_the_standard_and_hold(data: st.DataObject, size: int) -> None:
    leaves = LEAVES[:size]
    subtree, root = subtree_of(leaves), reference_root(leaves)
    index = data.draw(st.integers(0, size - 1))
    path = inclusion_proof(index, size, subtree)
    assert list(path) == reference_path(index, leaves)
    assert verify_inclusion(leaves[index], index, size, path, root)
    old = data.draw(st.integers(1, size))
    proof = consistency_proof(old, size, subtree)
    assert list(proof) == reference_subproof(old, leaves)
    assert verify_consistency(old, reference_root(leaves[:old]), size, root, proof)


def test_proofs_that_share_what_they_have_in_common_are_those_of_the_standard() -> None:
    for size in (1, 2, 3, 7, 8, 33):
        paths = Paths(size, subtree_of(LEAVES[:size]))
        for index in (*range(size), *reversed(range(size))):
            assert list(paths(index)) == reference_path(index, LEAVES[:size])


def test_every_proof_of_small_trees_holds_and_no_other() -> None:
    roots = [reference_root(LEAVES[:size]) for size in range(18)]
    for size in range(1, 18):
        subtree = subtree_of(LEAVES[:size])
        for index in range(size):
            path = inclusion_proof(index, size, subtree)
            for claimed in range(-1, size + 2):
                assert verify_inclusion(LEAVES[index], claimed, size, path, roots[size]) == (claimed == index)
        for old in range(size + 1):
            proof = consistency_proof(old, size, subtree)
            for claimed in range(-1, 18):
                held = verify_consistency(claimed, roots[old], size, roots[size], proof)
                assert held == (claimed == old)


@given(st.data(), st.integers(2, 64))
def test_a_changed_proof_never_holds(data: st.DataObject, size: int) -> None:
    leaves = LEAVES[:size]
    root = reference_root(leaves)
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    path = inclusion_proof(index, size, subtree_of(leaves))
    for changed in variations(path, root, leaves[index]):
        assert not verify_inclusion(leaves[index], index, size, changed, root)
    proof, old_root = consistency_proof(old, size, subtree_of(leaves)), reference_root(leaves[:old])
    for changed in variations(proof, root, old_root):
        assert not verify_consistency(old, old_root, size, root, changed)
    other = leaf_hash(b"another")
    assert not verify_inclusion(other, index, size, path, root)
    assert not verify_inclusion(leaves[index], index, size, path, other)
    assert not verify_consistency(old, other, size, root, proof)
    assert not verify_consistency(old, old_root, size, other, proof)
    assert not verify_consistency(size, root, old, old_root, proof) or old == size


def variations(proof: tuple[bytes, ...], *others: bytes) -> list[tuple[bytes, ...]]:
    """Proofs that are too long or too short, in another order, with a bit flipped, or with hashes that are none."""
    found = [(*proof, bytes(32)), (bytes(32), *proof), (*proof, b""), (*proof, b"short")]
    found += [(*proof, other) for other in others] + [(other, *proof) for other in others]
    found += [(*proof[:at], *proof[at + 1 :]) for at in range(len(proof))]
    found += [(*proof[:at], bytes([proof[at][0] ^ 1]) + proof[at][1:], *proof[at + 1 :]) for at in range(len(proof))]
    found += [(*proof[:at], proof[at][:-1], *proof[at + 1 :]) for at in range(len(proof))]
    found += [proof + proof, proof[::-1]]
    return [each for each in found if each != proof]


@pytest.mark.parametrize("short", [b"", b"x", bytes(31), bytes(33)], ids=len)
def test_what_is_not_a_hash_proves_nothing(short: bytes) -> None:
    assert not verify_inclusion(short, 0, 1, (), short)
    assert not verify_consistency(1, short, 1, short, ())
    assert not verify_consistency(0, EMPTY_ROOT, 1, short, ())
    assert not verify_inclusion(LEAVES[0], 0, 2, (short,), node_hash(LEAVES[0], short))


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_range_is_made_of_complete_aligned_subtrees(start: int, length: int) -> None:
    parts = list(aligned(start, start + length))
    assert [leaf for part in parts for leaf in range(*part)] == list(range(start, start + length))
    for begin, end in parts:
        width = end - begin
        assert width.bit_count() == 1
        assert begin % width == 0
    if start == 0:
        assert len(parts) == length.bit_count()


def test_a_proof_does_not_say_how_large_the_tree_is() -> None:
    # A limit, not a wish: this is why the size is signed together with the root.
    path, root = inclusion_proof(0, 3, subtree_of(LEAVES[:3])), reference_root(LEAVES[:3])
    assert verify_inclusion(LEAVES[0], 0, 3, path, root)
    assert verify_inclusion(LEAVES[0], 0, 4, path, root)
    assert not verify_inclusion(LEAVES[0], 0, 4, path, reference_root(LEAVES[:4]))


def test_the_empty_tree_begins_every_tree_and_has_one_root() -> None:
    root = reference_root(LEAVES[:5])
    assert consistency_proof(0, 5, subtree_of(LEAVES)) == ()
    assert verify_consistency(0, EMPTY_ROOT, 5, root, ())
    assert verify_consistency(0, EMPTY_ROOT, 0, EMPTY_ROOT, ())
    assert not verify_consistency(0, root, 5, root, ())
    assert not verify_consistency(0, EMPTY_ROOT, 0, root, ())
    assert not verify_consistency(0, EMPTY_ROOT, 5, root, (root,))
    assert not verify_inclusion(LEAVES[0], 0, 0, (), EMPTY_ROOT)


def test_equal_sizes_need_equal_roots_and_no_proof() -> None:
    root, other = reference_root(LEAVES[:7]), reference_root(LEAVES[1:8])
    assert consistency_proof(7, 7, subtree_of(LEAVES)) == ()
    assert verify_consistency(7, root, 7, root, ())
    assert not verify_consistency(7, root, 7, other, ())
    assert not verify_consistency(7, root, 7, root, (root,))


def test_a_rolled_back_tree_is_not_consistent() -> None:
    forked = [*LEAVES[:5], leaf_hash(b"rewritten"), *LEAVES[6:9]]
    proof = consistency_proof(7, 9, subtree_of(forked))
    old_root, new_root = reference_root(LEAVES[:7]), reference_root(forked)
    assert not verify_consistency(7, old_root, 9, new_root, proof)
    assert not verify_consistency(9, new_root, 7, old_root, proof)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (-1, 5), (0, LARGEST_SIZE + 1)])
def test_there_is_no_proof_of_what_is_not_there(index: int, size: int) -> None:
    with pytest.raises(ArgumentError):
        inclusion_proof(index, size, subtree_of(LEAVES))


@pytest.mark.parametrize(("old", "new"), [(6, 5), (-1, 5), (0, LARGEST_SIZE + 1)])
def test_a_tree_does_not_shrink(old: int, new: int) -> None:
    with pytest.raises(ArgumentError):
        consistency_proof(old, new, subtree_of(LEAVES))


def test_absurd_sizes_are_not_walked() -> None:
    root = LEAVES[0]
    assert not verify_inclusion(root, 0, 2**200, (root,) * 200, root)
    assert not verify_consistency(1, root, 2**200, root, (root,) * 200)
    assert not verify_consistency(-1, root, 5, root, ())


@settings(max_examples=30)
@given(st.data())
def test_frontiers_that_are_none_are_refused(data: st.DataObject) -> None:
    spelt = Frontier().extend(LEAVES[: data.draw(sizes)]).to_bytes()
    cut = data.draw(st.integers(0, len(spelt) - 1))
    with pytest.raises(LedgerError):
        Frontier.from_bytes(spelt[:cut])
    with pytest.raises(LedgerError):
        Frontier.from_bytes(spelt + bytes(data.draw(st.integers(1, 64))))
    with pytest.raises(LedgerError):
        Frontier.from_bytes(b"\xff" * 8 + bytes(32 * 64))
    for size, hashes in ((3, LEAVES[:1]), (-1, ()), (LARGEST_SIZE + 1, LEAVES[:1])):
        with pytest.raises(ArgumentError):
            Frontier(size, tuple(hashes))
