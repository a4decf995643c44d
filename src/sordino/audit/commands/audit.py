"""``sordino audit mechanism|release|service|training|accountant|report``; exit code 1 where a claim is refuted."""

from __future__ import annotations

import typer

from .accountant import accountant
from .mechanism import mechanism
from .release import release
from .report import report
from .service import service
from .showing import ending_well
from .training import training

app = typer.Typer(help="Attack a mechanism, a release, a service, a training or an accountant.", no_args_is_help=True)
for _command in (mechanism, release, service, training, accountant, report):
    app.command()(ending_well(_command))
