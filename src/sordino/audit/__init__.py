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
    from .accountants.judging import accountant
    from .attacks.audiences import reach
    from .attacks.census import reconstruct_census
    from .attacks.differencing import difference
    from .attacks.floating_point import impossible_outputs
    from .attacks.homogeneity import homogeneity
    from .attacks.linkage import link
    from .attacks.membership import membership
    from .attacks.models import membership_of_models
    from .attacks.ratings import link_ratings
    from .attacks.reconstruction import reconstruct
    from .attacks.searches import link_searches
    from .attacks.timing import timing
    from .attacks.trackers import track
    from .claim import Claim
    from .measuring import measure
    from .probing.service import service
    from .subject import Subject
    from .training.many_runs import many_runs
    from .training.one_run import one_run
    from .transparency.report import report

_HOME = {
    "Claim": "claim",
    "Subject": "subject",
    "accountant": "accountants.judging",
    "difference": "attacks.differencing",
    "homogeneity": "attacks.homogeneity",
    "impossible_outputs": "attacks.floating_point",
    "link": "attacks.linkage",
    "link_ratings": "attacks.ratings",
    "link_searches": "attacks.searches",
    "many_runs": "training.many_runs",
    "measure": "measuring",
    "membership": "attacks.membership",
    "membership_of_models": "attacks.models",
    "one_run": "training.one_run",
    "reach": "attacks.audiences",
    "reconstruct": "attacks.reconstruction",
    "reconstruct_census": "attacks.census",
    "report": "transparency.report",
    "service": "probing.service",
    "timing": "attacks.timing",
    "track": "attacks.trackers",
}

__all__ = [  # noqa: RUF022  (in the order of the floor plan)
    "Claim",
    "Subject",
    "measure",
    "many_runs",
    "one_run",
    "accountant",
    "service",
    "link",
    "link_ratings",
    "link_searches",
    "homogeneity",
    "difference",
    "reach",
    "track",
    "reconstruct",
    "reconstruct_census",
    "membership",
    "membership_of_models",
    "impossible_outputs",
    "timing",
    "report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
