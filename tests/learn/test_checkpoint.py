"""Checkpoints: whole or not there, of one recipe, and free of code."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from sordino.errors import ArgumentError
from sordino.learn.run.checkpoint import Checkpoint, weights_digest

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b/c": np.array(5)}


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    assert Checkpoint.load(path, "r") is None
    Checkpoint("r", 7, ARRAYS, {"0": {"value": 1}}).save(path)
    found = Checkpoint.load(path, "r")
    assert found is not None
    assert (found.step, found.texts) == (7, {"0": {"value": 1}})
    assert all(np.array_equal(found.arrays[name], each) for name, each in ARRAYS.items())
    assert [each.name for each in tmp_path.iterdir()] == ["run.npz"]


def test_another_recipe_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    Checkpoint("r", 7, ARRAYS, {}).save(path)
    with pytest.raises(ArgumentError, match="another training"):
        Checkpoint.load(path, "s")


def test_every_changed_byte_is_refused_or_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    Checkpoint("r", 7, ARRAYS, {}).save(path)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            found = Checkpoint.load(path, "r")
        except ArgumentError:
            refused += 1
        else:  # a byte of the archive that says nothing, such as a date
            assert found is not None
            assert (found.step, weights_digest(found.arrays)) == (7, weights_digest(ARRAYS))
    assert refused > len(whole) / 12


@pytest.mark.parametrize("content", [b"", b"PK", pickle.dumps({"a": 1}), b"\x93NUMPY"])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(ArgumentError, match="not as it was written"):
        Checkpoint.load(path, "r")


def test_digests_tell_names_types_and_shapes_apart() -> None:
    same = {"b/c": np.array(5), "a": ARRAYS["a"].copy()}
    assert weights_digest(same) == weights_digest(ARRAYS)
    for other in ({"a": ARRAYS["a"].reshape(3, 2)}, {"x": ARRAYS["a"]}, {"a": ARRAYS["a"].astype(np.float64)}):
        assert weights_digest(other | {"b/c": np.array(5)}) != weights_digest(ARRAYS)
