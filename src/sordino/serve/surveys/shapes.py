"""What requests and responses about rounds hold, for the description of the API."""

from __future__ import annotations

from sordino.serve.api.models import Body, Name
from sordino.serve.api.shapes import Priced


class Opened(Body):
    """Which survey's round is opened."""

    dataset: Name
    project: Name | None = None


class PricedRound(Priced):
    """What a round costs each participant, also in plain words."""

    words: str
    reports: int
    round: int
