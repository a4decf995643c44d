"""Membership inference on models: was this example in the training set?

Many models are trained on random halves of the examples. Each in turn is attacked, and the others are the attacker's
own. Three attacks, from the plainest to the best: a threshold on the loss; a classifier that has learnt from the
others' outputs what members look like; and the likelihood ratio, for each example by itself, of the attacked model's
confidence under those of the others that saw it and those that did not.

**Source**: Yeom, Giacomelli, Fredrikson, Jha 2018 (loss); Shokri, Stronati, Song, Shmatikov 2017 (shadow models);
Carlini, Chien, Nasr, Song, Terzis, Tramèr 2022, "Membership inference attacks from first principles" (LiRA, online,
Gaussian, with confidences on the logit scale, judged by true positives at low rates of false ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sordino.accounting.curve import Floats
from sordino.arguments import array, numbers, whole
from sordino.audit.claim import Claim
from sordino.audit.dice import dice
from sordino.audit.progress import bar
from sordino.errors import ArgumentError

from .drawing import Figure
from .model_roc import MembershipRoc

Flags = NDArray[np.bool_]

_FLOOR = -50.0  # of a log-probability; some models are as sure as a float can be
_MODELS_FOR_OWN_SPREAD = 64
"""From so many models on every example has a variance of its own; fewer share one (Carlini et al., section VI)."""
_RIDGE, _NEWTON_STEPS = 1e-3, 12


@dataclass(frozen=True)
class ModelMembership:
    """How well each attack told members from others, over all models."""

    attacks: Mapping[str, MembershipRoc]
    """``loss threshold``, ``shadow models`` and ``likelihood ratio``."""
    claim: Claim | None = None
    """What the training promises, drawn over the curves as the limit of every attack."""

    @property
    def best(self) -> MembershipRoc:
        """The attack by likelihood ratio."""
        return self.attacks["likelihood ratio"]

    def __str__(self) -> str:
        lines = []
        for name, roc in self.attacks.items():
            found = [f"{100 * roc.found_at(rate):.1f} % at {100 * rate:g} % false alarms" for rate in (1e-2, 1e-3)]
            lines.append(f"{name}: AUC {roc.auc:.3f}; finds {', '.join(found)}")
        return "\n".join(lines)

    def figure(self, private: ModelMembership | None = None) -> Figure:
        """Return the ROC curves on log axes, under what the claim allows; those of a `private` training beside them."""
        from .model_roc import draw

        return draw(self, private)


def membership_of_models(
    fit: Callable[[NDArray[Any], NDArray[Any], int], Any],
    rows: Any,
    labels: Any,
    *,
    models: int = 32,
    claim: Any = None,
    seed: int | None = None,
    progress: bool = False,
) -> ModelMembership:
    """Train `models` models on random halves of the examples and attack each with the help of the others.

    ``fit(rows, labels, seed)`` returns a model: one of scikit-learn's with ``predict_log_proba``, or a callable that
    gives for rows their logits (or log-probabilities), a column for each label in sorted order. `claim` is what the
    training promises for adding or removing one example.
    """
    examples, own = array("rows", rows), array("labels", labels)
    number = whole("models", models, least=4)
    kinds, codes = np.unique(own, return_inverse=True)
    rng = dice(seed)
    members = rng.random((number, len(own))) < 0.5
    logits = np.empty((number, len(own), len(kinds)))
    with bar("training models", shown=progress, total=number) as tell:
        for place, (chosen, model_seed) in enumerate(zip(members, rng.integers(0, 2**31, number), strict=True)):
            model = fit(examples[chosen], own[chosen], int(model_seed))
            logits[place] = _logits(model, examples, kinds)
            tell(place + 1)
    return membership_from_logits(logits, codes, members, claim=claim)


def membership_from_logits(logits: Any, labels: Any, members: Any, *, claim: Any = None) -> ModelMembership:
    """Attack models that are trained already, from their `logits` (models × examples × classes).

    `labels` are the classes' numbers; `members` (models × examples) says which examples each model has seen, by a fair
    coin for each.

    **Guarantee**: no attack looks at `members` of the model that it attacks, so in expectation each curve stays under
    the claim's limit if the training keeps it.
    """
    values, codes = numbers("logits", logits).astype(float), numbers("labels", labels, "iu")
    inside = numbers("members", members, "b")
    if values.ndim != 3 or codes.shape != values.shape[1:2] or inside.shape != values.shape[:2]:
        raise ArgumentError(
            "logits must be models × examples × classes, with a label for each example and members for both",
            "SRD-V022",
        )
    if (
        len(values) < 4
        or values.shape[2] < 2
        or not 0 <= codes.min(initial=0) <= codes.max(initial=0) < values.shape[2]
    ):
        raise ArgumentError(
            "an attack needs four models or more, and labels that number two classes or more", "SRD-V022"
        )
    likely = values - np.logaddexp.reduce(values, axis=2, keepdims=True)
    likely = np.maximum(likely, _FLOOR)
    margins, losses = _margins(likely, codes)
    scores = {
        "loss threshold": -losses,
        "shadow models": _by_shadows(likely, margins, losses, codes, inside),
        "likelihood ratio": _by_likelihood(margins, inside),
    }
    promised = None if claim is None else Claim.read(claim)
    return ModelMembership({name: MembershipRoc(score, inside) for name, score in scores.items()}, promised)


def _margins(likely: Floats, codes: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return log(p/(1 − p)) and −log p of the true class, both exact where p is near 1."""
    places = codes[None, :, None]
    true = np.take_along_axis(likely, places, axis=2)[..., 0]
    others = likely.copy()
    np.put_along_axis(others, np.broadcast_to(places, (*likely.shape[:2], 1)), -np.inf, axis=2)
    margins = true - np.logaddexp.reduce(others, axis=2)
    return margins, np.logaddexp(0.0, -margins)


# ---- the attacks ----------------------------------------------------------------------------------------------------


def _by_likelihood(margins: Floats, members: Flags) -> Floats:
    """Return for each model and example the log-likelihood ratio of its margin, in against out, by the other models."""
    ratio = np.zeros_like(margins)
    known = np.ones(margins.shape, dtype=bool)
    for sign, side in ((1.0, members), (-1.0, ~members)):
        counts = side.sum(axis=0) - side
        known &= counts >= 2
        safe = np.maximum(counts, 1)
        centre = margins[0]  # variances are those of differences, which are small where margins are large
        shifted = np.where(side, margins - centre, 0.0)
        mean = (shifted.sum(axis=0) - shifted) / safe
        spread = np.maximum(((shifted**2).sum(axis=0) - shifted**2) / safe - mean**2, 0.0)
        if len(margins) < _MODELS_FOR_OWN_SPREAD:
            spread = np.broadcast_to(spread.mean(axis=1, keepdims=True), spread.shape)
        spread = spread + 1e-6
        ratio += sign * (-0.5 * (margins - centre - mean) ** 2 / spread - 0.5 * np.log(spread))
    return np.where(known, ratio, 0.0)


def _by_shadows(likely: Floats, margins: Floats, losses: Floats, codes: NDArray[Any], members: Flags) -> Floats:
    """Return the score of a logistic classifier of outputs, learnt on one half of the models and used on the other."""
    entropy = -(np.exp(likely) * likely).sum(axis=2)
    ordered = np.sort(likely, axis=2)
    classes = np.broadcast_to(codes[:, None] == np.arange(likely.shape[2]), likely.shape)
    numbers_of = np.stack([margins, margins**2, losses, entropy, ordered[..., -1] - ordered[..., -2]], axis=-1)
    features = np.concatenate([numbers_of, classes], axis=-1)
    half = len(members) // 2
    scores = np.empty_like(margins)
    for own, other in ((slice(half, None), slice(half)), (slice(half), slice(half, None))):
        centre, scale = features[own].mean(axis=(0, 1)), features[own].std(axis=(0, 1)) + 1e-9
        weights = _logistic(((features[own] - centre) / scale).reshape(-1, features.shape[-1]), members[own].ravel())
        scores[other] = ((features[other] - centre) / scale) @ weights
    return scores


def _logistic(features: Floats, truth: Flags) -> Floats:
    """Return the weights of a logistic regression with a small ridge, by Newton's method."""
    weights = np.zeros(features.shape[1])
    ridge = _RIDGE * len(features) * np.eye(features.shape[1])
    for _ in range(_NEWTON_STEPS):
        chances = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (truth - chances) - ridge @ weights
        bend = (features.T * (chances * (1 - chances))) @ features + ridge
        weights = weights + np.linalg.solve(bend, slope)
    return weights


# ---- training -------------------------------------------------------------------------------------------------------


def _logits(model: Any, rows: NDArray[Any], kinds: NDArray[Any]) -> Floats:
    if not hasattr(model, "predict_log_proba"):
        found = numbers("logits", model(rows)).astype(float)
        if found.shape != (len(rows), len(kinds)):
            raise ArgumentError(f"a model must give {len(kinds)} logits for each of {len(rows)} rows", "SRD-V022")
        return found
    with np.errstate(divide="ignore"):
        known = np.asarray(model.predict_log_proba(rows), dtype=float)
    logits = np.full((len(rows), len(kinds)), _FLOOR)  # a class that the model never saw is not in its table
    logits[:, np.searchsorted(kinds, model.classes_)] = np.maximum(known, _FLOOR)
    return logits
