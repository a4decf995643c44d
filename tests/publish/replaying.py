"""The neighbour oracle of publications: D and D without one unit, with the same noisy numbers released from both."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sordino import noise
from sordino.accounting.bound import Bound
from sordino.publish.publication import Publication, Running

Seen = tuple[Any, Bound, Any]


def within(one: Any, other: Any, bound: Bound) -> None:
    """Check that two exact answers differ by no more than a bound, in every norm."""
    moved = np.abs(np.asarray(one, dtype=object) - np.asarray(other, dtype=object)).ravel()
    assert np.count_nonzero(moved) <= bound.l0
    assert sum(moved) <= bound.l1
    assert sum(moved**2) <= bound.l2_squared
    assert max(moved, default=0) <= bound.linf


def judged(
    make: Callable[[Any], Publication[Any]], whole: Any, without: Any, *, drawn: str = "", **words: Any
) -> list[Seen]:
    """Run on D; run on D' with what D released in place of fresh noise; all but the exact numbers must be the same.

    `drawn` names a file that is drawn anew from what was released, so that two are never the same.
    """
    outputs: list[Any] = []
    original, uniform = Running.release, noise.uniform

    def same_salt(most: int, size: Any = None) -> Any:  # the same rows of everybody else are sampled
        return 7 if size is None else uniform(most, size)

    def recording(running: Running, mechanism: Any, bound: Bound, value: Any) -> Any:
        outputs.append(original(running, mechanism, bound, value))
        seen[-1].append((mechanism, bound, np.array(value, copy=True)))
        return outputs[-1]

    def replaying(running: Running, mechanism: Any, bound: Bound, value: Any) -> Any:
        original(running, mechanism, bound, value)
        seen[-1].append((mechanism, bound, np.array(value, copy=True)))
        return outputs[len(seen[-1]) - 1]

    seen: list[list[Seen]] = []
    made, prices, heard = [], [], []
    for data, release in ((whole, recording), (without, replaying)):
        seen.append([])
        heard.append([])
        asked = make(data).telling(lambda stage, **public: heard[-1].append((stage, public)))
        prices.append(str(asked.price(**words)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Running, "release", release)
            patch.setattr(noise, "uniform", same_salt)
            made.append(asked.run(**words))
    assert prices[0] == prices[1]
    assert heard[0] == heard[1]
    assert len(seen[0]) == len(seen[1]) > 0
    for (mechanism, bound, value), (other, same, neighbour) in zip(*seen, strict=True):
        assert (mechanism, bound) == (other, same)
        within(value, neighbour, bound)
    assert any(np.any(one[2] != other[2]) for one, other in zip(*seen, strict=True))
    one, other = (_kept(each, drawn) for each in made)
    assert one == other
    return seen[0]


def _kept(made: Any, drawn: str) -> Any:
    """Return everything that was released, but for what is drawn anew: of that only that it is there."""
    files = {name: content if name != drawn else b"" for name, content in made.files.items()}
    manifest = made.manifest
    digests = {name: digest if name != drawn else "" for name, digest in manifest["files"].items()}
    return list(files.items()), json.dumps({**manifest, "files": digests}, sort_keys=False)
