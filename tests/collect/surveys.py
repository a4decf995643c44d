"""Surveys that tests ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sordino.collect.choice import frequency
from sordino.collect.sealing import PartyKey
from sordino.collect.surveys import Survey, survey
from sordino.collect.wire import HEADER, ID
from sordino.noise.keystream import SOURCE

PETS = ("cat", "dog", "hén")
KEYS = (PartyKey.fresh(), PartyKey.fresh())
TWO = tuple({"url": f"https://{name}.example.org", "key": key.text} for name, key in zip("ab", KEYS, strict=True))
SHUFFLED = {"trust": "shuffled", "batch": 1000, "delta": "1e-6", "parties": TWO}


def pets(**words: Any) -> Survey:
    asks = frequency(PETS, epsilon=words.pop("epsilon", 2), way=words.pop("way", "k-ary"))
    return survey(words.pop("name", "pets"), asks, **words)


def bodies(asked: Survey, codes: np.ndarray) -> np.ndarray:
    """Return reports of many devices at once, a row each, as they travel."""
    rows = np.zeros((len(codes), HEADER + asked.randomizer.size), np.uint8)
    rows[:, 0] = 1
    rows[:, 1:33] = np.frombuffer(asked.digest, np.uint8)
    rows[:, 33:HEADER] = SOURCE.words(2 * len(codes)).view(np.uint8).reshape(-1, ID)
    rows[:, HEADER:] = asked.randomizer.reports(np.asarray(codes, np.int64))
    return rows


def files_of(folder: Path) -> bytes:
    return b"".join(each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file())
