"""The job of a publication: charged whole, told by its stage and the share of the budget that was used.

Everything that was released lies in the job's folder afterwards, as one archive, with a picture beside it.

**Guarantee**: a publication runs once for its charge. One whose process died is not run again under it: what was told
of the first run (which cells were measured decides how much is spent by when) would meet fresh noise of the same cells.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

from sordino.data.account import DataAccount
from sordino.errors import RunError
from sordino.publish.released import MANIFEST, Released
from sordino.serve.kinds.kind import Running

from .asked import Asked
from .kind import publication

ARCHIVE, PICTURE = "publication.zip", "picture.png"
_INTERRUPTED = "SRD-R009"


def run(data: DataAccount[Any], asked: Asked, running: Running) -> Released:
    """Publish, and leave archive and picture in the job's folder."""
    wanted = publication(data, asked)
    if running.work is not None:
        lost = RunError(
            "the process of this publication died, and it is not run again under the same charge, which stands; ask "
            "for it anew",
            _INTERRUPTED,
        )
        data.resume(running.work, wanted.plan(**asked.words)).fail(lost)
        raise lost

    def tell(stage: str, **public: Any) -> None:
        running.tell(doing=stage, **{name: _short(value) for name, value in public.items()})

    released: Released = wanted.telling(tell).run(**asked.words)
    _write(running.folder, released)
    return released


def _short(value: Any) -> str | int | float:
    return value if isinstance(value, int | float) else str(value)[:100]


def _write(folder: Path, released: Released) -> None:
    scratch = folder / f"{ARCHIVE}.part"
    with zipfile.ZipFile(scratch, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, released.to_json())
        for name, content in released.files.items():
            archive.writestr(name, content)
    os.replace(scratch, folder / ARCHIVE)
    drawn = folder / f"{PICTURE}.part"
    released.plot().savefig(drawn, format="png")
    os.replace(drawn, folder / PICTURE)
