"""What only people can say about a data set: why it is published, who answers for it, how the data came about.

Whatever nobody stated is shown as *not stated*: a blank that can be seen is better than one that cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from sordino.errors import ArgumentError

NOT_STATED = "not stated"
_LONGEST = 10_000


@dataclass(frozen=True)
class Statements:
    """Texts by the people who answer for a data set; None where they said nothing."""

    title: str | None = None
    """What the data product is called in public."""
    purpose: str | None = None
    """What it is meant to be used for."""
    curator: str | None = None
    """Who publishes it and answers for it."""
    contact: str | None = None
    """Where to write to."""
    description: str | None = None
    """What the data is about."""
    region: str | None = None
    """Where the people are whom it describes, or whose law applies."""
    sector: str | None = None
    """Technology, Healthcare, Education, Government, Energy or Finance."""
    collection: str | None = None
    """How the data was collected, and who saw it on the way."""
    access: str | None = None
    """Who can reach the data itself, and how they are kept from it."""
    updates: str | None = None
    """Whether new data arrives: Static or Dynamic."""
    justification: str | None = None
    """Why these parameters were chosen, and by whom."""
    unprotected: str | None = None
    """What is published about the data without noise, if anything."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            fine = isinstance(value, str) and value.strip() and len(value) <= _LONGEST
            if not fine or not all(sign.isprintable() or sign == "\n" for sign in value):
                raise ArgumentError(
                    f"{field.name} must be a text of 1 to {_LONGEST} printable characters; leave it out if there is "
                    "nothing to state",
                    "SRD-A001",
                )

    def said(self) -> dict[str, str]:
        """Return every field by name, with the honest blank where nothing was stated."""
        return {field.name: getattr(self, field.name) or NOT_STATED for field in fields(self)}
