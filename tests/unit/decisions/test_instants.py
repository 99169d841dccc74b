"""Whatever instants a caller names, the answer's are in UTC and can be written."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.decisions import SYSTEMS, Options
from bailiff.decisions.instants import END_OF_TIME, START_OF_TIME, in_utc, later
from bailiff.kinds import decode

ANSWERED = ("evictAt", "holdsUntil", "decidedAt", "dueSince", "addedAt", "deadline")
OFFSETS = st.integers(-23 * 60, 23 * 60).map(
    lambda m: f"{'-' if m < 0 else '+'}{abs(m) // 60:02}:{abs(m) % 60:02}"
)
INSTANTS = st.builds(
    lambda at, offset: at.isoformat() + offset,
    st.one_of(st.datetimes(), st.sampled_from([datetime.min, datetime.max])),  # noqa: DTZ901 - made aware by the offset
    OFFSETS,
)


def ask(added: str, now: str, seconds: int) -> dict[str, Any]:
    toleration = {"operator": "Exists", "tolerationSeconds": seconds}
    taint = {"key": "k", "effect": "NoExecute", "timeAdded": added}
    body = {
        "pod": {"spec": {"tolerations": [toleration]}},
        "node": {"spec": {"taints": [taint]}},
        "now": now,
    }
    question = SYSTEMS.questions["decide"]
    facts = decode(msgspec.json.encode(body), question.facts)
    answer = question.ask(facts, datetime.now(UTC), Options())
    decision: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer))["decision"]
    return decision


@given(INSTANTS, INSTANTS, st.integers(-(2**63), 2**63 - 1))
def test_every_instant_is_answered_in_utc(added: str, now: str, seconds: int) -> None:
    answer = ask(added, now, seconds)
    step = answer["findings"][0]["trace"][0]
    parts = (answer, answer["findings"][0], step, step["subject"])
    told = [part[name] for part in parts for name in ANSWERED if name in part]
    assert told
    assert all(instant.endswith("Z") for instant in told)


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("2020-01-01T00:00:00+02:00", datetime(2019, 12, 31, 22, tzinfo=UTC)),
        ("0001-01-01T00:00:00+10:00", START_OF_TIME),
        ("9999-12-31T23:59:59-10:00", END_OF_TIME),
    ],
)
def test_in_utc(written: str, instant: datetime) -> None:
    found = in_utc(datetime.fromisoformat(written))
    assert found == instant
    assert found.tzinfo is UTC, "the zone of the machine will not do, though it be the same"


def test_later_ends_with_time() -> None:
    assert later(START_OF_TIME, 5) == datetime(1, 1, 1, 0, 0, 5, tzinfo=UTC)
    assert later(START_OF_TIME, 2**63 - 1) == END_OF_TIME
