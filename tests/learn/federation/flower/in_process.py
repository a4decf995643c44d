"""Flower's messages without its network, run in Flower's own environment: a grid that calls the apps directly.

Prints one line of JSON for each check that held; whoever runs this compares them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAdam, FedAvg
from flwr.supercore.task_identity import TaskIdentity

import sordino as so
from sordino.accounting.neighbours import Neighbours
from sordino.learn import federation
from sordino.learn.run.examples import examples

sys.path.insert(0, str(Path(__file__).parents[3]))
from learn.federation.worlds import PARAMETERS, accuracy, skewed, step

BUDGET = so.budget(epsilon=50, delta="1e-5")
WORLD = skewed(each=60)
MARKS = TemporaryDirectory()


class Grid:
    """Calls apps by node; `silent` says who does not answer which phase, `change` meddles with replies."""

    def __init__(self, app: ClientApp, nodes: int, **words: Any) -> None:
        self._app = app
        self._contexts = {100 + n: Context(1, 100 + n, {"hospital": n}, RecordDict(), {}) for n in range(nodes)}
        self._silent: Callable[[int, str], bool] = words.get("silent", lambda *_: False)
        self._change: Callable[[int, Message], Message] = words.get("change", lambda _, reply: reply)
        self.sent: list[Message] = []

    def get_node_ids(self) -> list[int]:
        return list(self._contexts)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        assert timeout is not None
        replies = []
        for message in messages:
            node = message.metadata.dst_node_id
            message.metadata.__dict__["_message_id"] = "1"
            said = message.content.config_records.get("sordino", {})
            if not self._silent(node - 100, said.get("phase", "train")):
                reply = self._change(node - 100, self._app(message, self._contexts[node]))
                self.sent.append(reply)
                replies.append(reply)
        return replies


def record(vector: np.ndarray) -> ArrayRecord:
    return ArrayRecord({"weights": Array(np.asarray(vector, dtype=np.float64)), "seen": Array(np.array(3))})


def folder(number: int) -> Path:
    """Return where a member marks what it has answered."""
    return Path(MARKS.name) / str(number)


def hospitals(recipe: Any, roster: Any, identities: list[Any], accounts: list[Any]) -> ClientApp:
    def seat(context: Context) -> federation.Seat:
        number = int(context.node_config["hospital"])
        x, y = WORLD[number]
        party = federation.Patients(examples(f"hospital {number}", x, y, size=len(x)), step)
        return federation.Seat(number, identities[number], accounts[number], folder(number), party)

    app = ClientApp(mods=[federation.Masked(recipe, roster, seat)])

    @app.train()
    @app.evaluate()
    def plain(_message: Message, _context: Context) -> Message:
        raise AssertionError("no plain message of training, no evaluation gets here")

    return app


def masked(rounds: int, **words: Any) -> dict[str, Any]:
    """Run hospitals under masks; return what can be compared."""
    study = federation.population("study", members=5, unit="patient", size=300)
    identities = [federation.Identity() for _ in range(5)]
    roster = federation.Roster.of([each.public for each in identities], threshold=4)
    said: dict[str, Any] = {"rounds": rounds, "clip": 1, "rate": "0.5", "epsilon": 40, "delta": "1e-5"}
    recipe = federation.recipe_for(study, parameters=PARAMETERS, quorum=roster.quorum, **said)
    accounts = [
        so.account(federation.population(f"at {n}", members=5, unit="patient", size=60), BUDGET) for n in range(5)
    ]
    grid = Grid(hospitals(recipe, roster, identities, accounts), 5, **words)
    account = so.account(study, BUDGET)
    strategy = words.get("strategy", FedAvg(fraction_evaluate=0.0))
    private = federation.Private(strategy, unit="patient", budget=account, roster=roster, patience="0.1", **said)
    assert 0 < private.price(PARAMETERS).part < 1
    result = private.start(grid, record(np.zeros(PARAMETERS)))
    return {
        "accuracy": accuracy(result.arrays["weights"].numpy(), WORLD),
        "seen": int(result.arrays["seen"].numpy()),
        "charged": len(account.history),
        "charged at members": [len(each.history) for each in accounts],
        "failed": list(private.run.failed),
        "grid": grid,
        "recipe": recipe,
    }


def check_masked() -> dict[str, Any]:
    found = masked(12)
    assert found["accuracy"] > 0.8, found["accuracy"]
    assert found["charged"] == 12
    return {"charged at members": found["charged at members"], "failed": found["failed"], "seen": found["seen"]}


def check_killed() -> dict[str, Any]:
    found = masked(2, silent=lambda node, phase: node == 2 and phase == "masked")
    return {"failed": found["failed"], "charged at members": found["charged at members"]}


def check_too_few() -> dict[str, Any]:
    found = masked(2, silent=lambda node, phase: node > 2 and phase == "confirmed")
    return {"failed": found["failed"], "charged": found["charged"]}


def check_adam() -> dict[str, Any]:
    return {"failed": masked(2, strategy=FedAdam(fraction_evaluate=0.0))["failed"]}


def check_refusals() -> dict[str, Any]:
    """Whatever is not a round of this training gets a code, and touches nothing."""
    found = masked(1)
    app, context = found["grid"]._app, found["grid"]._contexts[100]
    plan = found["recipe"].round(0).digest()
    arrays = record(np.zeros(PARAMETERS))

    def answer(content: dict[str, Any], kind: str = "train") -> str:
        message = Message(RecordDict(content), dst_node_id=100, message_type=kind)
        message.metadata.__dict__["_message_id"] = "1"
        reply = app(message, context)
        return reply.error.reason if reply.has_error() else "answered"

    def ours(**words: Any) -> dict[str, Any]:
        said = {"phase": "keys", "session": bytes(32), "plan": plan, "round": 0, "message": b""}
        return {"sordino": ConfigRecord(said | words)}

    return {
        "plain": answer({"arrays": arrays, "config": ConfigRecord({"server-round": 1})}),
        "evaluate": answer({"arrays": arrays}, "evaluate"),
        "another plan": answer(ours(plan="0" * 64)),
        "another round": answer(ours(round=1)),
        "out of order": answer(ours(phase="opened")),
        "malformed": answer({"sordino": ConfigRecord({"phase": 3})}),
        "keys": answer(ours()),
        "the session again": answer(ours()),
        "numbers without shares": answer({**ours(phase="masked"), "arrays": arrays}),
    }


def check_open() -> dict[str, Any]:
    """A trusted server: equal weights, whatever odd replies hold."""
    phones = federation.population("phones", members=6)
    odd: dict[int, Any] = {0: np.full(3, np.nan), 1: np.full(3, 1e300), 2: np.zeros(5), 3: None}
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        number = int(context.node_config["hospital"])
        if number == 4:
            return Message(Error(0, "gone"), reply_to=message)
        weights = message.content["arrays"]["weights"].numpy()
        update = odd.get(number, np.array([0.5, 0.0, 0.0]))
        reply = record(weights + update) if update is not None and len(update) == 3 else record(np.zeros(5))
        metrics = MetricRecord({"num-examples": 10**6, "loss": 4711.0})
        return Message(RecordDict({"arrays": reply, "metrics": metrics}), reply_to=message)

    account = so.account(phones, so.unlimited("sums are compared"))
    grid = Grid(app, 6)
    private = federation.Private(
        FedAvg(fraction_evaluate=0.0), unit="client", rounds=1, clip=1, noise="0.001", budget=account, patience=1
    )
    result = private.start(grid, record(np.zeros(3)), evaluate_fn=lambda number, _: MetricRecord({"round": number}))
    sums = result.arrays["weights"].numpy() * 6
    assert np.linalg.norm(sums - np.array([0.5, 0, 0]) - np.ones(3) / np.sqrt(3)) < 0.02, sums
    assert 4711.0 not in json.dumps(str(result)).split()
    return {"charged": len(account.history), "evaluated": [dict(result.evaluate_metrics_serverapp[1])["round"]]}


def check_clients_under_masks() -> dict[str, Any]:
    known = federation.population("known", members=3, neighbours=Neighbours.ZERO_OUT)
    identities = [federation.Identity() for _ in range(3)]
    roster = federation.Roster.of([each.public for each in identities], threshold=3)
    said: dict[str, Any] = {"rounds": 1, "clip": 1, "noise": "0.01"}
    recipe = federation.recipe_for(known, parameters=2, quorum=roster.quorum, **said)
    accounts = [so.account(known, so.unlimited("sums are compared")) for _ in range(3)]

    def seat(context: Context) -> federation.Seat:
        number = int(context.node_config["hospital"])
        return federation.Seat(number, identities[number], accounts[number], folder(number))

    app = ClientApp(mods=[federation.Masked(recipe, roster, seat)])

    @app.train()
    def train(message: Message, _context: Context) -> Message:
        weights = message.content["arrays"]["weights"].numpy()
        return Message(RecordDict({"arrays": record(weights + np.array([0.0, 0.5]))}), reply_to=message)

    account = so.account(known, so.unlimited("sums are compared"))
    private = federation.Private(
        FedAvg(fraction_evaluate=0.0), unit="client", budget=account, roster=roster, patience=1, **said
    )
    result = private.start(Grid(app, 3), record(np.zeros(2)))
    assert np.abs(result.arrays["weights"].numpy() - [0.0, 0.5]).max() < 0.1
    return {"failed": list(private.run.failed)}


if __name__ == "__main__":
    TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1
    for name in sys.argv[1:]:
        print(json.dumps({name: globals()[f"check_{name}"]()}))  # noqa: T201
