"""``python -m sordino``: the command line."""

from __future__ import annotations

from sordino.serve.cli import main

if __name__ == "__main__":
    main()
