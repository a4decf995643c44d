"""A survey in a service, and people who answer it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from collect.surveys import bodies
from serve.places import OWNER, opened
from sordino.serve.service import Service
from sordino.serve.surveys import owners
from sordino.serve.surveys.at_hand import declared_as

POLL = """
name: pets
sort: survey
unit: participant
question: Which pet do you have?
values: [cat, dog, none]
epsilon: 2
per_day: 1
days: 3
"""


def polled(directory: Path, text: str = POLL, **changes: Any) -> Service:
    """Return a service with an open round."""
    service = opened(directory, **changes)
    owners.define(service, OWNER, text)
    owners.begin(service, OWNER, "pets")
    return service


def reports(service: Service, count: int) -> np.ndarray:
    return bodies(declared_as(service.house, "pets").survey, np.arange(count) % 3)
