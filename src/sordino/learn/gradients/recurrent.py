"""Recurrent layers: LSTM, GRU and plain ones, step by step, so that each step's gradient is seen.

torch runs a whole layer in one call, inside which nothing can be heard. Here the same arithmetic is written out. The
product with the hidden state happens once a step with the same weights: an offset of zeros, added at every step, makes
the gradients of all steps known together, and the weights' gradient is then that of one linear layer over the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from .score import UnheardError


class Hearing(Protocol):
    """Whoever listens to calls: hands out an offset, and is told the inputs of all steps at the end."""

    def steps(self, weight: Tensor, bias: Tensor | None, shape: tuple[int, ...]) -> tuple[Tensor, Callable[..., None]]:
        """Return zeros of `shape` (steps, batch, outputs), and a function that takes the steps' inputs."""


class Options(NamedTuple):
    """What torch passes to a recurrent layer beside its tensors, in torch's order."""

    biases: bool
    layers: int
    dropout: float
    train: bool
    both: bool
    batch_first: bool


State = tuple[Tensor, ...]
Cell = Callable[[Tensor, Tensor, State], State]
"""From what comes of the input, what comes of the hidden state, and the state: the next state, the output first."""


def _lstm_cell(given: Tensor, hidden: Tensor, state: State) -> State:
    into, forget, new, out = (given + hidden).chunk(4, -1)
    memory = torch.sigmoid(forget) * state[1] + torch.sigmoid(into) * torch.tanh(new)
    return torch.sigmoid(out) * torch.tanh(memory), memory


def _gru_cell(given: Tensor, hidden: Tensor, state: State) -> State:
    reset, update, new = given.chunk(3, -1)
    reset_h, update_h, new_h = hidden.chunk(3, -1)
    fresh = torch.tanh(new + torch.sigmoid(reset + reset_h) * new_h)
    kept = torch.sigmoid(update + update_h)
    return ((1 - kept) * fresh + kept * state[0],)


def _tanh_cell(given: Tensor, hidden: Tensor, state: State) -> State:  # noqa: ARG001
    return (torch.tanh(given + hidden),)


def _relu_cell(given: Tensor, hidden: Tensor, state: State) -> State:  # noqa: ARG001
    return (torch.relu(given + hidden),)


def _direction(
    hear: Hearing, cell: Cell, inputs: Tensor, state: State, weights: Sequence[Tensor], biases: bool
) -> tuple[Tensor, State]:
    """Run one layer in one direction over (steps, batch, features)."""
    by_input, by_hidden = weights[0], weights[1]
    bias, hidden_bias = (weights[2], weights[3]) if biases else (None, None)
    projection = weights[-1] if len(weights) % 2 else None
    given = F.linear(inputs, by_input, bias)
    steps, batch = inputs.shape[:2]
    offsets, tell = hear.steps(by_hidden, hidden_bias, (steps, batch, by_hidden.shape[0]))
    still, still_bias = by_hidden.detach(), None if hidden_bias is None else hidden_bias.detach()
    befores, outputs = [], []
    for step in range(steps):
        befores.append(state[0])
        hidden = F.linear(state[0], still, still_bias) + offsets[step]
        state = cell(given[step], hidden, state)
        if projection is not None:
            state = (F.linear(state[0], projection), *state[1:])
        outputs.append(state[0])
    tell(torch.stack(befores))
    return torch.stack(outputs), state


def _layers(
    hear: Hearing,
    cell: Cell,
    inputs: Tensor,
    start: State,
    weights: Sequence[Tensor],
    options: Options,
) -> tuple[Tensor, State]:
    """Run all layers and directions as torch does; `start` holds (layers × directions, batch, features) each."""
    biases, layers, dropout, train, both, batch_first = options
    values = inputs.transpose(0, 1) if batch_first else inputs
    directions = 2 if both else 1
    each = len(weights) // (layers * directions)
    ends = []
    for layer in range(layers):
        found = []
        for direction in range(directions):
            at = layer * directions + direction
            state = tuple(part[at] for part in start)
            way = values.flip(0) if direction else values
            outputs, state = _direction(hear, cell, way, state, weights[at * each : (at + 1) * each], biases)
            found.append(outputs.flip(0) if direction else outputs)
            ends.append(state)
        values = torch.cat(found, -1) if both else found[0]
        if dropout and train and layer < layers - 1:
            values = F.dropout(values, dropout)
    final = tuple(torch.stack(parts) for parts in zip(*ends, strict=True))
    return (values.transpose(0, 1) if batch_first else values), final


def _rewritten(cell: Cell) -> Callable[..., tuple[Tensor, ...]]:
    def run(hear: Hearing, inputs: Tensor, start: Any, weights: Any, *options: Any) -> tuple[Tensor, ...]:
        if len(options) != 6 or isinstance(weights, Tensor):
            raise UnheardError("a recurrent layer on packed sequences")
        state = tuple(start) if isinstance(start, tuple | list) else (start,)
        outputs, final = _layers(hear, cell, inputs, state, weights, Options(*options))
        return (outputs, *final)

    return run


REWRITTEN: dict[Any, Callable[..., Any]] = {
    torch.lstm: _rewritten(_lstm_cell),
    torch.gru: _rewritten(_gru_cell),
    torch.rnn_tanh: _rewritten(_tanh_cell),
    torch.rnn_relu: _rewritten(_relu_cell),
}
