"""Listening to a model: every call that brings a parameter to data is heard, and its gradients are kept by unit.

A mode of torch sees each function that the model calls, whether through a module or not. Calls that have a rule run
with their parameters held still, so one backward pass computes no parameter's gradient; a tap on the output, which
changes nothing, hands over the output's gradient, from which the rule makes the units' gradients.
Tensors that are made of parameters alone (a transposed weight, a slice, a merged adapter) are parameters by descent:
their gradients are carried back to those that they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.overrides import TorchFunctionMode

from sordino.errors import ArgumentError

from . import attention, convolution, embedding, linear, normalization, recurrent
from .bare import POINTWISE, SPREADING, can_spread, gathered
from .forms import Form, Stacked
from .place import Batch
from .pooling import FASTER
from .rule import Call, Rule
from .score import DERIVED, Reading, Step, UnheardError, layer, other, pointwise

RULES: dict[Any, Rule] = {**linear.RULES, **convolution.RULES, **embedding.RULES, **normalization.RULES}
REWRITTEN: dict[Any, Callable[..., Any]] = {**recurrent.REWRITTEN, **attention.REWRITTEN}


def tensors_in(values: Any) -> Iterator[Tensor]:
    """Yield the tensors among arguments or results, also those in lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from tensors_in(value)


def _changed(value: Any, change: Callable[[Tensor], Any]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if type(value) in (tuple, list):
        return type(value)(_changed(each, change) for each in value)
    if isinstance(value, dict):
        return {name: _changed(each, change) for name, each in value.items()}
    return value


class _Tap(torch.autograd.Function):
    """Passes an output on as it is, and hands its gradient over when it comes."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, anchor: Tensor, take: Callable[..., None], *saved: Tensor) -> Tensor:  # noqa: ARG004
        """Mark the output as changed, so that the gradient is that of this very moment, whatever is done to it next."""
        ctx.take = take
        ctx.save_for_backward(*saved)
        ctx.mark_dirty(output)
        return output

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Hand over, and pass on if anybody before wants it."""
        (gradient,) = gradients
        saved = ctx.saved_tensors
        ctx.take(gradient, *saved)
        return (gradient if ctx.needs_input_grad[0] else None, None, None, *[None] * len(saved))


class _Copy(torch.autograd.Function):
    """A copy of a parameter, laid out over the batch; hands the copy's gradient over when it comes."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, values: Tensor, take: Callable[..., None]) -> Tensor:  # noqa: ARG004
        """Return the values, which the caller has laid out."""
        ctx.take = take
        return values.view_as(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Hand over; nobody before wants it."""
        ctx.take(*gradients)
        return None, None, None


_tapped: Callable[..., Tensor] = _Tap.apply
_copied: Callable[..., Tensor] = _Copy.apply


class Listener(TorchFunctionMode):
    """Hears the calls of one forward pass, and after the backward pass holds the units' gradients."""

    def __init__(self, trained: dict[str, Tensor], reading: Reading, batch: Batch) -> None:
        super().__init__()
        self._trained = trained
        self._ids = {id(parameter) for parameter in trained.values()}
        self._reading = reading
        self._batch = batch
        self._descended: dict[int, tuple[Tensor, Tensor]] = {}  # what was handed out, and what it comes from
        self._heard: list[tuple[Tensor, Form]] = []
        self.seen: list[tuple[Step, Tensor]] | None = None  # for rehearsals: the gradients as they came
        self.anchor = torch.zeros((), requires_grad=True)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Hear one call."""
        kwargs = kwargs or {}
        if not any(self._known(each) for each in tensors_in((*args, *kwargs.values()))):
            return FASTER.get(func, func)(*args, **kwargs)
        if func in REWRITTEN:
            with self:
                return REWRITTEN[func](self, *args, **kwargs)
        known = RULES.get(func)
        if known is not None:
            arguments = known.bind(args, kwargs)
            if self._covers(known, arguments):
                return self._by_rule(func, known, arguments, args, kwargs)
        if func in POINTWISE:
            return self._pointwise(func, args, kwargs)
        return self._otherwise(func, args, kwargs)

    def steps(self, weight: Tensor, bias: Tensor | None, shape: tuple[int, ...]) -> tuple[Tensor, Callable[..., None]]:
        """Return zeros to be added to the outputs of a linear layer that runs step by step, and who takes inputs."""
        told: list[Tensor] = []
        arguments = {"input": None, "weight": weight, "bias": bias}
        zeros = torch.zeros(shape, dtype=weight.dtype)
        if not (self._known(weight) or (bias is not None and self._known(bias))):
            return zeros, told.append
        with torch._C.DisableTorchFunction():
            step = self._reading.next(layer("steps", shape))
            call, sources = self._call(RULES[F.linear], arguments)

            def take(gradient: Tensor) -> None:
                self._take(RULES[F.linear], call, sources, step, gradient, told[0].detach())

            return _copied(self.anchor, zeros, take), told.append

    def gradients(self) -> dict[str, Form]:
        """Return the units' gradients by parameter, after the backward pass; a parameter without any is left out."""
        found: dict[str, list[Form]] = {}
        names = {id(parameter): name for name, parameter in self._trained.items()}
        for source, form in self._heard:
            if id(source) in names:
                found.setdefault(names[id(source)], []).append(form)
            else:
                self._carry_back(source, form, found)
        self._heard.clear()
        return {name: forms[0] if len(forms) == 1 else _together(forms) for name, forms in found.items()}

    def _carry_back(self, source: Tensor, form: Form, found: dict[str, list[Form]]) -> None:
        """Carry gradients with respect to a descendant of parameters back to these."""
        names, parameters = list(self._trained), list(self._trained.values())
        gradients = form.stacked().to(source.dtype)
        carried = torch.autograd.grad(
            source, parameters, gradients, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
        for name, values in zip(names, carried, strict=True):
            if values is not None:
                found.setdefault(name, []).append(Stacked(values))

    def _known(self, value: Tensor) -> bool:
        return id(value) in self._ids or id(value) in self._descended

    def _attached(self, value: Any) -> Any:
        """Return a call's arguments with descendants of parameters joined to them again."""
        return _changed(value, lambda each: self._descended[id(each)][1] if id(each) in self._descended else each)

    def _source(self, value: Tensor) -> Tensor:
        return self._descended[id(value)][1] if id(value) in self._descended else value

    def _still(self, value: Any) -> Any:
        return _changed(value, lambda each: each.detach() if self._known(each) else each)

    def _covers(self, known: Rule, arguments: dict[str, Any]) -> bool:
        """Tell whether a rule covers the call: data where it wants data, and parameters nowhere but in their places."""
        data = arguments[known.data]
        beside = [value for name, value in arguments.items() if name not in known.parameters]
        return isinstance(data, Tensor) and not any(map(self._known, tensors_in(beside))) and known.fits(arguments)

    def _call(self, known: Rule, arguments: dict[str, Any]) -> tuple[Call, dict[str, Tensor]]:
        wanted = [name for name in known.parameters if arguments[name] is not None and self._known(arguments[name])]
        sources = {name: self._source(arguments[name]) for name in wanted}
        kept = {name: value for name, value in arguments.items() if name != known.data}
        return Call(kept, frozenset(wanted)), sources

    def _by_rule(self, func: Any, known: Rule, arguments: dict[str, Any], args: Any, kwargs: Any) -> Any:
        reason = known.refused(arguments)
        if reason:
            raise ArgumentError(f"this layer cannot be trained privately as it is: {reason}", "SRD-T101")
        data: Tensor = arguments[known.data]
        step = self._reading.next(layer(func.__name__, tuple(data.shape)))
        if step.role == DERIVED:
            return self._descend(func(*self._attached(args), **self._attached(kwargs)))
        call, sources = self._call(known, arguments)
        output = func(*self._still(args), **self._still(kwargs))
        take = partial(self._take, known, call, sources, step)
        return _tapped(output, self.anchor, take, data)

    def _take(
        self, known: Rule, call: Call, sources: dict[str, Tensor], step: Step, gradient: Tensor, data: Tensor
    ) -> None:
        if step.place is None:
            return
        if self.seen is not None:
            self.seen.append((step, gradient))
        with torch.no_grad():
            data, gradient = (step.place.by_unit(values.detach(), self._batch) for values in (data, gradient))
            for name, form in known.forms(call, data, gradient):
                if isinstance(form, Stacked):
                    form.squared_norms()  # remembered: read now, what was just written is in the processor's cache
                self._heard.append((sources[name], form))

    def _pointwise(self, func: Any, args: Any, kwargs: Any) -> Any:
        shapes = [each.shape for each in tensors_in((*args, *kwargs.values()))]
        wide = torch.broadcast_shapes(*shapes)
        step = self._reading.next(pointwise(func.__name__, tuple(wide)))
        if step.role == DERIVED:
            return self._descend(func(*self._attached(args), **self._attached(kwargs)))
        spread = partial(self._spread, step, wide)
        return func(*_changed(args, spread), **_changed(kwargs, spread))

    def _otherwise(self, func: Any, args: Any, kwargs: Any) -> Any:
        result = func(*self._attached(args), **self._attached(kwargs))
        results = list(tensors_in([result]))
        if not results or not any(each.requires_grad for each in results):
            return result
        everything = list(tensors_in((*args, *kwargs.values())))
        beside = () if func in SPREADING else tuple(tuple(t.shape) for t in everything if not self._known(t))
        step = self._reading.next(other(func.__name__, tuple(results[0].shape), beside))
        if step.role == DERIVED:
            return self._descend(result)
        sources = [each for each in everything if self._known(each)]
        if len(sources) != 1 or len(results) != 1:
            raise UnheardError(func.__name__)
        return self._spread(step, results[0].shape, sources[0])

    def _spread(self, step: Step, wide: tuple[int, ...], value: Tensor) -> Tensor:
        if not self._known(value):
            return value
        if not can_spread(tuple(value.shape), tuple(wide)):
            raise UnheardError(step.name)
        source, shape = self._source(value), tuple(value.shape)

        def take(gradient: Tensor) -> None:
            if step.place is None:
                return
            if self.seen is not None:
                self.seen.append((step, gradient))
            with torch.no_grad():
                self._heard.append((source, gathered(gradient, shape, step.place, self._batch)))

        return _copied(self.anchor, value.detach().expand(wide), take)

    def _descend(self, result: Any) -> Any:
        """Hand out what was made of parameters alone, held still, and remember where it comes from."""

        def still(value: Tensor) -> Tensor:
            if not value.requires_grad:
                return value
            handed = value.detach()
            self._descended[id(handed)] = (handed, value)
            return handed

        return _changed(result, still)


def _together(forms: list[Form]) -> Form:
    """Return the sum of a parameter's gradients from several calls: a norm of parts would leave out what they share."""
    total = forms[0].stacked().clone()
    for form in forms[1:]:
        total += form.stacked()
    return Stacked(total)
