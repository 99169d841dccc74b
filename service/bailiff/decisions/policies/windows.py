"""Hours in which evictions may begin, as the clock on the wall shows them.

A window is open whenever local time is within it. So an hour that is left out when clocks go
forward is no hour of a window, and one that comes twice when they go back is one both times.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bailiff.decisions.policies.settings import Weekday

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.decisions.policies.settings import Window

_WEEKDAYS = tuple(Weekday)
_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
# A window of one weekday opens once a week, unless clocks leave its hours out that time.
_HORIZON_DAYS = 15


def open_at(now: datetime, windows: tuple[Window, ...]) -> bool:
    """Whether any of the windows is open; without any window, none is."""
    return any(_is_open(window, now) for window in windows)


def next_opening(now: datetime, windows: tuple[Window, ...]) -> datetime | None:
    """The first instant from which on one of the windows, all closed now, is open; in UTC.

    None: none opens within two weeks.
    """
    return _first_opening(now.replace(second=0, microsecond=0), windows)


@lru_cache(maxsize=16)  # thousands of pods ask within a minute
def _first_opening(minute: datetime, windows: tuple[Window, ...]) -> datetime | None:
    found = [at for window in windows if (at := _next_opening(window, minute)) is not None]
    return min(found, default=None)


def _is_open(window: Window, now: datetime) -> bool:
    local = now.astimezone(ZoneInfo(window.time_zone))
    minute = local.hour * 60 + local.minute
    start, end = minutes(window.start), minutes(window.end)
    today = local.weekday()
    if start < end:
        return start <= minute < end and _opens_on(window, today)
    if minute >= start:
        return _opens_on(window, today)
    return minute < end and _opens_on(window, (today - 1) % 7)


def _opens_on(window: Window, weekday: int) -> bool:
    return not window.days or _WEEKDAYS[weekday] in window.days


def _next_opening(window: Window, now: datetime) -> datetime | None:
    zone = ZoneInfo(window.time_zone)
    today = now.astimezone(zone).date()
    for offset in range(-1, _HORIZON_DAYS):
        candidates = _candidates(window, zone, today + timedelta(days=offset))
        found = [at for at in candidates if at > now and _is_open(window, at)]
        if found:
            return min(found)
    return None


def _candidates(window: Window, zone: ZoneInfo, day: date) -> Iterator[datetime]:
    """Local time comes into a window at its start, or by a jump of the clocks."""
    start = minutes(window.start)
    for fold in (0, 1):
        at = time(start // 60, start % 60, fold=fold)
        yield datetime.combine(day, at, tzinfo=zone).astimezone(UTC)
    jump = _jump(zone, day)
    if jump is not None:
        yield jump


def _jump(zone: ZoneInfo, day: date) -> datetime | None:
    """The instant within this local day, or so, at which clocks are changed."""
    low = datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    high = datetime.combine(day + _DAY, time(), tzinfo=zone).astimezone(UTC)
    before = low.astimezone(zone).utcoffset()
    if before == high.astimezone(zone).utcoffset():
        return None
    while high - low > _SECOND:
        middle = low + (high - low) // 2
        if middle.astimezone(zone).utcoffset() == before:
            low = middle
        else:
            high = middle
    return high.replace(microsecond=0)


def minutes(text: str) -> int:
    """Minutes since midnight of HH:MM."""
    return int(text[:2]) * 60 + int(text[3:5])
