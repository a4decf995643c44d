"""The server. It is killed in its second round, once; the next run goes on from the checkpoint."""

from __future__ import annotations

import json
import os
import signal

import numpy as np
from flwr.app import Array, ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

import sordino as so
from sordino.learn import federation

from .task import BUDGET, FOLDER, PARAMETERS, STUDY, TERMS, roster

app = ServerApp()


def killed_once(number: int, _: ArrayRecord) -> MetricRecord | None:
    if number == 2 and not (FOLDER / "killed").exists():
        (FOLDER / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return None


@app.main()
def main(grid: Grid, _context: Context) -> None:
    with so.open(FOLDER / "budget.db") as house:
        account = house.account(STUDY, BUDGET)
        private = federation.Private(
            FedAvg(fraction_evaluate=0.0, min_available_nodes=1, min_train_nodes=1),
            unit="patient",
            budget=account,
            roster=roster(),
            checkpoint=FOLDER / "checkpoint.npz",
            patience=45,
            **TERMS,
        )
        start = ArrayRecord({"weights": Array(np.zeros(PARAMETERS))})
        result = private.start(grid, start, evaluate_fn=killed_once)
        said = {
            "weights": result.arrays["weights"].numpy().tolist(),
            "rounds": [each.plan.number for each in private.run.settled],
            "failed": list(private.run.failed),
            "charged": len(account.history),
            "sound": house.verify().sound,
        }
    (FOLDER / "result.json").write_text(json.dumps(said))
