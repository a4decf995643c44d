"""The report in the fields of the OpenDP deployments registry, as a draft that its curator completes and submits.

Fields that only people can fill hold *not stated* until they do. Numbers are texts in the signed report, because
canonical JSON has no floats; `with_numbers` gives the record as the registry's schema wants it.

**Source.** The registry's schema of deployments (status, tier, basic, dp_variant, privacy_loss, deployment_model,
accounting, implementation, administrative).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sordino.errors import ArgumentError

from .statements import NOT_STATED

Content = Mapping[str, Any]

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
_VARIANTS = {"pure": "Pure DP", "zcdp": "Zero-concentrated DP", "renyi": "Approximate DP"}
_BASIC = ("purpose", "curator", "description", "region")


def record(content: Content) -> dict[str, Any]:
    """Return the draft of a registry record; what does not apply is left out."""
    stated = content["stated"]
    return {
        "url_slug": _slug(content),
        "status": "Draft",
        "tier": 3 if all(stated[name] != NOT_STATED for name in _BASIC) else 1,
        "deployment": {
            "basic": _basic(content),
            "dp_variant": _variant(content),
            "privacy_loss": _privacy_loss(content),
            "deployment_model": _model(content),
            "accounting": {
                "post_processing": "Intervals, rounding, and what was asked for after aggregation (ORDER BY, HAVING, "
                "LIMIT, ratios), on noisy values alone.",
                "composition": content["composition"],
            },
            "implementation": _implementation(content),
            "administrative": {
                "notes": f"Drafted by {content['by']} from a signed transparency report of {content['made']}.",
                "registry_authors": [stated["curator"]],
            },
        },
    }


def with_numbers(draft: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose privacy parameters are numbers, as the registry's schema wants them."""
    found = copy.deepcopy(dict(draft))
    loss = found["deployment"]["privacy_loss"]
    loss["privacy_parameters"] = {name: float(Fraction(value)) for name, value in loss["privacy_parameters"].items()}
    return found


def checked_sector(sector: str | None) -> None:
    """Refuse a sector that the registry does not list."""
    if sector is not None and sector not in SECTORS:
        raise ArgumentError(f"sector must be one of {', '.join(SECTORS)}; leave it out if none fits", "SRD-A002")


def checked_updates(updates: str | None) -> None:
    """Refuse what the registry does not call a type of data source."""
    if updates is not None and updates not in ("Static", "Dynamic"):
        raise ArgumentError(
            "updates must be Static (the data stays as it is) or Dynamic (new data arrives)", "SRD-A002"
        )


def _slug(content: Content) -> str:
    words = [content["stated"]["title"], content["subject"]["dataset"]]
    named = next(word for word in words if word != NOT_STATED)
    return f"{re.sub(r'[^a-z0-9]+', '-', str(named).lower()).strip('-')}-{content['made'][:4]}"


def _basic(content: Content) -> dict[str, Any]:
    stated, subject = content["stated"], content["subject"]
    title = subject["dataset"] if stated["title"] == NOT_STATED else stated["title"]
    settled = [row["time"][:10] for row in content["releases"] if row["outcome"] == "settled"]
    found = {
        "name": title,
        "data_curators": [stated["curator"]],
        "intended_use": stated["purpose"],
        "data_product_type": "SQL queries" if subject["kind"] == "dataset" else "Summary statistics",
        "data_product_region": stated["region"],
        "description": stated["description"],
        "publication_date": min(settled, default=content["made"][:10]),
    }
    return found | ({} if stated["sector"] == NOT_STATED else {"data_product_sector": stated["sector"]})


def _variant(content: Content) -> dict[str, Any]:
    unit = content["protected"]["unit"]
    return {
        "variant_name": _VARIANTS[content["budget"]["calculus"]],
        "data_domain": f"Tables of the data set {content['subject']['dataset']}, every row of which belongs to one "
        f"{unit}; any number of rows, any values.",
        "unprotected_quantities": content["stated"]["unprotected"],
    }


def _privacy_loss(content: Content) -> dict[str, Any]:
    budget, protected = content["budget"], content["protected"]
    source = budget
    if content["subject"]["kind"] == "release":
        source = content["releases"][0]["price"] or budget
    parameters = {name: source[name] for name in ("epsilon", "delta", "rho") if source.get(name) not in (None, "0")}
    return {
        "privacy_unit": protected["unit"],
        "privacy_unit_details": protected["neighbours_in_words"],
        "privacy_parameters": parameters,
        "privacy_parameters_details": protected["promise"],
    }


def _model(content: Content) -> dict[str, Any]:
    many = content["subject"]["kind"] == "dataset"
    refresh = content["budget"]["refresh"]
    again = "begins anew each period, so losses add up over periods" if refresh else "is a cap for life"
    updates = content["stated"]["updates"]
    by_day = content["budget"]["blocks"] is not None
    source = "Dynamic" if by_day else None if updates == NOT_STATED else updates
    found = {
        "model_name": "Central",
        "actors": "The curator holds the data and runs sordino. Analysts ask and are not trusted; they may collude. "
        "Auditors read the ledger. Readers of what was released are not trusted.",
        "release_type": "Many releases" if many else "One release",
        "release_type_details": f"All releases are charged to one budget, which {again}; what does not fit is refused.",
        "access_type": "Interactive" if many else "Non-interactive",
        "access_type_details": "The budget belongs to the data set, whoever asks; analysts and projects may have caps "
        "of their own beside it. No assumption is made that analysts do not collude.",
    }
    return found | ({} if source is None else {"data_source_type": source})


def _implementation(content: Content) -> dict[str, Any]:
    laws = "; ".join(f"{each['mechanism']}: {', '.join(each['laws'][:3])}" for each in content["mechanisms"])
    return {
        "preprocessing_and_hyperparameter_tuning": "Bounds, keys and limits are declared by the owner, or found "
        "privately for a part of the price. Nothing else looks at data before noise is added.",
        "mechanisms": f"{laws or 'Nothing was released yet'}. Implemented by {content['by']}: exact discrete sampling "
        "from a cryptographic keystream on a public power-of-two grid, so floating point gives nothing away. Time is "
        f"not padded. Access to the data itself: {content['stated']['access']}.",
        "justification": content["stated"]["justification"],
    }
