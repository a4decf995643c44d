"""Attacks on others and on ourselves, and what a stranger can verify.

``claim``, ``subject``     what is promised, and what is judged by it: draw outputs on neighbouring inputs
``measuring``              a lower bound on ε with confidence, a witness, a verdict; exact where it can be
``curve``                  bounds on the whole trade-off curve
``training``               one run with many canaries, or many runs with shadow models
``accountants``            checks that an accountant must pass, and the smallest event that fails one
``probing``                two running services, one without a person: every observable but the noise must agree
``attacks``                linkage, reconstruction, differencing, membership, floating point, timing: each wins on the
                           raw release and loses on ours
``transparency``           the report of a data set or a release, signed
``commands``               ``sordino audit …``

**Guarantee.** *Refuted* is said only where an honest mechanism would be accused with a chance of at most one in a
million, whatever was searched on the way; *not refuted* promises nothing.
Everything here is imported when first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .accountants.judging import accountant as accountant
    from .attacks.audiences import reach as reach
    from .attacks.census import reconstruct_census as reconstruct_census
    from .attacks.differencing import difference as difference
    from .attacks.floating_point import impossible_outputs as impossible_outputs
    from .attacks.homogeneity import homogeneity as homogeneity
    from .attacks.linkage import link as link
    from .attacks.membership import membership as membership
    from .attacks.models import membership_of_models as membership_of_models
    from .attacks.ratings import link_ratings as link_ratings
    from .attacks.reconstruction import reconstruct as reconstruct
    from .attacks.searches import link_searches as link_searches
    from .attacks.timing import timing as timing
    from .attacks.trackers import track as track
    from .claim import Claim as Claim
    from .measuring import measure as measure
    from .probing.service import service as service
    from .subject import Subject as Subject
    from .training.many_runs import many_runs as many_runs
    from .training.one_run import one_run as one_run
    from .transparency.report import report as report

_HOME = {
    "Claim": "claim",
    "Subject": "subject",
    "measure": "measuring",
    "many_runs": "training.many_runs",
    "one_run": "training.one_run",
    "accountant": "accountants.judging",
    "service": "probing.service",
    "link": "attacks.linkage",
    "link_ratings": "attacks.ratings",
    "link_searches": "attacks.searches",
    "homogeneity": "attacks.homogeneity",
    "difference": "attacks.differencing",
    "reach": "attacks.audiences",
    "track": "attacks.trackers",
    "reconstruct": "attacks.reconstruction",
    "reconstruct_census": "attacks.census",
    "membership": "attacks.membership",
    "membership_of_models": "attacks.models",
    "impossible_outputs": "attacks.floating_point",
    "timing": "attacks.timing",
    "report": "transparency.report",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
