"""What a ledger tells a witness elsewhere, signed: checkpoints are, and what was spent and new beginnings need it too.

**Guarantee**: a signature over `told_bytes` is good for this ledger, this checkpoint, these totals and this step from
one size to the next, and for nothing else. So nobody who only has a token can lower what a witness remembers as spent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from .canonical import encode

_TITLE = "sordino ledger told"  # no name of a key has spaces, so no checkpoint can pass for this


def told_bytes(key: str, note: str, old_size: int, spent: Mapping[str, str], *, anew: bool) -> bytes:
    """Return what the ledger of `key` signs when it tells a witness `note`, after it told of `old_size` entries."""
    totals = encode(sorted(spent.items()))
    digests = (hashlib.sha256(each).hexdigest() for each in (note.encode(), totals))
    return "\n".join((_TITLE, key, str(old_size), "anew" if anew else "on", *digests, "")).encode()
