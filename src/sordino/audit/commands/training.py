"""``sordino audit training``: audit a training by one run with many canaries, or by many runs with one."""

from __future__ import annotations

from typing import Annotated

import typer

from sordino.errors import ArgumentError
from sordino.serve.commands.place import JsonOption

from . import showing
from .calling import load_callable


def training(
    train: Annotated[str, typer.Argument(help="package.module:train; see --one-run and --many-runs.")],
    one_run: Annotated[bool, typer.Option("--one-run", help="train(included) gives a score for each canary.")] = False,
    many_runs: Annotated[
        bool, typer.Option("--many-runs", help="train(included, count) gives a score for each training.")
    ] = False,
    canaries: Annotated[int, typer.Option(min=1, help="With --one-run: how many canaries.")] = 1000,
    trainings: Annotated[
        int, typer.Option(min=1, help="With --many-runs: how many with the canary, and without.")
    ] = 1000,
    epsilon: showing.EpsilonOption = None,
    delta: showing.DeltaOption = None,
    mu: showing.MuOption = None,
    event: showing.EventOption = None,
    confidence: showing.ConfidenceOption = 0.95,
    seed: showing.SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Audit a training. Exit code 1: its claim is refuted."""
    if one_run == many_runs:
        raise ArgumentError("say how to audit: --one-run (many canaries) or --many-runs (one canary)", "SRD-A003")
    claim, called = showing.claim_of(epsilon, delta, mu, event), load_callable(train)
    with showing.bar("training") as told:
        if one_run:
            from sordino.audit.training.one_run import one_run as audit_one_run

            found = audit_one_run(called, canaries, claim, confidence=confidence, seed=seed)
        else:
            from sordino.audit.training.many_runs import many_runs as audit_many_runs

            found = audit_many_runs(called, claim, trainings=trainings, confidence=confidence, seed=seed, progress=told)
    showing.conclude(found, refuted=found.refuted, as_json=as_json)
