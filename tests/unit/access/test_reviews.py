"""What the API server says of callers: asked once, kept for a while, and never too much of it."""

import asyncio

import pytest

from bailiff.access import (
    AccessError,
    Asked,
    Caller,
    DeniedError,
    QuotaError,
    Right,
    Rules,
    UnauthenticatedError,
    UnavailableError,
    rest_rules,
)
from bailiff.decisions import SYSTEMS
from tests.harness.reviewing import ALICE, Reviewer, guard_by

RULES = Rules(rest_rules(SYSTEMS))
DECISIONS, METRICS = ("POST", "/v1/decisions"), ("GET", "/metrics")
READS_METRICS = Right("get", path="/metrics")

pytestmark = pytest.mark.looptime(start=0)


def asked(token="good", what=DECISIONS, peer="10.0.0.1"):
    method, path = what
    return Asked(method, path, peer, [(b"authorization", f"Bearer {token}".encode())])


async def let_in(guard, **given):
    """Whether a request is let in; else the error."""
    try:
        account = await guard.admit(RULES, asked(**given))
    except AccessError as error:
        return type(error)
    account.end()
    return True


def known(guard, **given):
    """Whether the short way lets it in, too."""
    method, path, _, headers, _ = asked(**given)
    account = guard.admit_known(RULES, method, path, headers)
    if account is not None:
        account.end()
    return account is not None


async def test_a_good_token_is_asked_about_once_in_a_minute():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert not known(guard)
    for _ in range(3):
        assert await let_in(guard) is True
        assert known(guard)
    await asyncio.sleep(59.9)
    assert known(guard)
    assert reviewer.asked == ["good"]
    await asyncio.sleep(0.2)
    assert not known(guard)
    assert await let_in(guard) is True
    assert reviewer.asked == ["good", "good"]


async def test_a_bad_token_is_asked_about_once_in_ten_seconds():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert await let_in(guard, token="bad") is UnauthenticatedError
    await asyncio.sleep(9.9)
    assert await let_in(guard, token="bad") is UnauthenticatedError
    assert not known(guard, token="bad")
    assert reviewer.asked == ["bad"]
    reviewer.callers["bad"] = ALICE
    await asyncio.sleep(0.2)
    assert await let_in(guard, token="bad") is True


async def test_a_right_is_asked_about_once_in_a_minute_and_its_lack_in_ten_seconds():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert await let_in(guard, what=METRICS) is DeniedError
    reviewer.rights.add(("alice", READS_METRICS))
    await asyncio.sleep(9.9)
    assert await let_in(guard, what=METRICS) is DeniedError
    await asyncio.sleep(0.2)
    assert await let_in(guard, what=METRICS) is True
    reviewer.rights.clear()
    await asyncio.sleep(49)
    assert await let_in(guard, what=METRICS) is True
    await asyncio.sleep(11)
    assert await let_in(guard, what=METRICS) is DeniedError


async def test_rights_are_asked_for_as_the_caller_who_is_behind_the_token():
    reviewer = Reviewer(rights={("alice", READS_METRICS)})
    reviewer.callers["other"] = Caller(name="alice", groups=("ops",))
    reviewer.callers["namesake"] = Caller(name="alice", uid="2")
    guard = guard_by(reviewer)
    for token in ("good", "other", "namesake"):
        assert await let_in(guard, token=token, what=METRICS) is True
    rights = [one for one in reviewer.asked if isinstance(one, tuple)]
    assert len(rights) == 2  # of the first two the same is known, so one question will do


async def test_many_who_come_with_a_token_at_once_are_one_question():
    reviewer = Reviewer(seconds=1)
    guard = guard_by(reviewer)
    found = await asyncio.gather(*(let_in(guard) for _ in range(50)))
    assert found == [True] * 50
    assert reviewer.asked == ["good"]


async def test_who_gives_up_takes_the_answer_from_nobody():
    reviewer = Reviewer(seconds=1)
    guard = guard_by(reviewer)
    first = asyncio.create_task(let_in(guard))
    second = asyncio.create_task(let_in(guard))
    await asyncio.sleep(0.5)
    first.cancel()
    assert await second is True
    assert reviewer.asked == ["good"]


async def test_while_the_api_server_is_away_kept_answers_hold_and_nobody_else_is_let_in():
    reviewer = Reviewer(callers={"good": ALICE, "late": ALICE})
    guard = guard_by(reviewer)
    assert await let_in(guard) is True
    reviewer.away = True
    assert await let_in(guard, token="late") is UnavailableError
    await asyncio.sleep(59)
    assert await let_in(guard) is True
    await asyncio.sleep(2)
    assert await let_in(guard) is UnavailableError
    reviewer.away = False
    assert await let_in(guard) is True  # what failed is not kept


async def test_who_may_not_be_asked_about_is_not_let_in():
    guard = guard_by(reviewer := Reviewer())
    assert await let_in(guard) is True
    reviewer.away = True
    assert await let_in(guard, what=METRICS) is UnavailableError


async def test_a_question_that_hangs_is_given_up():
    reviewer = Reviewer(seconds=3600)
    guard = guard_by(reviewer)
    begun = asyncio.get_running_loop().time()
    assert await let_in(guard) is UnavailableError
    assert asyncio.get_running_loop().time() - begun == 5


async def test_no_more_questions_are_under_way_than_allowed():
    reviewer = Reviewer(seconds=0.1)
    guard = guard_by(reviewer, max_reviews=3)
    await asyncio.gather(*(let_in(guard, token=f"made-up-{n}") for n in range(30)))
    assert reviewer.at_once == 3
    assert len(reviewer.asked) == 30


async def test_no_more_wait_than_allowed():
    guard = guard_by(Reviewer(seconds=1), max_waiting=10)
    found = await asyncio.gather(
        *(let_in(guard, token=f"made-up-{n}", peer=f"10.0.0.{n}") for n in range(12))
    )
    assert found.count(UnavailableError) == 2


async def test_one_address_is_not_in_everybodys_way_with_tokens_that_it_makes_up():
    guard = guard_by(Reviewer(seconds=0.1), max_waiting=100, max_waiting_per_peer=8)
    flood = [let_in(guard, token=f"made-up-{n}", peer="10.6.6.6") for n in range(90)]
    *found, other = await asyncio.gather(*flood, let_in(guard, peer="10.0.0.1"))
    assert found.count(QuotaError) == 82
    assert other is True


async def test_a_flood_of_bad_tokens_drives_no_good_one_out():
    reviewer = Reviewer()
    guard = guard_by(reviewer, max_kept=5)
    assert await let_in(guard) is True
    for number in range(50):
        await let_in(guard, token=f"made-up-{number}")
    assert known(guard)
    assert reviewer.asked.count("good") == 1
    assert len(guard._callers._denied) == 5


async def test_of_good_tokens_the_oldest_makes_room():
    reviewer = Reviewer(callers={f"t{n}": ALICE for n in range(3)})
    guard = guard_by(reviewer, max_kept=2)
    for token in ("t0", "t1", "t2"):
        assert await let_in(guard, token=token) is True
    assert [known(guard, token=token) for token in ("t0", "t1", "t2")] == [False, True, True]


async def test_nothing_is_left_under_way_at_the_end():
    guard = guard_by(Reviewer(seconds=3))
    async with guard.running():
        waiting = asyncio.create_task(let_in(guard))
        await asyncio.sleep(1)
    assert await waiting is UnavailableError
    assert not guard._callers._under_way
