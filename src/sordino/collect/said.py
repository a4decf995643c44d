"""What a part of open work says, or its end: public, and short enough for a row of the ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar


@dataclass(frozen=True)
class Said:
    """Words and noisy numbers."""

    said: Mapping[str, Any]
    receipt: Any = None
    files: ClassVar[Mapping[str, bytes]] = {}

    def to_json(self) -> str:
        """Return what is said."""
        return json.dumps(dict(self.said), separators=(",", ":"))

    def with_receipt(self, receipt: Any) -> Said:
        """Return the same with the ledger's receipt."""
        return replace(self, receipt=receipt)
