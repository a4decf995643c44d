"""YAML without its traps: what looks like a text is a text.

As in YAML 1.2, only ``true`` and ``false`` are booleans (not yes, no, on, off), ``010`` and ``12:30`` are texts, and so
are ``0x1F`` and ``1_000``. A name that stands twice is refused. Texts that look like numbers or dates need quotes.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from sordino.errors import ArgumentError

_NUMBER_STARTS = list("-+.0123456789")
_RULES: tuple[tuple[str, str, list[str]], ...] = (
    ("null", r"~|null|", ["~", "n", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", _NUMBER_STARTS),
    ("float", r"[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)", _NUMBER_STARTS),
    (
        "timestamp",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?",
        list("0123456789"),
    ),
)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (filled below)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [self.construct_object(key, deep=True) for key, _ in node.value]
        for name in names:
            if not isinstance(name, str):
                raise yaml.constructor.ConstructorError(
                    None, None, "a name is no text; put it in quotes", node.start_mark
                )
            if names.count(name) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{name!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep=deep)  # type: ignore[no-any-return]


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  (filled below)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (the caller's signature)
        return True


for _tag, _pattern, _starts in _RULES:
    for _each in (_Loader, _Dumper):
        _each.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _starts)


def parse(text: str, where: str) -> Any:
    """Return what the text says; `where` is what errors call it."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  (a SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ArgumentError(f"{where}{line} is not YAML as read here: {problem or 'a bad value'}", "SRD-A006") from None


def write(value: Any) -> str:
    """Return the value as a text from which `parse` reads the same."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120
    )
    return text
