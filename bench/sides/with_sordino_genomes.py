"""sordino's frequencies and top sites of the 1000 Genomes, against exact answers and against the Homer attack."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

import sordino as so
from publication_data import GENOTYPES
from sordino.accounting.tradeoff import TradeOff
from sordino.audit.attacks.membership import membership
from sordino.publish.genomes.chi_squared import chi_squared

Timing = tuple[float, int, dict[str, Any]]
PEOPLE, CAUSES, HERITABLE, BEST = 1092, 10, 0.9, 10


def versions() -> dict[str, str]:
    """Return what was measured."""
    return {"sordino": version("sordino"), "numpy": np.__version__}


@cache
def copies() -> Any:
    """Return how many copies of A1 people (rows) have at sites (columns); what is missing is one."""
    declared = so.publish.genotypes("study", GENOTYPES / "1kg_phase1_thinned", people=PEOPLE)
    return np.concatenate(list(declared._variants.blocks())).T + 1


def phenotype(seed: int) -> Any:
    """Return who is a case: half of the people, by ten sites that explain 90 % of the variance."""
    held, rng = copies(), np.random.default_rng(seed)
    share = held.mean(axis=0) / 2
    causes = held[:, rng.choice(np.flatnonzero((share > 0.2) & (share < 0.5)), CAUSES, replace=False)]
    inherited = ((causes - causes.mean(axis=0)) / causes.std(axis=0)).sum(axis=1)
    lean = np.sqrt(HERITABLE) * inherited / inherited.std() + np.sqrt(1 - HERITABLE) * rng.normal(size=PEOPLE)
    return lean > np.median(lean)


def found_sites(epsilon: str, phenotypes: int, runs: int) -> Timing:
    """Publish the ten best sites for several phenotypes; compare with the ten of largest exact χ²."""
    held, ours, peer, seconds = copies(), [], [], 0.0
    for seed in range(phenotypes):
        cases = phenotype(seed)
        sums = (held[cases] - 1).sum(axis=0), (held[~cases] - 1).sum(axis=0)
        exact = chi_squared(*sums, float(cases.sum()), float((~cases).sum()))
        best = set(np.argsort(-exact, kind="stable")[:BEST].tolist())
        declared = so.publish.genotypes("study", held, cases=cases, people=PEOPLE)
        account = so.account(declared, so.unlimited("a bench"))
        rng = np.random.default_rng(seed)
        for _ in range(runs):
            started = perf_counter()
            made = so.publish.top_snps(account, count=BEST).run(epsilon=epsilon)
            seconds += perf_counter() - started
            ours.append(len(best & {int(name) - 1 for name in made.names}) / BEST)
            peer.append(len(best & _noisy_chi_squared(exact, float(epsilon), rng)) / BEST)
    return seconds, len(ours), {"share": float(np.mean(ours)), "peer": float(np.mean(peer))}


def _noisy_chi_squared(exact: Any, epsilon: float, rng: Any) -> set[int]:
    """Return ten sites by χ² with Laplace noise, one after the other: one person moves it by 8 nearly."""
    left, taken = exact.copy(), set()
    for _ in range(BEST):
        noisy = left + rng.laplace(0, 2 * 8 * BEST / epsilon, len(left))
        taken.add(int(np.argmax(noisy)))
        left[list(taken)] = -np.inf
    return taken


def attacked(epsilon: str | None, studies: int, members: int) -> Timing:
    """Attack studies of random people by all frequencies; rates of people found are pooled over studies."""
    held, seconds, inside, outside = copies(), 0.0, [], []
    for seed in range(studies):
        order = np.random.default_rng(seed).permutation(PEOPLE)
        took_part, public, others = order[:members], order[members : members + 350], order[members + 350 :]
        started = perf_counter()
        told = held[took_part].mean(axis=0) / 2 if epsilon is None else _frequencies(held[took_part], epsilon)
        seconds += perf_counter() - started
        asked = np.concatenate([took_part, others])
        known = np.arange(len(asked)) < members
        found = membership(told, held[asked], held[public].mean(axis=0) / 2, members=known)
        # Ranks within one study, so that studies can be pooled.
        ranks = np.argsort(np.argsort(found.scores)) / len(asked)
        inside.append(ranks[known])
        outside.append(ranks[~known])
    into, out = np.concatenate(inside), np.concatenate(outside)
    auc = float(
        np.mean(
            [
                (a[:, None] > b[None]).mean() + (a[:, None] == b[None]).mean() / 2
                for a, b in zip(inside, outside, strict=True)
            ]
        )
    )
    return seconds, studies, {"auc": auc, "above": _above(into, out, epsilon)}


def _above(into: Any, out: Any, epsilon: str | None) -> float:
    """Return by how many standard errors the rate of members found exceeds what the price allows, at the worst rate."""
    if epsilon is None:
        return 0.0
    limit, worst = TradeOff.approximate(epsilon), -np.inf
    for rate in np.arange(0.01, 1, 0.01):
        seen = float((into > np.quantile(out, 1 - rate)).mean())
        allowed = 1 - float(limit(np.array([rate]))[0])
        error = np.sqrt(max(allowed * (1 - allowed), 1e-4) / len(into))
        worst = max(worst, (seen - allowed) / error)
    return float(worst)


def _frequencies(held: Any, epsilon: str) -> Any:
    account = so.account(so.publish.genotypes("study", held), so.unlimited("a bench"))
    return so.publish.frequencies(account).run(epsilon=epsilon).frequencies[:, 0]


def as_offered(epsilon: str, runs: int, members: int) -> Timing:
    """Publish as many sites of a study as the price offers for ± 0.05; compare errors with the price."""
    held = copies()[np.random.default_rng(0).permutation(PEOPLE)[:members]]
    declared = so.publish.genotypes("study", held, people=members, neighbours=so.Neighbours.REPLACE_ONE)
    account = so.account(declared, so.unlimited("a bench"))
    offer = so.publish.frequencies(account).plan(epsilon=epsilon).design.offer
    asked = so.publish.frequencies(account, sites=offer)
    promised = asked.price(epsilon=epsilon).error_of("frequencies").amount
    truth = held[:, :offer].mean(axis=0) / 2
    started = perf_counter()
    off = [asked.run(epsilon=epsilon).estimates[:, 0] - truth for _ in range(runs)]
    seconds = perf_counter() - started
    seen = float(np.sqrt(np.mean(np.square(off))))
    return seconds, runs, {"sites": offer, "promised": promised, "ratio": seen / promised}
