"""What requests for publications and their responses hold, for the API."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from sordino.serve.api.models import Body, Name, Number
from sordino.serve.api.shapes import Plain
from sordino.serve.api.shapes import Priced as AnyPriced
from sordino.serve.api.shapes import Released as AnyReleased


class Goal(Body):
    """How far off a line of the price may be."""

    within: Number
    of: Name
    confidence: Number | None = None


class Published(Body):
    """A recipe with its parameters, and what it may spend: ε, with a δ or without; or ρ; or a goal."""

    dataset: Name
    project: Name | None = None
    recipe: Name
    parameters: Annotated[dict[str, Any] | None, Field(description="The recipe's own words.")] = None
    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    error: Goal | None = None
    confidence: Number | None = None


class Expected(Body):
    """How far off one thing that is published will be; `amount` is null where that is not known beforehand."""

    name: str
    amount: float | None
    measure: str
    at_most: bool
    text: str


class Priced(AnyPriced):
    """What a publication costs, and how far off it will be."""

    recipe: str
    epsilon: float | None
    rho: float | None
    delta: float | None
    errors: list[Expected]
    notes: list[str]
    confidence: float


class Released(AnyReleased):
    """The manifest, which names every file by its SHA-256, and its receipt."""

    answer: Plain
