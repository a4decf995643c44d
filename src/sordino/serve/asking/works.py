"""Work that stays open and is at hand in this process; what is not is taken up again by its id."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_AT_HAND = 32


class Works:
    """The works that were asked last. What is dropped here is lost nowhere: the ledger has all that was told."""

    def __init__(self) -> None:
        self._live: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, identifier: str, live: Any) -> None:
        """Have it at hand."""
        with self._lock:
            self._live[identifier] = live
            while len(self._live) > _AT_HAND:
                self._live.popitem(last=False)

    def at_hand(self, identifier: str, resume: Callable[[], Any]) -> Any:
        """Return live work, taken up again if it is not at hand; two at once do not take up two."""
        with self._lock:
            if identifier not in self._live:
                self._live[identifier] = resume()
            self._live.move_to_end(identifier)
            return self._live[identifier]

    def forget(self, identifier: str) -> None:
        """Drop what was finished."""
        with self._lock:
            self._live.pop(identifier, None)
