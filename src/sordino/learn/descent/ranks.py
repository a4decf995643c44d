"""The processes of a data-parallel training, and all that goes between them: tensors, in a fixed order of messages.

The *leader* (rank 0) has the account, the noise and the optimizer; *followers* have neither. Before each step the
leader, once the step is charged, sends GO and the weights; every rank sums its units' clipped gradients in whole steps
of the grid; the whole numbers are added. At the end the leader sends STOP and the last weights.

**Guarantee**: no rank touches data before the leader was charged for the step. A rank that fails adds one to a count of
failures instead of numbers, so that all of them stop; what went wrong is told nowhere.
**Assumes**: ranks trust each other, and so does the network between them: what they send is secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

from sordino.errors import ArgumentError

GO, STOP = 1, 2


class Ranks:
    """This process among those of a group that `torch.distributed.init_process_group` has made."""

    def __init__(self) -> None:
        if not (dist.is_available() and dist.is_initialized()):
            raise ArgumentError(
                "training with several processes needs a group of them: call "
                'torch.distributed.init_process_group("gloo", …) in each before',
                "SRD-A003",
            )
        self.rank = dist.get_rank()
        self.count = dist.get_world_size()

    @property
    def leads(self) -> bool:
        """Whether this is the process that has the account."""
        return self.rank == 0

    def agree(self, said: str) -> bool:
        """Return whether all ranks say the same."""
        told = torch.from_numpy(np.frombuffer(hashlib.sha256(said.encode()).digest(), np.int64).copy())
        first = told.clone()
        dist.broadcast(first, 0)
        alike = torch.tensor([int(torch.equal(first, told))])
        dist.all_reduce(alike, dist.ReduceOp.MIN)
        return bool(alike.item())

    def number(self, value: int = 0) -> int:
        """Send a number from the leader to all, and return it."""
        told = torch.tensor([value])
        dist.broadcast(told, 0)
        return int(told.item())

    def weights(self, model: nn.Module) -> None:
        """Send the leader's weights, and whatever else belongs to the model's state, to all."""
        for each in model.state_dict().values():
            dist.broadcast(each, 0)

    def drawn(self, units: int | None, mark: str, draw: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64] | None:
        """Return the rank that each of so many units falls to, as the leader draws it.

        None for all of them if they do not have the same units, by number and `mark`, or one (who says None) has none.
        """
        if not self.agree(f"{units} {mark}") or units is None:
            return None
        ranks = torch.from_numpy(draw()) if self.leads else torch.zeros(units, dtype=torch.int64)
        dist.broadcast(ranks, 0)
        return ranks.numpy()

    def added(self, numbers: Tensor | None, size: int) -> Tensor | None:
        """Return, to the leader, the sum of all ranks' whole numbers; None if a rank had none to give.

        Followers get zeros or their own, which say nothing; they too get None if a rank had none.
        """
        given = torch.zeros(size + 1, dtype=torch.int64)
        if numbers is None:
            given[-1] = 1
        else:
            given[:-1] = numbers
        dist.reduce(given, 0)
        failed = self.number(int(given[-1].item()))
        return None if failed else given[:-1]
