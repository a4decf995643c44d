"""Flower's server side: a strategy whose rounds are priced, charged, masked or clipped, and noised.

The strategy inside does what it does with one reply: the weights plus the noisy mean update, of equal weight for
everybody. How many examples a client has, its metrics and its loss are not looked at, as nobody paid for them.

**Guarantee**: that of ``rounds.py`` and ``plan.py``. Where the server is trusted (no roster) each reply that comes in
time moves the sum by at most one clipped update, whatever it holds: NaN, zeros, huge or misshapen arrays, an error;
what comes late or twice does not count. Under masks such a reply can spoil a round, never anybody's privacy.
**Assumes**, without a roster: the server is honest, keeps updates to itself, and hides who took part in which round
from whoever sees the weights; that is what makes `rate` worth its price.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array as FlowerArray
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp.strategy import Result, Strategy

from sordino.accounting.any_account import Cost
from sordino.arguments import Number, rational, shown, whole
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError
from sordino.learn.run.adaptive import Adaptive
from sordino.learn.run.rows import Array

from .layout import Layout
from .open_sums import OpenSums
from .plan import Recipe
from .populations import Population, check_account
from .recipes import FLAT, Epsilon, recipe_for
from .roster import Roster
from .rounds import Rounds, Run
from .transport import Asking, MaskedRounds, Nodes

Evaluate = Callable[[int, ArrayRecord], MetricRecord | None]


class Private:
    """A Flower strategy under differential privacy: `start` it as one would the strategy inside.

    Args:
        strategy: what turns a mean update into the next weights: FedAvg, FedAdam, …
        unit: who is protected, as the population says: "client", or what the members' units are called.
        rounds: how many rounds.
        clip: the largest norm of one unit's update.
        clipping: "flat", or "adaptive" (or what `so.learn.adaptive(…)` says) where the clip follows the norms of
            clients' updates, from `clip` on; without a roster.
        rate: with which probability a unit takes part in a round.
        epsilon: what the training may cost (with `delta`, or the account's δ), or that by class of clients; or `rho`;
            or `noise`, the standard deviation of the noise in units of the clip.
        budget: the account of the `population(…)`.
        roster: the members' identities, and how many must survive. With it members mask what they hand in and add their
            shares of noise; without it the server is trusted with every client's update.
        shares: "discrete-gaussian" or "skellam".
        checkpoint: a file that the training is kept in after every round, and goes on from if it is there.
        patience: for how many seconds members are waited for, in each phase.
    """

    def __init__(
        self,
        strategy: Strategy,
        *,
        unit: str,
        rounds: int,
        clip: Number,
        budget: DataAccount[Population],
        clipping: str | Adaptive = FLAT,
        rate: Number = 1,
        epsilon: Epsilon | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        noise: Number | None = None,
        roster: Roster | None = None,
        shares: str = "discrete-gaussian",
        checkpoint: str | Path | None = None,
        patience: Number = 600,
    ) -> None:
        self._account = check_account(budget)
        given = self._account.protected
        if unit != given.unit.name:
            raise ArgumentError(
                f"unit must be {given.unit.name!r}, as the population says, not {shown(unit)}", "SRD-A003"
            )
        self._strategy = strategy
        self._roster = roster
        self._checkpoint = checkpoint
        self._patience = float(rational("patience", patience, above=0))
        self.run: Run | None = None
        """What came of the training, after `start`."""

        def recipe(parameters: int) -> Recipe:
            return recipe_for(
                given,
                self._account.budget,
                parameters=parameters,
                rounds=rounds,
                clip=clip,
                clipping=clipping,
                rate=rate,
                epsilon=epsilon,
                delta=delta,
                rho=rho,
                noise=noise,
                shares=shares,
                quorum=None if roster is None else roster.quorum,
            )

        self._recipe = recipe
        recipe(1)  # what cannot be promised is refused here, before a model is at hand

    def price(self, parameters: int) -> Cost:
        """Return what all rounds cost for a model of so many numbers, without charging them."""
        recipe = self._recipe(whole("parameters", parameters, least=1))
        return self._account.account.price(recipe.event(), recipe.bound.neighbours)

    def start(
        self,
        grid: Any,
        initial_arrays: ArrayRecord,
        *,
        train_config: ConfigRecord | None = None,
        evaluate_fn: Evaluate | None = None,
    ) -> Result:
        """Run all rounds over Flower's grid and return its result, which holds the weights.

        `evaluate_fn` is for public data: clients are not asked how well the model does, as nobody paid for that.
        """
        first = {name: each.numpy() for name, each in initial_arrays.items()}
        layout = Layout.of(first)
        model = _Model(self._strategy, grid, layout, first, train_config or ConfigRecord(), evaluate_fn)
        recipe = self._recipe(layout.parameters)
        asking = Asking(grid, self._patience)
        total = OpenSums(Nodes(asking, model)) if self._roster is None else MaskedRounds(asking, model, self._roster)
        start = layout.flat(first)
        assert start is not None  # noqa: S101  (it is its own layout)
        self.run = Rounds(self._account, recipe, self._checkpoint).run(start, total, model.applied)
        model.result.arrays = model.record(self.run.weights)
        return model.result


class _Model:
    """The weights as Flower and the strategy inside know them."""

    def __init__(
        self,
        strategy: Strategy,
        grid: Any,
        layout: Layout,
        first: Mapping[str, Array],
        config: ConfigRecord,
        evaluate: Evaluate | None,
    ) -> None:
        self._strategy = strategy
        self._grid = grid
        self._first = first
        self._config = config
        self._evaluate = evaluate
        self._round = 0
        self.layout = layout
        self.result = Result()

    def record(self, weights: Array) -> ArrayRecord:
        """Return weights as a record."""
        arrays = self.layout.restored(weights, self._first)
        return ArrayRecord({name: FlowerArray(np.asarray(each, order="C")) for name, each in arrays.items()})

    def _trained(self, weights: Array) -> ArrayRecord:
        """Return the trained arrays alone: what is not trained is no matter of the strategy inside."""
        whole = self.record(weights)
        return ArrayRecord({name: whole[name] for name in self.layout.trained})

    def asked(self, weights: Array, number: int) -> RecordDict:
        """Return what a client is asked in a round."""
        self._round = number + 1
        config = ConfigRecord({**dict(self._config), "server-round": self._round})
        return RecordDict({"arrays": self.record(weights), "config": config})

    def applied(self, weights: Array, mean: Array) -> Array:
        """Return the next weights: what the strategy inside makes of one reply, the weights plus the mean update."""
        arrays = self._trained(weights)
        # Some strategies look at the weights when a round is configured; whom they would ask is of no concern here.
        self._strategy.configure_train(self._round, arrays, ConfigRecord(dict(self._config)), self._grid)
        content = RecordDict({"arrays": self._trained(weights + mean), "metrics": MetricRecord({"num-examples": 1})})
        reply = Message(content, dst_node_id=0, message_type=MessageType.TRAIN)
        made, _ = self._strategy.aggregate_train(self._round, [reply])
        found = None if made is None else self.layout.flat({name: each.numpy() for name, each in made.items()})
        if found is None:
            raise ArgumentError("the strategy inside made no weights, or weights of other shapes", "SRD-A003")
        if self._evaluate is not None:
            told = self._evaluate(self._round, self.record(found))
            if told is not None:
                self.result.evaluate_metrics_serverapp[self._round] = told
        return found
