"""What requests and responses about rounds hold, for the description of the API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from sordino.serve.api.models import Body, Name


class Opened(Body):
    """Which survey's round is opened."""

    dataset: Name
    project: Name | None = None


class PricedRound(BaseModel):
    """What a round costs each participant."""

    words: str
    reports: int
    round: int
    fits: bool
    policy: dict[str, Any]
