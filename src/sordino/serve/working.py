"""A process that carries one job on: ``python -m sordino.serve.working``, told by its input what to work on."""

from __future__ import annotations

import json
import sys

from . import logs
from .asking.apart import carry_on
from .service import Service
from .settings import Settings


def main() -> None:
    """Open the ledger and the registry that the settings name, and carry the job on."""
    logs.install()
    told = json.load(sys.stdin)
    with Service.open(Settings(**told["settings"])) as service:
        carry_on(service.house, told["job"], told["claim"])


if __name__ == "__main__":
    main()
