"""A priced question in other tongues, to be copied from its page: Python, SQL, and a call of the API by curl."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

_APART = ("dataset", "sql", "calls")


def copies(question: Mapping[str, Any], address: str) -> dict[str, str]:
    """Return a question, as `Typed.question` says it, as texts that ask the same at a service behind an address."""
    return {
        "Python": _python(question, address.rstrip("/")),
        "SQL": question["sql"],
        "curl": _curl(question, address.rstrip("/")),
    }


def _python(question: Mapping[str, Any], address: str) -> str:
    words = ", ".join(f"{name}={_spelt(name, value)}" for name, value in question.items() if name not in _APART)
    return (
        "import os\n\nimport sordino as so\n\n"
        f'with so.connect({address!r}, os.environ["SORDINO_TOKEN"]) as house:\n'
        f"    ask = house.account({question['dataset']!r}).sql({question['sql']!r})\n"
        f"    print(ask.price({words}))\n"
        f"    answer = ask.run({words})\n"
        "print(answer)\n"
    )


def _spelt(name: str, value: Any) -> str:
    if name == "error":
        within = [str(value["within"]), f"of={value['of']!r}", *([f"size={value['size']}"] if "size" in value else [])]
        return f"so.within({', '.join(within)})"
    return repr(value)


def _curl(question: Mapping[str, Any], address: str) -> str:
    body = json.dumps(dict(question), ensure_ascii=False)
    return (
        f"curl {shlex.quote(f'{address}/api/v1/query/run')} \\\n"
        '  -H "Authorization: Bearer $SORDINO_TOKEN" \\\n'
        '  -H "Idempotency-Key: $(uuidgen)" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  -d {shlex.quote(body)}\n"
    )
