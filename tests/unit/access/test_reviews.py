"""What the API server says of callers: asked once, kept for a while, and never too much of it."""

import asyncio

import pytest
from structlog.testing import capture_logs

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


def asked(token="good", what=DECISIONS, address="10.0.0.1"):
    method, path = what
    return Asked(method, path, address, [(b"authorization", f"Bearer {token}".encode())])


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
    await asyncio.sleep(44.9)
    assert known(guard)
    assert reviewer.asked == ["good"]
    await asyncio.sleep(15.2)
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
    guard = guard_by(Reviewer(seconds=1), max_reviews=2, max_waiting=8)
    found = await asyncio.gather(
        *(let_in(guard, token=f"made-up-{n}", address=f"10.0.0.{n}") for n in range(12))
    )
    assert found.count(UnavailableError) == 4  # two beyond the bound, two after 5 s


async def test_one_address_is_not_in_everybodys_way_with_tokens_that_it_makes_up():
    guard = guard_by(Reviewer(seconds=0.1), max_waiting=100, max_waiting_per_peer=8)
    flood = [let_in(guard, token=f"made-up-{n}", address="10.6.6.6") for n in range(90)]
    *found, other = await asyncio.gather(*flood, let_in(guard, address="10.0.0.1"))
    assert found.count(QuotaError) == 74
    assert other is True


async def test_one_network_of_ipv6_locks_nobody_out():
    """What once worked: 256 made-up tokens filled the line for everybody."""
    guard = guard_by(Reviewer(seconds=0.1))
    flood = [
        let_in(guard, token=f"made-up-{n}", address=f"2001:db8::{n % 4 + 1}") for n in range(256)
    ]
    begun = asyncio.get_running_loop().time()
    attack = asyncio.gather(*flood)
    await asyncio.sleep(0.01)
    assert await let_in(guard, address="2001:db8:1::1") is True
    assert asyncio.get_running_loop().time() - begun < 0.25
    assert (await attack).count(QuotaError) == 256 - 8 - 64


async def test_where_the_line_is_full_who_has_most_there_makes_room():
    guard = guard_by(Reviewer(seconds=0.1))
    flood = [let_in(guard, token=f"made-up-{n}", address=f"10.6.6.{n % 4}") for n in range(8 + 256)]
    attack = asyncio.gather(*flood)
    await asyncio.sleep(0.01)
    good = [let_in(guard, address=f"10.0.0.{n}") for n in range(5)]
    assert await asyncio.gather(*good) == [True] * 5  # with one token, so one question
    assert (await attack).count(UnavailableError) == 1


async def flooded(guard, until):
    """Strangers, each from an address of its own, who ask again as soon as they are refused."""
    loop = asyncio.get_running_loop()

    async def stranger(number):
        while loop.time() < until:
            await let_in(guard, token=f"{number}-{loop.time()}", address=f"10.6.6.{number}")
            await asyncio.sleep(0.1)

    await asyncio.gather(*(stranger(number) for number in range(40)))


async def test_however_many_strangers_come_who_is_in_stays_in():
    reviewer = Reviewer(rights={("alice", READS_METRICS)}, seconds=0.5)
    guard = guard_by(reviewer, max_reviews=2, max_waiting=20)
    assert await let_in(guard, what=METRICS) is True
    attack = asyncio.create_task(flooded(guard, until=200))
    found = []
    for _ in range(20):
        await asyncio.sleep(10)
        found.append((known(guard), await let_in(guard, what=METRICS)))
    assert found == [(True, True)] * 20
    await attack


async def test_who_is_in_may_ask_what_it_has_not_asked_before_however_many_strangers_come():
    pods = [f"web-{number}" for number in range(8)]
    reviewer = Reviewer(seconds=0.5)
    reviewer.rights |= {("alice", Right("get", "pods", "shop", name)) for name in pods}
    guard = guard_by(reviewer, max_reviews=2, max_waiting=20)
    assert await let_in(guard) is True
    attack = asyncio.create_task(flooded(guard, until=30))
    await asyncio.sleep(2)
    paths = [("GET", f"/v1/namespaces/shop/pods/{name}/decision") for name in pods]
    assert [await let_in(guard, what=path) for path in paths] == [True] * len(pods)
    await attack


async def test_what_is_in_use_is_renewed_before_it_lapses_and_nobody_waits_for_that():
    reviewer = Reviewer(rights={("alice", READS_METRICS)})
    guard = guard_by(reviewer)
    assert await let_in(guard, what=METRICS) is True
    reviewer.seconds = 3
    for _ in range(29):
        await asyncio.sleep(10)
        begun = asyncio.get_running_loop().time()
        assert await let_in(guard, what=METRICS) is True
        assert asyncio.get_running_loop().time() == begun
    # At 0 s, 50 s, and so on: what has been asked at 50 s is known at 53 s, and due at 98 s.
    assert [reviewer.asked.count(one) for one in ("good", ("alice", READS_METRICS))] == [6, 6]


async def test_what_nobody_uses_is_not_renewed():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert await let_in(guard) is True
    await asyncio.sleep(600)
    assert reviewer.asked == ["good"]


async def test_what_cannot_be_renewed_lapses_when_it_would_have():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert await let_in(guard) is True
    reviewer.away = True
    for _ in range(599):
        await asyncio.sleep(0.1)
        assert known(guard)
    await asyncio.sleep(0.2)
    assert not known(guard)
    assert await let_in(guard) is UnavailableError
    assert len(reviewer.asked) == 1 + 5 + 1  # renewed now and then, not for every request


async def test_a_renewal_that_is_denied_counts_at_once():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert await let_in(guard) is True
    reviewer.callers.clear()
    await asyncio.sleep(46)
    assert known(guard)
    await asyncio.sleep(0.1)
    assert await let_in(guard) is UnauthenticatedError
    assert reviewer.asked == ["good", "good"]


async def test_a_fault_in_a_renewal_is_told_and_the_answer_lapses():
    reviewer = Reviewer()
    guard = guard_by(reviewer)
    assert await let_in(guard) is True
    del reviewer.callers  # AttributeError
    await asyncio.sleep(50)
    with capture_logs() as logs:
        assert known(guard)
        await asyncio.sleep(0)
        await asyncio.sleep(1)
    assert [line["event"] for line in logs] == ["the review of a caller failed"]
    await asyncio.sleep(10)
    assert not known(guard)


async def test_who_asks_about_many_objects_drives_out_no_right_of_another():
    reviewer = Reviewer(callers={"good": ALICE, "other": Caller(name="bob")})
    reviewer.rights |= {("alice", READS_METRICS)}
    reviewer.rights |= {("bob", Right("get", "pods", "shop", f"web-{n}")) for n in range(50)}
    guard = guard_by(reviewer, max_kept=20)
    assert await let_in(guard, what=METRICS) is True
    for number in range(50):
        pod = ("GET", f"/v1/namespaces/shop/pods/web-{number}/decision")
        assert await let_in(guard, token="other", what=pod) is True
    assert await let_in(guard, what=METRICS) is True
    assert reviewer.asked.count(("alice", READS_METRICS)) == 1
    assert len(guard._rights._allowed) == 20


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
