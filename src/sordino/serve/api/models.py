"""What requests may hold, and nothing else: unknown fields are refused, and nothing is guessed from another type."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

Number = StrictInt | StrictFloat | StrictStr
"""A number, or a decimal text, which is read exactly."""
_NO_NUL = r"^[^\x00]*$"
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=_NO_NUL)]
Text = Annotated[str, Field(max_length=2000, pattern=_NO_NUL)]
Reason = Annotated[str, Field(min_length=1, max_length=1000, pattern=_NO_NUL)]


class Body(BaseModel):
    """What all bodies keep to."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class BudgetBody(Body):
    """What may be spent in all: epsilon, with or without delta, or rho."""

    epsilon: Number | None = None
    delta: Number | None = None
    rho: Number | None = None
    own_delta_share: Number | None = None


class OpeningBudgetBody(BudgetBody):
    """The first budget of a data set: how often it begins anew, and to which groups the data set belongs."""

    refresh: Literal["day", "week", "month"] | StrictInt | None = None
    groups: Annotated[list[Name], Field(max_length=100)] | None = None


class PolicyBody(Body):
    """What an owner allows for one release; parts of the whole budget."""

    least: Number | None = None
    most: Number | None = None
    approval: Number | None = None
    pause: StrictInt | None = None
    degrade: StrictBool | None = None


class Registration(Body):
    """A data set: its declarations as YAML, and, the first time, its budget."""

    declarations: Annotated[str, Field(min_length=1, max_length=1 << 20, pattern=_NO_NUL)]
    budget: OpeningBudgetBody | None = None
    policy: PolicyBody | None = None


class NewBudget(Body):
    """Another budget, and why."""

    budget: BudgetBody
    reason: Reason


class Cap(Body):
    """A budget for an analyst, a project or a group of data sets that hold the same people."""

    budget: BudgetBody
    refresh: Literal["day", "week", "month"] | StrictInt | None = None
    unit: Name | None = None
    neighbours: Literal["add-remove", "replace-one", "zero-out"] = "add-remove"
    reason: Reason = "changed by the owner"


class NewToken(Body):
    """Whom a token is for, and what it is good for; without `datasets` it is good for all of them."""

    subject: Name
    role: Literal["owner", "analyst", "auditor"]
    datasets: Annotated[list[Name], Field(max_length=1000)] | None = None
    days: Annotated[int, Field(ge=1, le=3660)] = 90


class NewMember(Body):
    """Who may come in by single sign-on, and as what."""

    subject: Name
    role: Literal["owner", "analyst", "auditor"]
    datasets: Annotated[list[Name], Field(max_length=1000)] | None = None


class Decision(Body):
    """Whether one release may be run."""

    approve: StrictBool
    reason: Text = ""


class WitnessedCheckpoint(Body):
    """The newest checkpoint of another ledger, with the proof that it extends the one of `old_size`."""

    key: Reason
    note: Annotated[str, Field(min_length=1, max_length=65536, pattern=_NO_NUL)]
    old_size: Annotated[int, Field(ge=0, le=2**53)]
    proof: Annotated[list[Annotated[str, Field(max_length=64)]], Field(max_length=128)] = []
    spent: dict[str, str] = {}
    anew: StrictBool = False
    signature: Annotated[str, Field(max_length=88)]


class ErrorDetail(BaseModel):
    """What went wrong, and the page that explains it."""

    code: str
    message: str
    help: str


class Problem(BaseModel):
    """The one shape of errors."""

    error: ErrorDetail


def plain(body: BaseModel | dict[str, object] | None) -> dict[str, object] | None:
    """Return the fields that were given, as plain values."""
    return body.model_dump(exclude_unset=True) if isinstance(body, BaseModel) else body


ERRORS: dict[int | str, dict[str, object]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "the request cannot be read",
        401: "nobody knows who is asking",
        402: "the budget or the owner's policy does not cover it; nothing was charged",
        403: "the role does not allow it",
        404: "there is no such thing, or it is another's",
        409: "it does not go with what is there already",
        413: "the request is too large",
        422: "the words are off, or the question cannot be answered privately as written",
        424: "the engine failed; the charge stands",
        429: "too much at once",
        503: "the ledger is frozen or cannot be reached",
    }.items()
}
