"""The balance of one scope: what was spent, in this period and before, over all and by day."""

from __future__ import annotations

from collections.abc import Iterator

from sordino.accounting.columns import Vector
from sordino.accounting.filter import Remaining
from sordino.accounting.units import SATURATED

from .periods import period, starts
from .rule import Rule
from .vectors import Lanes, packed, summed, unpacked

Paid = tuple[int, dict[str, Vector], Vector]
"""What a balance would hold after a charge: the sum (packed), the days that change, and the largest of any day."""

Held = tuple[int, Vector, Vector, int, Rule, tuple[int, ...], dict[str, Vector | None]]
"""What a balance holds now, as far as a charge, a refresh or another budget can change it."""

_NO_DAYS: dict[str, Vector] = {}


class Balance:
    """What one scope has spent under its rule. Only `State` changes it.

    `before` adds up the periods before this one. Where days have budgets (`by_day`), `days` holds what each of them has
    spent, and `floor` what was burnt on all of them, past and future. `ruled` holds where its rule stands in the
    ledger: the position of the entry that opened the scope, and of each that set its budget anew.
    """

    __slots__ = (
        "_lanes",
        "_largest",
        "_sum",
        "before",
        "by_day",
        "days",
        "floor",
        "period",
        "refresh",
        "rule",
        "ruled",
        "width",
    )

    def __init__(self, rule: Rule, time: int, ruled: tuple[int, ...] = ()) -> None:
        self.set_rule(rule)
        self.ruled = ruled
        nothing = rule.filter.columns.nothing
        self.width = len(nothing)
        self.before = self.floor = self._largest = nothing
        self._sum = 0
        self.days: dict[str, Vector] = {}
        self.period = 0 if rule.refresh is None else period(rule.refresh, time)

    def change_rule(self, rule: Rule, position: int) -> None:
        """Take another rule with the same orders, by the entry at `position`."""
        self.set_rule(rule)
        self.ruled += (position,)

    def set_rule(self, rule: Rule) -> None:
        """Take another rule with the same orders."""
        self.rule = rule
        self._lanes = Lanes(rule.caps)
        self.by_day = rule.blocks is not None
        self.refresh = rule.refresh

    @property
    def spent(self) -> Vector:
        """The sum of all charges since the period began, each once."""
        return unpacked(self._sum, self.width)

    @property
    def busiest(self) -> Vector:
        """What counts against the caps: the sum, or where days have budgets the largest of any day in each column."""
        return self._largest if self.by_day else self.spent

    def busiest_of(self, days: tuple[str, ...]) -> Vector:
        """Return the same for what reads these days alone; for all of them if none are named."""
        if not days or not self.by_day or self.rule.one_column_for_all_blocks:
            return self.busiest
        return tuple(map(max, self.floor, self.floor, *(self.days.get(day, self.floor) for day in days)))

    def due(self, time: int) -> int | None:
        """Return the period that must be entered before anything is charged at `time`, or None."""
        if self.refresh is None:
            return None
        now = period(self.refresh, time)
        return now if now > self.period else None

    def paid(self, days: tuple[str, ...], amount: Vector) -> Paid | None:
        """Return what the balance would hold after a charge, or None if it does not fit. Nothing changes."""
        after = self._lanes.add(self._sum, packed(amount))
        if not self.by_day:
            return (after, _NO_DAYS, ()) if self._lanes.fits(after) else None
        changed = {day: summed(self.days.get(day, self.floor), amount) for day in days}
        largest = tuple(map(max, self._largest, *changed.values()))
        checked = (largest,) if self.rule.one_column_for_all_blocks else changed.values()
        return (after, changed, largest) if all(self._lanes.fits(packed(each)) for each in checked) else None

    def take(self, paid: Paid) -> None:
        """Hold what `paid` returned."""
        self._sum, changed, largest = paid
        if changed:
            self.days.update(changed)
            self._largest = largest

    def seen(self, days: tuple[str, ...], time: int) -> Iterator[tuple[str, Vector]]:
        """Yield, by day, the vectors to which the filter adds a charge on `days` at `time`; it must fit all of them.

        Where one column must hold for all days, that is one vector: in each column the largest of the days that are
        charged, and `SATURATED` in a column that some day has used up already.
        """
        if self.rule.blocks is None:
            yield "", self.spent if self.due(time) is None else self.rule.filter.columns.nothing
            return
        held = [self.days.get(day, self.floor) for day in days]
        if not self.rule.one_column_for_all_blocks:
            yield from zip(days, held, strict=True)
            return
        columns = zip(*held, self._largest, self.rule.caps, strict=True)
        yield "", tuple(SATURATED if peak > cap else max(named) for *named, peak, cap in columns)

    def enter(self, number: int) -> None:
        """Begin period `number` with nothing spent."""
        self.before, self.period, self._sum = self.lifetime, number, 0

    def burn(self, amount: Vector) -> None:
        """Add `amount` whether it fits or not; on every day, past and future, for nobody knows which it was."""
        self._sum = self._lanes.add(self._sum, packed(amount))
        self._largest, self.floor = summed(self._largest, amount), summed(self.floor, amount)
        self.days = {day: summed(held, amount) for day, held in self.days.items()}

    def held(self, days: tuple[str, ...]) -> Held:
        """Return what `go_back` needs after something was charged on `days`, or changed beside them."""
        on_days = {day: self.days.get(day) for day in days}
        return self._sum, self._largest, self.before, self.period, self.rule, self.ruled, on_days

    def go_back(self, held: Held) -> None:
        """Hold again what `held` returned."""
        self._sum, self._largest, self.before, self.period, rule, self.ruled, days = held
        if rule is not self.rule:
            self.set_rule(rule)
        for day, before in days.items():
            if before is None:
                self.days.pop(day, None)
            else:
                self.days[day] = before

    def restore(self, number: int, spent: Vector, before: Vector, floor: Vector, days: dict[str, Vector]) -> None:
        """Hold what a snapshot says."""
        self.period, self._sum, self.before, self.floor, self.days = number, packed(spent), before, floor, days
        self._largest = tuple(map(max, floor, floor, *days.values()))

    def would_hold(self, rule: Rule) -> bool:
        """Return whether what was spent is within the caps of another rule for the same scope."""
        by_day = rule.blocks is not None and not rule.one_column_for_all_blocks
        held = (self.floor, *self.days.values()) if by_day else (self.busiest,)
        return all(rule.filter.fits(each, rule.filter.columns.nothing) for each in held)

    def on(self, day: str) -> Vector:
        """Return what one day has spent, or for "" the sum since the period began."""
        return self.days.get(day, self.floor) if day else self.spent

    @property
    def lifetime(self) -> Vector:
        """Everything ever charged, each charge once: an upper bound for any one unit, whatever the periods and days."""
        return summed(self.before, self.spent)

    @property
    def remaining(self) -> Remaining:
        """The largest events that would still fit, on any day where days have budgets."""
        return self.rule.filter.remaining(self.busiest)

    @property
    def used(self) -> float:
        """The part of the budget that is used up, of the busiest day where days have budgets."""
        return self.rule.filter.used(self.busiest)

    def next_start(self, time: int) -> int | None:
        """Return when the period after that of `time` begins, in milliseconds since 1970; None if there are none."""
        refresh = self.rule.refresh
        return None if refresh is None else starts(refresh, max(self.period, period(refresh, time)) + 1)
