"""What a rehearsal made is given back, and sums with noise are the same numbers whichever way they are added."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction

import pytest
import torch
from torch import nn

from sordino.learn.descent.noisy_sum import noisy_steps
from sordino.learn.gradients import ClippedGradients, Field, rehearsal

NARROW = 2**51


def test_nothing_of_a_rehearsal_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[nn.Parameter]] = []
    nudged = rehearsal._nudged

    def noted(model: nn.Module) -> nn.Module:
        trial = nudged(model)
        made.extend(weakref.ref(each) for each in trial.parameters())
        return trial

    monkeypatch.setattr(rehearsal, "_nudged", noted)
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2), nn.Tanh())
    fields = {"inputs": Field((5,)), "targets": Field((), "int64", below=2)}
    ClippedGradients(model, nn.CrossEntropyLoss(reduction="none"), **fields, clip=1.0)  # type: ignore[arg-type]
    gc.collect()
    assert len(made) == 4
    assert not any(each() is not None for each in made)


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("exponent", [0, -3, -21, 5])
def test_noise_is_added_exactly_in_floats_and_in_integers(exponent: int, beyond: bool) -> None:
    below_half = 0.49999997
    values = [0.0, 0.5, -0.5, below_half, -below_half, 1.5, -2.5, 1e-40, -1e-40, 2.0**-29, -(2.0**-30), 3e5, -7e6]
    values += [float("nan"), 3e38, -3e38] if beyond else []
    total = torch.cat([torch.tensor(values), torch.randn(2000, generator=torch.Generator().manual_seed(0)) * 50])
    noise = torch.randint(-(2**31), 2**31, (len(total),), generator=torch.Generator().manual_seed(1))
    narrow = noisy_steps(total, noise.to(torch.int32), exponent, NARROW)
    assert torch.equal(narrow, noisy_steps(total, noise, exponent, NARROW))
    step = Fraction(2) ** exponent
    for given, drawn, got in zip(total.tolist(), noise.tolist(), narrow.tolist(), strict=True):
        if abs(given) / step < 2**49:
            assert int((Fraction(given) / step + Fraction(1, 2)) // 1) + drawn == got
