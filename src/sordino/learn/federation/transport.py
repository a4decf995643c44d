"""Rounds over Flower's grid: open ones, where a trusted server clips what clients send, and masked ones.

Answers count that come in time, one for each node; an error, silence, and what comes late are no answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from flwr.app import ConfigRecord, Message, MessageType, RecordDict

from sordino.errors import RunError
from sordino.learn.run.rows import Array

from .collector import masked_sum
from .layout import Layout
from .member import one_key
from .open_sums import Proposal
from .plan import Recipe
from .roster import Roster, Terms
from .rounds import Opened, Turn

RECORD = "sordino"
"""The record of a message in which ours stands, among Flower's own."""

_PAUSE = 0.5  # seconds between two looks at who is there


class Asked(Protocol):
    """Who knows how weights look in a message of training."""

    layout: Layout

    def asked(self, weights: Array, number: int) -> RecordDict:
        """Return what a client is asked in a round."""
        ...


class Asking:
    """Questions to nodes over Flower's grid, and the answers that come in time, one for each node."""

    def __init__(self, grid: Any, patience: float) -> None:
        self._grid = grid
        self._patience = patience
        self._begun = False

    def nodes(self, wanted: int, least: int) -> list[int]:
        """Return all nodes. At first all that are wanted are waited for; later, when some may be gone, the least."""
        end = time.monotonic() + self._patience
        while len(found := sorted(self._grid.get_node_ids())) < (least if self._begun else wanted):
            if time.monotonic() >= end:
                break
            time.sleep(min(_PAUSE, self._patience))
        self._begun = True
        return found

    def answers(self, contents: Mapping[int, RecordDict], group: str) -> dict[int, RecordDict]:
        """Return what each node answered; errors and silence are no answer."""
        messages = [
            Message(content, dst_node_id=node, message_type=MessageType.TRAIN, group_id=group)
            for node, content in contents.items()
        ]
        if not messages:
            return {}
        replies = self._grid.send_and_receive(messages, timeout=self._patience)
        return {
            reply.metadata.src_node_id: reply.content
            for reply in replies
            if not reply.has_error() and reply.metadata.src_node_id in contents
        }


class Nodes:
    """Clients of a trusted server, by Flower's nodes."""

    def __init__(self, asking: Asking, model: Asked) -> None:
        self._asking = asking
        self._model = model

    def present(self, recipe: Recipe) -> Sequence[int]:
        """Return the nodes that are there."""
        return self._asking.nodes(recipe.members, 1)

    def proposals(self, turn: Turn, drawn: Sequence[int]) -> Iterator[Proposal]:
        """Yield what each node sent in time."""
        content = self._model.asked(turn.weights, turn.plan.number)
        for reply in self._asking.answers(dict.fromkeys(drawn, content), str(turn.plan.number)).values():
            yield Proposal(kind_of(reply), update_of(reply, turn.weights, self._model.layout))


class MaskedRounds:
    """Members under masks. A node says by its signed keys which member it is."""

    def __init__(self, asking: Asking, model: Asked, roster: Roster) -> None:
        self._asking = asking
        self._model = model
        self._roster = roster

    def __call__(self, turn: Turn) -> Opened:
        """Return the sum of a round, which holds the shares of noise of all who survive."""
        plan, terms = turn.plan, turn.plan.terms(self._roster, turn.session)
        content = dict(self._model.asked(turn.weights, plan.number))
        public = {"session": turn.session, "plan": plan.digest(), "round": plan.number}
        seats: dict[int, int] = {}

        def ask(phase: str, messages: Mapping[int, bytes]) -> dict[int, bytes]:
            sent = {seats[number]: message for number, message in messages.items() if number in seats}
            if phase == "keys":  # who is who is not known yet
                sent = dict.fromkeys(self._asking.nodes(len(self._roster), self._roster.threshold), b"")
            more = content if phase == "masked" else {}
            records = {
                node: RecordDict({**more, RECORD: ConfigRecord({**public, "phase": phase, "message": message})})
                for node, message in sent.items()
            }
            replies = self._asking.answers(records, f"{plan.number} {phase}")
            answers = {node: message_of(reply) for node, reply in replies.items()}
            if phase == "keys":
                seats.update(_seated(terms, answers))
            return {number: answers[node] for number, node in seats.items() if node in answers}

        steps = masked_sum(terms, range(len(self._roster)), ask)
        return Opened(plan.recipe.steps.grid.from_steps(steps))


def _seated(terms: Terms, answers: Mapping[int, bytes]) -> dict[int, int]:
    """Return the node of each member who signed keys for this round; the first, should two show the same."""
    found: dict[int, int] = {}
    for node, message in sorted(answers.items()):
        try:
            found.setdefault(one_key(terms, message)[0], node)
        except RunError:
            continue
    return found


def message_of(content: RecordDict) -> bytes:
    """Return our message in a reply, nothing if there is none."""
    said = content.config_records.get(RECORD, {}).get("message")
    return said if isinstance(said, bytes) else b""


def kind_of(content: RecordDict) -> str | None:
    """Return the class that a client says it is of, where each has an ε of its own."""
    said = content.config_records.get(RECORD, {}).get("class")
    return said if isinstance(said, str) else None


def update_of(content: RecordDict, weights: Array, layout: Layout) -> Any:
    """Return by how much a reply's arrays differ from the weights; None if they are no such arrays."""
    try:
        record = next(iter(content.array_records.values()))
        found = layout.flat({name: each.numpy() for name, each in record.items()})
    except Exception:
        return None
    if found is None:
        return None
    with np.errstate(all="ignore"):
        return found - weights
