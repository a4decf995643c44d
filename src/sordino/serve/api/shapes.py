"""What responses hold, for the description of the API. At run time nothing is checked by these; tests check it all."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, create_model

from .models import ErrorDetail

Outcome = Literal["settled", "failed", "running", "open"]
Moment = str
Plain = dict[str, Any]


class BudgetShort(BaseModel):
    """A budget, and how much of it is used, from 0 to 1."""

    budget: str
    calculus: str
    epsilon: float | None
    rho: float | None
    delta: float
    used: float
    refresh: str | int | None
    refreshes_at: Moment | None


class Share(BaseModel):
    """What one analyst used."""

    analyst: str
    part: float
    charges: int


class BudgetReport(BudgetShort):
    """All about the budget of a scope; `points` are pairs of a time and the part that was used by then."""

    scope: str
    name: str
    promise: str
    unit: str | None
    neighbours: str | None
    counted_in: str
    spent: str
    cap: str
    lifetime: str
    remaining: str
    remaining_epsilon: float | None
    remaining_rho: float | None
    by_analyst: list[Share]
    points: list[tuple[Moment, float]]


class ColumnOfTable(BaseModel):
    """What is publicly known about a column."""

    name: str
    kind: str
    nullable: bool
    bounds: list[float] | None = None
    granularity: float | None = None
    keys: list[Any] | None = None
    keys_in_all: int | None = None


class TableOfDataset(BaseModel):
    """What is publicly known about a table; `hidden` has the columns that cannot be asked about, and why."""

    name: str
    owned: Plain
    limits: dict[str, int]
    columns: list[ColumnOfTable]
    hidden: dict[str, str]


class PolicyInForce(BaseModel):
    """What the owner allows for one release; parts of the whole budget, as exact texts."""

    least: str
    most: str
    approval: str | None
    pause: int
    degrade: bool


class DatasetShort(BaseModel):
    """A data set in short."""

    name: str
    owner: str
    sort: str
    budget: BudgetShort | None


class ViewOfDataset(BaseModel):
    """A view that questions may read from: its SQL, and what is known of its columns."""

    name: str
    sql: str
    columns: list[ColumnOfTable]


class BlocksOfDataset(BaseModel):
    """That every day has a budget of its own: the column and its table, and whether the unit is a person on a day."""

    days: str
    table: str
    per_unit: bool
    first: str | None
    last: str | None


class DatasetFull(DatasetShort):
    """What is publicly known about a data set; its declarations are for owners.

    `registered` is in milliseconds since 1970. From `engine` on it is about tables; data of another sort tells other
    things instead. `personal` says that people are protected by classes.
    """

    registered: int
    version: int
    unit: str
    neighbours: str
    policy: PolicyInForce
    declarations: str | None = None
    engine: str | None = None
    tables: list[TableOfDataset] | None = None
    views: list[ViewOfDataset] | None = None
    personal: bool | None = None
    blocks: BlocksOfDataset | None = None


class PolicyVerdict(BaseModel):
    """What the owner's policy says."""

    allows: Literal["run", "approval", "nothing"]
    message: str | None
    code: str | None


class Priced(BaseModel):
    """What a request of any kind costs; `part` and `used` are parts of the budget."""

    kind: str
    dataset: str
    charge: str
    part: float
    used: float
    used_after: float
    fits: bool
    short: str | None
    policy: PolicyVerdict
    event: str


class Released(BaseModel):
    """What was released, of any kind, and its receipt; `receipt` is the text that verifies offline."""

    id: str
    kind: str
    dataset: str
    request: Plain
    answer: Any
    receipt: str
    replayed: bool


class JobShown(BaseModel):
    """How far a run is, and what it ended with; `progress` is what a plan makes public of work in its own process."""

    id: str
    kind: str
    dataset: str
    subject: str
    stage: Literal["waiting", "planned", "reserved", "running", "settled", "failed", "stopped", "interrupted"]
    apart: bool
    stopping: bool
    progress: Plain | None
    created: Moment
    finished: Moment | None
    request: Plain | None
    release: str | None
    files: list[str]
    error: ErrorDetail | None


class JobAccepted(BaseModel):
    """A run that takes long."""

    job: JobShown


class ReleaseShort(BaseModel):
    """A charge and what came of it."""

    id: str
    position: int
    dataset: str
    analyst: str
    project: str | None
    what: str
    time: Moment
    outcome: Outcome
    code: str | None
    part: float
    cost: str
    sql: str | None
    price: Plain | None


class ReleaseFull(ReleaseShort):
    """The same, with the answer."""

    answer: Any


class Transparency(BaseModel):
    """How a data set's budget was spent, by which noise."""

    dataset: str
    unit: str | None
    neighbours: str | None
    promise: str
    composition: str
    budget: BudgetShort | None
    charges: int
    failed: int
    releases: list[Plain]


class SignedCheckpoint(BaseModel):
    """The newest signed checkpoint."""

    note: str
    origin: str
    size: int
    root: str
    key: str


class EntryShown(BaseModel):
    """One entry: as it is hashed, and as people read it."""

    position: int
    kind: str
    time: Moment
    canonical: str
    entry: Plain


class Inclusion(BaseModel):
    """A proof that an entry is in the ledger."""

    position: int
    size: int
    proof: list[str]


class Consistency(BaseModel):
    """A proof that the ledger only grew."""

    old: int
    new: int
    proof: list[str]


class ProblemFound(BaseModel):
    """What is wrong with a ledger, and where."""

    position: int | None
    code: str
    reason: str


class Verified(BaseModel):
    """What a verification found."""

    verdict: str
    sound: bool
    size: int
    replayed: bool
    checkpoint: str | None
    problems: list[ProblemFound]
    text: str


class Witnessed(BaseModel):
    """What is remembered of another ledger."""

    key: str
    size: int
    note: str
    spent: dict[str, str]
    anew: bool
    time: Moment


class Acknowledged(BaseModel):
    """What is remembered now."""

    key: str
    size: int


class TokenShown(BaseModel):
    """A token, without what would let anybody use it; times are milliseconds since 1970."""

    id: str
    subject: str
    role: str
    datasets: list[str] | None
    issuer: str
    created: int
    expires: int
    state: Literal["good", "expired", "revoked"]


class MemberShown(BaseModel):
    """Somebody who may come in by single sign-on."""

    subject: str
    role: str
    datasets: list[str] | None
    by: str


class ApprovalShown(BaseModel):
    """A wish for approval."""

    id: str
    dataset: str
    analyst: str
    kind: str
    question: Plain
    message: str
    state: str
    created: Moment
    decided: Moment | None
    decided_by: str | None
    reason: str | None


class Somebody(BaseModel):
    """Who you are here."""

    subject: str
    role: str
    datasets: list[str] | None


class Health(BaseModel):
    """Whether the ledger takes charges; `frozen` is the code of why not."""

    ok: bool
    frozen: str | None


def answers(shape: Any, status: int = 200, description: str = "as asked") -> dict[int | str, dict[str, Any]]:
    """Return the description of a response of this shape."""
    return {status: {"model": shape, "description": description}}


def listed(name: str, shape: Any) -> type[BaseModel]:
    """Return an object that holds a list of this shape under one name."""
    return create_model(f"ListOf{name.capitalize()}", **{name: (list[shape], ...)})  # type: ignore[call-overload,no-any-return]
