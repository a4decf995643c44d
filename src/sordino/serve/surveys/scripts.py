"""The JavaScript client as it is shipped: its files in the order in which a page loads them, and their hashes.

A page names each file with its hash, before any other that imports it: a browser that runs one runs these very bytes.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import lru_cache
from pathlib import Path

import sordino.collect.client

CLIENT = Path(sordino.collect.client.__file__).parent
VECTORS = "vectors.json"
_ORDER = (
    "guard.js",
    "sha256.js",
    "sordino.js",
    "prio3.js",
    "sealing.js",
    "sending.js",
    "ways.js",
    "directions.js",
    "answer.js",
)


@lru_cache(maxsize=1)
def scripts() -> dict[str, str]:
    """Return the integrity hash of each file, as browsers read it."""
    return {name: _integrity((CLIENT / name).read_bytes()) for name in _ORDER}


def _integrity(content: bytes) -> str:
    return "sha384-" + b64encode(hashlib.sha384(content).digest()).decode()
