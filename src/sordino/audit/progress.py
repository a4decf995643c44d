"""A bar on the screen while something takes long: of an audit that was asked to show one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[float], None]


@contextmanager
def bar(words: str, *, shown: bool, total: float | None = 1.0) -> Iterator[Progress]:
    """Yield what is told how much is done, of `total`; without one the bar has no end."""
    if not shown:
        yield lambda _done: None
        return
    from rich.progress import Progress as Bars

    with Bars(transient=True) as bars:
        task = bars.add_task(words, total=total)
        yield lambda done: bars.update(task, completed=done)
