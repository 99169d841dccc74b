"""A pause as people and `bailiff pause` write it into a ConfigMap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions.policies import PauseNotice, read_pause, write_pause

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({}, id="no key"),
        pytest.param({"other": "x"}, id="another key"),
        pytest.param({"paused": ""}, id="empty"),
        pytest.param({"paused": " \n"}, id="blank"),
        pytest.param({"paused": "false"}, id="false"),
        pytest.param({"paused": "False\n"}, id="False"),
    ],
)
def test_not_paused(data: dict[str, str]) -> None:
    assert read_pause(data) is None


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        pytest.param("migration ", PauseNotice(reason="migration"), id="typed by a person"),
        pytest.param("true", PauseNotice(), id="true"),
        pytest.param("{}", PauseNotice(), id="no words"),
        pytest.param("no", PauseNotice(reason="no"), id="not clearly off"),
        pytest.param('{"by": "an', PauseNotice(reason='{"by": "an'), id="broken JSON"),
        pytest.param('{"by": 5}', PauseNotice(reason='{"by": 5}'), id="a wrong type"),
        pytest.param("null", PauseNotice(reason="null"), id="no notice"),
        pytest.param(
            '{"reason": "x", "untill": "2020-01-01T00:00:00Z"}',
            PauseNotice(reason='{"reason": "x", "untill": "2020-01-01T00:00:00Z"}'),
            id="a misspelt field",
        ),
        pytest.param(
            '{"until": "2020-01-01T00:00:00"}',
            PauseNotice(reason='{"until": "2020-01-01T00:00:00"}'),
            id="an instant without offset",
        ),
        pytest.param(
            '{"by": "anna", "reason": "x", "until": "2026-01-31T12:00:00.1Z"}',
            PauseNotice(by="anna", reason="x", until=NOW + timedelta(microseconds=100_000)),
            id="a while to go",
        ),
    ],
)
def test_paused(text: str, notice: PauseNotice) -> None:
    assert read_pause({"paused": text}) == notice


TEXT = st.text(max_size=20)
TIMES = st.none() | st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)).map(  # noqa: DTZ001 - hypothesis wants naive bounds
    lambda at: at.replace(tzinfo=UTC)
)


@given(st.builds(PauseNotice, by=TEXT, reason=TEXT, since=TIMES, until=TIMES))
def test_what_is_written_is_read_again(notice: PauseNotice) -> None:
    assert read_pause({"paused": write_pause(notice)}) == notice


@pytest.mark.parametrize(
    ("until", "over"), [(None, False), (NOW, True), (NOW + timedelta.resolution, False)]
)
def test_one_with_an_end_is_over_by_itself(until: datetime | None, over: bool) -> None:
    assert PauseNotice(until=until).is_over(NOW) is over


@given(TEXT)
def test_whatever_is_typed_pauses_unless_it_is_clearly_off(text: str) -> None:
    off = text.strip().casefold() in ("", "false")
    assert (read_pause({"paused": text}) is None) is off


def test_words() -> None:
    notice = PauseNotice(by="anna", reason="moving\nracks", since=NOW - HOUR, until=NOW + HOUR)
    assert notice.describe() == (
        "paused by anna since 2026-01-31T11:00:00Z until 2026-01-31T13:00:00Z: moving racks"
    )
    assert PauseNotice().describe() == "paused"
    assert len(PauseNotice(reason="x" * 10_000).describe()) < 600
