"""Who uses this machine, as its files are theirs."""

from __future__ import annotations

import getpass
import os


def user() -> str:
    """Return the name of whoever runs this process, or their number where a container knows no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
