"""A federated training in one process: the same rounds, masks and noise as over a network, by direct calls.

For trying things out and for tests. Members are objects here, so nothing is hidden from whoever runs the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sordino.arguments import Number, numbers, one_of
from sordino.data.account import DataAccount
from sordino.errors import ArgumentError, RunError
from sordino.learn.run.adaptive import Adaptive
from sordino.learn.run.rows import Array

from .collector import masked_sum
from .keys import Identity
from .member import PHASES, Member
from .open_sums import OpenSums, Proposal
from .parties import Client, Party, handed_in
from .plan import Recipe
from .populations import Population, check_account
from .recipes import FLAT, Epsilon, recipe_for
from .roster import Quorum, Roster
from .rounds import Apply, Opened, Rounds, Run, Turn

Silent = Callable[[int, int], str | None]
"""From a round and a member's number to the phase from which on it says nothing; None if it stays."""


def simulate(
    parties: Sequence[Party],
    *,
    start: Array,
    budget: DataAccount[Population],
    rounds: int,
    clip: Number,
    clipping: str | Adaptive = FLAT,
    rate: Number = 1,
    epsilon: Epsilon | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    noise: Number | None = None,
    shares: str = "discrete-gaussian",
    threshold: int | None = None,
    colluding: int = 1,
    apply: Apply | None = None,
    checkpoint: str | Path | None = None,
    silent: Silent | None = None,
) -> Run:
    """Run a federated training of all parties in this process, charged to `budget` round by round.

    Args:
        parties: the members, in order: `Client(update)` each, or `Patients(examples, update)`.
        start: the first weights, one array of numbers.
        budget: the account of the `population(…)` that they are.
        rounds: how many rounds.
        clip: the largest norm of one unit's update.
        clipping: "flat", or "adaptive" (or what `so.learn.adaptive(…)` says) where the clip follows the norms of
            clients' updates, from `clip` on; of a trusted server.
        rate: with which probability a unit takes part in a round.
        epsilon: what the training may cost (with `delta`, or the account's δ), or that by class of clients; or `rho`;
            or `noise`, the standard deviation of the noise in units of the clip.
        shares: "discrete-gaussian" or "skellam".
        threshold: how many members must survive a round. With it members mask what they hand in and each adds its
            share of noise; without it the server is trusted with every client's update, and adds the noise.
        colluding: how many members may be on the server's side: their noise is not counted on. One that is curious
            knows its own, hence 1; with 0 what is priced is not what members see of each other.
        apply: from weights and the noisy mean update to the next weights; if left out, their sum.
        checkpoint: a file that the training is kept in after every round, and goes on from if it is there.
        silent: from a round and a member to the phase from which on that member says nothing ("keys", "shares",
            "masked", "confirmed" or "opened"); None if it stays.
    """
    first = np.asarray(numbers("start", start), dtype=np.float64)
    if first.ndim != 1 or not first.size:
        raise ArgumentError("start must be one array of numbers, the weights one after the other", "SRD-A003")
    quorum = None if threshold is None else Quorum(len(parties), threshold, colluding)
    account = check_account(budget)
    recipe = recipe_for(
        account.protected,
        account.budget,
        parameters=first.size,
        rounds=rounds,
        clip=clip,
        clipping=clipping,
        rate=rate,
        epsilon=epsilon,
        delta=delta,
        rho=rho,
        noise=noise,
        shares=shares,
        quorum=quorum,
    )
    if len(parties) != recipe.members:
        raise ArgumentError(f"the population has {recipe.members} members, but {len(parties)} were given", "SRD-A003")
    for party in parties:
        party.check(recipe)
    clients = [each for each in parties if isinstance(each, Client)]
    opened = OpenSums(_Called(clients))
    total = opened if quorum is None else _Masked(parties, quorum, silent or (lambda *_: None))
    return Rounds(account, recipe, checkpoint).run(first, total, apply or (lambda weights, mean: weights + mean))


class _Called:
    """Clients of a trusted server, by direct calls."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self._clients = clients

    def present(self, recipe: Recipe) -> Sequence[int]:
        """Return all of them."""
        return range(recipe.members)

    def proposals(self, turn: Turn, drawn: Sequence[int]) -> Iterator[Proposal]:
        """Yield what each that was drawn proposes."""
        for client in (self._clients[number] for number in drawn):
            yield Proposal(client.kind, client.proposed(turn.weights.copy()))


class _Masked:
    """Members under masks, called one after the other."""

    def __init__(self, parties: Sequence[Party], quorum: Quorum, silent: Silent) -> None:
        self._parties = parties
        self._silent = silent
        self._identities = [Identity() for _ in parties]
        self._roster = Roster(tuple(each.public for each in self._identities), quorum)

    def __call__(self, turn: Turn) -> Opened:
        plan, terms = turn.plan, turn.plan.terms(self._roster, turn.session)
        members = {n: Member(terms, n, each) for n, each in enumerate(self._identities)}

        def ask(phase: str, messages: Mapping[int, bytes]) -> dict[int, bytes]:
            said: dict[int, bytes] = {}
            for number, message in messages.items():
                quiet = self._silent(plan.number, number)
                if quiet is not None and PHASES.index(one_of("silent", quiet, PHASES)) <= PHASES.index(phase):
                    continue
                try:
                    hand_in = partial(handed_in, self._parties[number], turn.weights, plan.recipe)
                    said[number] = members[number].answer(phase, message, hand_in)
                except RunError:
                    continue  # who refuses says nothing
            return said

        return Opened(plan.recipe.steps.grid.from_steps(masked_sum(terms, members, ask)))
