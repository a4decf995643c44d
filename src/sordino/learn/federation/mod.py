"""Flower's member side: a mod through which nothing leaves a member but masked sums that it agreed to and paid for.

**Guarantee**: whatever the server sends, this member takes part in rounds of `recipe` alone (it compares the plan's
digest), answers each phase of a session once, and charges each to an account of its own before its data is touched.
Every other message (of another recipe, an evaluation, a plain round of training) is refused by a code and nothing else.
That of ``member.py`` holds for what is handed in.
**Assumes**: Flower keeps a node's state to itself; between two messages it holds the secrets of the round in flight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from flwr.app import ConfigRecord, Context, Error, Message, RecordDict

from sordino.accounting.digest import digest_of
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, SordinoError
from sordino.learn.run.rows import Array
from sordino.mechanisms.grid import Steps

from .keys import Identity
from .layout import Layout
from .marks import Marks
from .member import PHASES, Member
from .packing import refusal
from .parties import Client, Party, handed_in
from .plan import Recipe, RoundPlan, Summed
from .populations import Population, check_account
from .roster import Roster, Terms
from .transport import RECORD, update_of

_MUTE = "SRD-R001"
_NUMBER = 0
_SESSION, _SECRETS = "session", "secrets"

Next = Callable[[Message, Context], Message]


@dataclass(frozen=True, eq=False, repr=False)
class Seat:
    """What one node brings: which member it is, its identity, its account, and its data.

    `budget` is the member's own account, of a `population(…)` with the unit of the study: what it spends in all,
    whoever asks. `folder` is where it marks what it has answered (``marks.py``). `party` holds the data; without one
    the app behind the mod trains as any Flower client, and is the unit.
    """

    number: int
    identity: Identity
    budget: DataAccount[Population]
    folder: str | Path
    party: Party | None = None


class Masked:
    """A mod for ``ClientApp(mods=[Masked(recipe, roster, seat)])``; `seat` goes from a node's context to its `Seat`."""

    def __init__(self, recipe: Recipe, roster: Roster, seat: Callable[[Context], Seat]) -> None:
        if recipe.quorum != roster.quorum:
            raise ArgumentError("the recipe was made for another quorum than that of the roster", "SRD-A003")
        self._recipe = recipe
        self._roster = roster
        self._seat = seat

    def __call__(self, message: Message, context: Context, call_next: Next) -> Message:
        """Answer a message of a round; refuse all others."""
        code = _MUTE
        try:
            answer = self._answer(message, context, call_next)
            return Message(RecordDict({RECORD: ConfigRecord({"message": answer})}), reply_to=message)
        except SordinoError as error:
            code = error.code
        except Exception:  # noqa: S110  (its words may hold data, and would travel to the server)
            pass
        return Message(Error(_NUMBER, f"refused [{code}]"), reply_to=message)

    def _answer(self, message: Message, context: Context, call_next: Next) -> bytes:
        said = message.content.config_records.get(RECORD)
        if said is None:
            raise refusal("it is not one of a masked round")
        phase, session, place = str(said["phase"]), bytes(said["session"]), int(said["round"])
        plan = self._recipe.round(place)
        if not 0 <= place < self._recipe.rounds or said["plan"] != plan.digest():
            raise refusal("this member agreed to another training")
        seat = self._seat(context)
        terms = plan.terms(self._roster, session)
        Marks(seat.folder).enter(session, phase)
        first = phase == PHASES[0]
        member = Member(terms, seat.number, seat.identity) if first else _remembered(context, terms, seat)
        try:
            hand_in = partial(self._charged, plan, seat, message, context, call_next)
            return member.answer(phase, bytes(said["message"]), hand_in)
        finally:
            _remember(context, session, member)

    def _charged(self, plan: RoundPlan, seat: Seat, message: Message, context: Context, call_next: Next) -> Steps:
        """Return what the member hands in, after it has been charged for."""
        record = next(iter(message.content.array_records.values()))
        arrays = {name: each.numpy() for name, each in record.items()}
        layout = Layout.of(arrays)
        weights = layout.flat(arrays)
        if weights is None or layout.parameters != self._recipe.parameters:
            raise refusal("its weights are of another shape")
        party = seat.party or Client(lambda _: _trained(message, context, call_next, weights, layout))
        party.check(self._recipe)
        account = check_account(seat.budget)
        account.account.protect(self._recipe.unit, account.protected.neighbours)
        with account.begin(plan) as work:
            work.grant.use_for(plan)
            numbers = handed_in(party, weights, self._recipe)
            work.finish(Summed(plan, digest_of(weights)))
            return numbers


def _trained(message: Message, context: Context, call_next: Next, weights: Array, layout: Layout) -> Any:
    """Return the update of the app behind the mod, which sees a plain message of training."""
    del message.content[RECORD]
    reply = call_next(message, context)
    return None if reply.has_error() else update_of(reply.content, weights, layout)


def _remembered(context: Context, terms: Terms, seat: Seat) -> Member:
    """Return the member of the session in flight."""
    kept = context.state.config_records.get(RECORD, {})
    if kept.get(_SESSION) != terms.session:
        raise refusal("this member is not in this session")
    return Member.restore(bytes(kept[_SECRETS]), terms, seat.number, seat.identity)


def _remember(context: Context, session: bytes, member: Member) -> None:
    context.state[RECORD] = ConfigRecord({_SESSION: session, _SECRETS: member.save()})
