"""Move the fragments of ``changelog.d`` into the changelog, under the heading of a version.

A fragment is a file of lines ``- …`` in the words of users, one for each change. They go to the end of the version's
section in the order of the files' names; a version without a section gets one, above all others.

Usage: python scripts/collect_changelog.py VERSION
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def collect(root: Path, version: str) -> int:
    """Move all fragments below `root`; return how many there were."""
    found = sorted(path for path in (root / "changelog.d").glob("*.md") if path.name != "README.md")
    changes = [line for path in found for line in lines_of(path)]
    if changes:
        changelog = root / "CHANGELOG.md"
        changelog.write_text(with_changes(changelog.read_text(), version, changes))
    for path in found:
        path.unlink()
    return len(found)


def lines_of(path: Path) -> list[str]:
    """Return the lines of a fragment; refuse one that says something outside of a list."""
    lines = [line.rstrip() for line in path.read_text().splitlines() if line.strip()]
    if not lines or not lines[0].startswith("- ") or not all(line.startswith(("- ", "  ")) for line in lines):
        raise SystemExit(f"{path.name} must be lines that begin with '- ' or go on with two blanks")
    return lines


def with_changes(text: str, version: str, changes: list[str]) -> str:
    """Return the changelog with `changes` at the end of the section of `version`, which is made if it is missing."""
    if not re.fullmatch(r"\d+\.\d+\.\d+\w*", version):
        raise SystemExit("which version? make changelog VERSION=1.2.3")
    heading = re.search(rf"^## {re.escape(version)}\b.*$", text, re.MULTILINE)
    if heading is None:
        first = re.search(r"^## ", text, re.MULTILINE)
        at = first.start() if first else len(text)
        return "\n".join([text[:at].rstrip(), "", f"## {version}", "", *changes, "", text[at:]]).rstrip() + "\n"
    after = re.search(r"^## ", text[heading.end() :], re.MULTILINE)
    end = heading.end() + after.start() if after else len(text)
    rest = text[end:]
    return "\n".join([text[:end].rstrip(), *changes, ""]) + (f"\n{rest}" if rest else "")


if __name__ == "__main__":
    count = collect(ROOT, sys.argv[1] if len(sys.argv) > 1 else "")
    sys.stdout.write(f"{count} fragments moved into the changelog\n")
