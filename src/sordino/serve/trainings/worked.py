"""The job of a training: charged tranche by tranche, told by step and price, gone on with from its checkpoint.

Each tranche is a reservation of its own. A process that dies leaves the one in flight charged; what is run again is
charged again. Told is what stands in the ledger at the same moment: which tranche was charged, and what all cost.

**Guarantee**: nothing is told between two charges, so no watcher learns how long a step took.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sordino.accounting.event import Event
from sordino.accounting.events import Declared
from sordino.accounting.plan import Plan
from sordino.accounting.work import Work
from sordino.data.account import DataAccount
from sordino.errors import RunError
from sordino.gate import Gate
from sordino.learn.run.checkpoint import weights_digest
from sordino.learn.run.correlation import Banded, Correlation, Independent, banded
from sordino.learn.run.plan import Trained, TrainingPlan
from sordino.ledger.chain import Chain
from sordino.serve.kinds.kind import Running

from .costs import Costs
from .recipe import Recipe
from .stored import StoredExamples

if TYPE_CHECKING:
    from sordino.learn.descent.training import Training

CHECKPOINT = "checkpoint.npz"
WEIGHTS = "weights.npz"
_TRANCHE = "tranche.json"
_INTERRUPTED = "SRD-R009"


class _Noted(DataAccount[StoredExamples]):
    """An account that says so whenever a tranche was charged."""

    def __init__(self, protected: StoredExamples, gate: Gate, note: Callable[[Plan, Work], None]) -> None:
        super().__init__(protected, gate)
        self._note = note

    def begin(self, plan: Plan) -> Work:
        """Charge a tranche, and note it."""
        work = super().begin(plan)
        self._note(plan, work)
        return work


def run(data: DataAccount[StoredExamples], recipe: Recipe, running: Running) -> Trained | None:
    """Train, from the beginning or from where an earlier process of the job was.

    Returns the last tranche; None if all were settled before, and the ledger has it.
    """
    gate, examples = data.account, data.protected
    if not isinstance(gate, Gate):
        raise RunError("a training of a service is charged by its gate", "SRD-R001")
    costs = Costs.of(recipe, examples.declared, gate.budget)
    tranches = gate.in_tranches(costs.event(), costs.sampler.neighbours)
    charged = [] if tranches.chain is None else [_undeclared(each) for each in tranches.chain.events()]
    folder = running.folder

    def note(plan: Plan, work: Work) -> None:
        charged.append(_undeclared(plan.event()))
        if isinstance(plan, TrainingPlan):
            _write(folder / _TRANCHE, json.dumps({"id": work.id, "first": plan.first, "steps": plan.steps}))
            tell(plan.first)

    def tell(step: int) -> None:
        spent = costs.spent(*charged)
        running.tell(step=step, steps=costs.steps, tranches=len(charged), **{costs.measure: round(spent, 6)})

    account = _Noted(examples, tranches, note)
    training, step_taken, weights = _prepared(account, recipe, costs, folder / CHECKPOINT)
    with training as steps:
        _close_left(tranches.chain, training, folder / _TRANCHE, weights)
        for step in steps:
            step.gradient()
            step_taken()
    tell(costs.steps)
    _write_weights(folder / WEIGHTS, weights())
    return training.settled[-1] if training.settled else None


def _prepared(
    account: DataAccount[Any], recipe: Recipe, costs: Costs, checkpoint: Path | None
) -> tuple[Training, Callable[[], Any], Callable[[], dict[str, Any]]]:
    """Return the training, what takes a step, and what returns the weights; torch is loaded here, in a job alone."""
    from sordino.learn.descent.from_recipe import loss_of, model_of, optimizer_of
    from sordino.learn.descent.training import Training

    model = model_of(costs.model)
    optimizer = optimizer_of(recipe.optimizer, recipe.rate, recipe.momentum)(model.parameters())
    training = Training(
        model,
        loss_of(costs.loss),
        account.protected,
        budget=account,
        batch=costs.sampler.batch,
        clip=recipe.word("clip"),
        steps=costs.steps,
        noise=costs.multiplier,
        delta=recipe.word("delta"),
        sampling=recipe.sampling,
        clipping=recipe.clipping,
        correlation=_settled(costs.course.correlation),
        pay=recipe.pay,
        tranche=recipe.word("tranche"),
        per_owner=recipe.word("per_owner") or 8,
        bfloat16=bool(recipe.word("bfloat16")),
        checkpoint=checkpoint,
        kept=[optimizer],
    )
    model.train()
    return training, optimizer.step, lambda: {name: each.numpy().copy() for name, each in model.state_dict().items()}


def _undeclared(event: Event) -> Event:
    """Return what was run, of what was charged."""
    return event.event if isinstance(event, Declared) else event


def _settled(correlation: Correlation) -> Banded | None:
    """Return the correlation that the price was found with, in a user's words."""
    return None if isinstance(correlation, Independent) else banded(coefficients=correlation.column)


def _close_left(chain: Chain | None, training: Training, note: Path, weights: Callable[[], dict[str, Any]]) -> None:
    """Close the tranche that a process left open when it died.

    It failed, and its steps are run and charged again; unless its checkpoint was written, so that it only lacks its
    settlement.
    """
    newest = None if chain is None else chain.newest()
    if chain is None or newest is None or not newest.running:
        return
    said: dict[str, Any] = json.loads(note.read_text()) if note.exists() else {"id": None}
    if said["id"] == newest.id and training.step == said["first"] + said["steps"]:
        plan = TrainingPlan(training.recipe, said["first"], said["steps"])
        chain.settle_left(Trained(plan, plan.steps, weights_name(weights())))
    else:
        chain.fail_left(_INTERRUPTED)


def weights_name(weights: dict[str, Any]) -> str:
    """Return the digest of weights as a settled tranche names it."""
    return weights_digest({f"0/{name}": each for name, each in weights.items()})


def _write(path: Path, text: str) -> None:
    scratch = path.with_name(f"{path.name}.part")
    scratch.write_text(text)
    os.replace(scratch, path)


def _write_weights(path: Path, weights: dict[str, Any]) -> None:
    scratch = path.with_name(f"{path.name}.part")
    with open(scratch, "wb") as file:
        np.savez(file, **weights)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
