"""Continual release under central trust: running counts, sums, histograms, top-k and windows of a stream of events.

watched      what a stream is about, to open an account for
spec         what is counted, and what one person can add: `counting`, `summing`, `histogram`, `top_k`
people       the worst that one person can do; contributions sees to it that nobody does more
strategy     which sums get noise: buffered_sum (of buffered), square_root, tree; toeplitz is what the first two share
plan, price  what the whole costs, and how far off it will be, before anything is spent
opening      `open_stream`: charged, or gone on with
stream       what is open: `Stream`; keeping is its secret file, released what leaves
"""

from __future__ import annotations

from .opening import open_stream
from .price import StreamPrice, price_stream
from .released import StreamEnd, StreamRelease
from .spec import StreamSpec, counting, histogram, summing, top_k
from .stream import Stream
from .watched import Watched, watched

__all__ = [
    "Stream",
    "StreamEnd",
    "StreamPrice",
    "StreamRelease",
    "StreamSpec",
    "Watched",
    "counting",
    "histogram",
    "open_stream",
    "price_stream",
    "summing",
    "top_k",
    "watched",
]
