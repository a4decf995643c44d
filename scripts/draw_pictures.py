"""A hook of MkDocs: pictures of a page are drawn by the page's own examples when the site is built.

A page that saves ``name.png`` and shows ``../images/name.png`` is run, as its reader would, in an empty folder; what it
saved takes the place of the copy in docs/images, which is for readers of the repository. What was drawn is kept in
build/pictures until the page's examples change.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

KEPT = Path(__file__).parent.parent / "build" / "pictures"
_NOT_RUN = re.compile(r"^<!-- not run: .+ -->\n+```.*?^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"!\[[^\]]*\]\(\.\./images/([\w-]+\.png)\)")
_LONGEST = 600


def shown(text: str) -> set[str]:
    """Return the pictures that a page shows and saves itself."""
    return {name for name in _SHOWN.findall(text) if f'savefig("{name}"' in text}


def drawn(text: str, kept: Path) -> Path:
    """Return the folder with all that a page's examples save, which are run unless they were before."""
    code = "\n".join(_BLOCK.findall(_NOT_RUN.sub("", text)))
    folder = kept / hashlib.sha256(code.encode()).hexdigest()[:16]
    if not folder.exists():
        kept.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept) as scratch:
            work = Path(scratch) / "work"
            work.mkdir()
            _run(code, work)
            work.replace(folder)
    return folder


def _run(code: str, folder: Path) -> None:
    environment = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-"], input=code, text=True, capture_output=True, cwd=folder, env=environment, timeout=_LONGEST
    )
    if done.returncode:
        raise PluginError(f"the examples of a page failed:\n{done.stderr}")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Let the site have the pictures that its pages draw."""
    for page in list(files.documentation_pages()):
        text = page.content_string
        names = shown(text)
        if not names:
            continue
        folder = drawn(text, KEPT)
        for name in sorted(names):
            if not (folder / name).exists():
                raise PluginError(f"{page.src_uri} shows {name}, but its examples did not save it")
            address = f"images/{name}"
            old = files.get_file_from_path(address)
            if old is not None:
                files.remove(old)
            files.append(File.generated(config, address, abs_src_path=str(folder / name)))
    return files
