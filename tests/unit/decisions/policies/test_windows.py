"""When windows are open: examples with names, and a model that walks minute by minute."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bailiff.decisions.policies import Weekday, Window
from bailiff.decisions.policies.windows import next_opening, open_at

DAYS = tuple(Weekday)
WEEKEND = (Weekday.SATURDAY, Weekday.SUNDAY)
BERLIN = "Europe/Berlin"
NIGHT = Window(start="22:00", end="06:00", time_zone=BERLIN)
# Sunday 2026-03-29, 01:00 UTC: 02:00 becomes 03:00. Sunday 2026-10-25, 01:00 UTC: 03:00, 02:00.
EARLY = Window(start="02:15", end="02:45", time_zone=BERLIN)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "now", "is_open"),
    [
        pytest.param(NIGHT, "2026-06-01T19:59:59", False, id="a second before it opens"),
        pytest.param(NIGHT, "2026-06-01T20:00", True, id="as it opens"),
        pytest.param(NIGHT, "2026-06-02T03:59:59", True, id="past midnight, before it closes"),
        pytest.param(NIGHT, "2026-06-02T04:00", False, id="as it closes"),
        pytest.param(
            Window(start="22:00", end="06:00", days=WEEKEND), "2026-06-08T05:00", True,
            id="Monday, still Sunday's window",
        ),
        pytest.param(
            Window(start="22:00", end="06:00", days=WEEKEND), "2026-06-06T05:00", False,
            id="Saturday, Friday had none",
        ),
        pytest.param(Window(start="00:00", end="24:00"), "2026-06-06T23:59:59", True, id="all day"),
        pytest.param(EARLY, "2026-03-29T01:15", False, id="an hour that is left out"),
        pytest.param(EARLY, "2026-10-25T00:20", True, id="an hour that comes twice, once"),
        pytest.param(EARLY, "2026-10-25T01:20", True, id="an hour that comes twice, again"),
    ],
)  # fmt: skip
def test_open(window: Window, now: str, is_open: bool) -> None:
    assert open_at(instant(now), (window,)) is is_open


@pytest.mark.parametrize(
    ("window", "now", "opening"),
    [
        pytest.param(NIGHT, "2026-06-01T12:00:30.5", "2026-06-01T20:00", id="today"),
        pytest.param(NIGHT, "2026-12-01T12:00", "2026-12-01T21:00", id="in winter"),
        pytest.param(
            Window(start="08:00", end="10:00", days=(Weekday.MONDAY,)),
            "2026-06-01T10:00", "2026-06-08T08:00", id="in a week",
        ),
        pytest.param(EARLY, "2026-03-28T12:00", "2026-03-30T00:15", id="that hour is left out"),
        pytest.param(
            Window(start="02:15", end="02:45", days=(Weekday.SUNDAY,), time_zone=BERLIN),
            "2026-03-28T12:00", "2026-04-05T00:15", id="and with it the week's only one",
        ),
        pytest.param(
            Window(start="02:15", end="04:00", time_zone=BERLIN),
            "2026-03-28T12:00", "2026-03-29T01:00", id="by a jump into the middle",
        ),
        pytest.param(EARLY, "2026-10-25T00:50", "2026-10-25T01:15", id="the same hour again"),
    ],
)  # fmt: skip
def test_next_opening(window: Window, now: str, opening: str) -> None:
    assert next_opening(instant(now), (window,)) == instant(opening)


def test_of_several_windows_the_first_to_open_counts() -> None:
    windows = (Window(start="20:00", end="21:00"), Window(start="18:00", end="19:00"))
    assert next_opening(instant("2026-06-01T12:00"), windows) == instant("2026-06-01T18:00")
    assert open_at(instant("2026-06-01T18:30"), windows)
    assert not open_at(instant("2026-06-01T19:30"), windows)


# Half hours, midnights that are skipped or doubled, and quarters.
ZONES = (
    "UTC", BERLIN, "America/New_York", "America/St_Johns", "America/Havana", "Africa/Cairo",
    "Africa/Casablanca", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
)  # fmt: skip
CHANGES = ("2026-03-08", "2026-03-29", "2026-04-04", "2026-04-24", "2026-10-25", "2026-10-29",
           "2026-11-01", "2011-12-30")  # fmt: skip
MINUTES = st.integers(0, 24 * 60 - 1) | st.sampled_from((0, 30, 90, 120, 150, 179, 180, 1439))


def text_of(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"


WINDOWS = st.builds(
    lambda start, length, days, zone: Window(
        start=text_of(start), end=text_of((start + length) % 1440), days=days, time_zone=zone
    ),
    MINUTES,
    st.integers(1, 90) | st.integers(1, 1439),
    st.lists(st.sampled_from(DAYS), max_size=3, unique=True).map(tuple),
    st.sampled_from(ZONES),
)
INSTANTS = st.builds(
    lambda day, offset: instant(day) + timedelta(seconds=offset),
    st.sampled_from(CHANGES),
    st.integers(-2 * 86_400, 2 * 86_400),
)


def modelled(window: Window, now: datetime) -> bool:
    """Is the wall clock within an opening of today or of yesterday?"""
    wall = now.astimezone(ZoneInfo(window.time_zone)).replace(tzinfo=None)
    for day in (wall.date(), wall.date() - timedelta(days=1)):
        start = datetime.combine(day, time.fromisoformat(window.start))
        end = datetime.combine(day, time.fromisoformat(window.end))
        if end <= start:
            end += timedelta(days=1)
        if start <= wall < end and (not window.days or DAYS[day.weekday()] in window.days):
            return True
    return False


@given(WINDOWS, INSTANTS)
@example(EARLY, instant("2026-10-25T01:20"))
def test_open_as_the_model_says(window: Window, now: datetime) -> None:
    assert open_at(now, (window,)) is modelled(window, now)


def walked(window: Window, now: datetime) -> datetime | None:
    """The next opening, found minute by minute; None: none for eight days."""
    minute = now.replace(second=0, microsecond=0)
    later = (minute + timedelta(minutes=count) for count in range(1, 8 * 24 * 60))
    return next((at for at in later if modelled(window, at)), None)


def when_closed(window: Window, now: datetime) -> datetime:
    """The first of now and the minutes after it in which the window is not open."""
    while modelled(window, now):
        now += timedelta(minutes=1)
    return now


@settings(max_examples=100, deadline=None)
@given(WINDOWS, INSTANTS)
@example(Window(start="00:00", end="01:00", time_zone="Africa/Cairo"), instant("2026-04-23T10:00"))
@example(Window(start="23:30", end="23:45", time_zone="Africa/Cairo"), instant("2026-10-29T20:50"))
def test_next_opening_as_the_model_walks(window: Window, now: datetime) -> None:
    now = when_closed(window, now)
    expected, opening = walked(window, now), next_opening(now, (window,))
    if expected is None:  # the week's only one was left out
        assert opening is not None
        assert opening > now + timedelta(days=7)
    else:
        assert opening == expected
