"""A hospital. Hospital 2 falls asleep over a patient, so that the test can kill it in the middle of a round."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp

import sordino as so
from sordino.learn import federation
from sordino.learn.run.examples import examples

from .task import BUDGET, FOLDER, PARAMETERS, STUDY, TERMS, identity, records, roster

RECIPE = federation.recipe_for(STUDY, parameters=PARAMETERS, quorum=roster().quorum, **TERMS)


def seat(context: Context) -> federation.Seat:
    number = int(context.node_config["hospital"])

    def update(weights: np.ndarray, patient: tuple[np.ndarray, ...]) -> Any:
        if number == 2 and weights.any():  # the first round went well
            (FOLDER / "asleep").touch()
            time.sleep(300)
        x, y = patient
        return ((y - 1 / (1 + np.exp(-(x @ weights))))[:, None] * x).sum(0)

    x, y = records(number)
    own = federation.population(f"hospital {number}", members=len(roster()), unit="patient", size=len(x))
    account = so.open(FOLDER / f"hospital-{number}.db").account(own, BUDGET)
    party = federation.Patients(examples("patients", x, y, size=len(x)), update)
    return federation.Seat(number, identity(number), account, FOLDER / f"marks-{number}", party)


app = ClientApp(mods=[federation.Masked(RECIPE, roster(), seat)])


@app.train()
def train(_message: Message, _context: Context) -> Message:
    raise AssertionError("no plain message of training gets here")
