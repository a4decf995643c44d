"""``sordino`` and ``python -m sordino``: the command line of the whole house."""

from __future__ import annotations

from sordino.audit.commands.audit import app as audit
from sordino.serve.cli import app, main

app.add_typer(audit, name="audit")

if __name__ == "__main__":
    main()
