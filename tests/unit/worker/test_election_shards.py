"""Who acts for which share, where each process takes any whose Lease is free: on virtual time."""

import asyncio
from collections import Counter
from itertools import pairwise

import pytest
from structlog.testing import capture_logs

from bailiff.cluster import ForbiddenError, ResponseError, UnreachableError
from bailiff.worker import Shard
from tests.harness.worlds.candidates import DEADLINE, DURATION, PERIOD, Candidate, of_shards

pytestmark = pytest.mark.looptime(start=0)

# A holder that is silent is followed after what it has asked for and two looks: one may have seen
# its last renewal late, the other one comes late.
TAKEN_OVER = DURATION + 2 * PERIOD


def acting(found) -> Counter[Shard]:
    """For which shares somebody acts, and how many do."""
    return Counter(each.acts_for for each in found if each.acts_for)


def all_of(count: int) -> Counter[Shard]:
    """One for each share."""
    return Counter(Shard.all_of(count))


async def test_each_takes_one_and_whoever_finds_none_stands_by():
    async with of_shards(3, *"abcde") as (servers, found):
        await asyncio.sleep(PERIOD)
        assert acting(found) == all_of(3)
        before = [each.acts_for for each in found]
        await asyncio.sleep(600)
        assert [each.acts_for for each in found] == before
        assert [server.record.lease_transitions for server in servers] == [0, 0, 0]


async def test_where_there_are_fewer_than_shares_nobody_holds_two():
    async with of_shards(3, "a") as (servers, [a]):
        await asyncio.sleep(600)
        assert a.acts
        assert [bool(server.record.holder_identity) for server in servers].count(True) == 1
        assert len(a.elected) == 1


async def test_the_share_of_one_that_was_killed_goes_to_whoever_stands_by():
    async with of_shards(3, *"abcd") as (_, found):
        await asyncio.sleep(100)
        victim = next(each for each in found if each.acts)
        kept = {each.identity: each.acts_for for each in found if each.acts and each is not victim}
        await victim.kill()
        await asyncio.sleep(TAKEN_OVER)
        alive = [each for each in found if each is not victim]
        assert acting(alive) == all_of(3)
        assert kept.items() <= {each.identity: each.acts_for for each in alive}.items()


async def test_the_share_of_one_that_takes_its_leave_is_taken_at_the_next_look():
    async with of_shards(3, *"abcd") as (_, found):
        await asyncio.sleep(100)
        leaver = next(each for each in found if each.acts)
        await leaver.retire()
        await asyncio.sleep(PERIOD + 0.1)
        assert acting([each for each in found if each is not leaver]) == all_of(3)


async def test_whoever_comes_back_after_its_share_was_taken_stands_by_for_any():
    async with of_shards(2, *"abc") as (_, found):
        await asyncio.sleep(100)
        first, second = (each for each in found if each.acts)
        lost = first.acts_for
        first.set_lines(cut=True)
        await asyncio.sleep(TAKEN_OVER)
        assert acting(found) == all_of(2)
        assert not first.acts
        first.set_lines(cut=False)
        await asyncio.sleep(PERIOD)
        assert first.shard is None
        await second.kill()
        await asyncio.sleep(TAKEN_OVER)
        assert first.acts_for == second.shard != lost


async def test_nothing_is_claimed_before_the_lost_share_has_been_left():
    async with of_shards(2, *"abc") as (_, found):
        await asyncio.sleep(100)
        first, second = (each for each in found if each.acts)
        lost, free = first.acts_for, second.acts_for
        first.leaving = 100.0
        first.set_lines(cut=True)
        await asyncio.sleep(TAKEN_OVER)
        await second.retire()
        first.set_lines(cut=False)
        await asyncio.sleep(99)
        assert (first.acts, first.shard) == (False, lost)
        await asyncio.sleep(2 * PERIOD)
        assert first.acts_for == free


async def test_a_claim_whose_answer_was_lost_is_followed_up_before_another_lease_is_claimed():
    async with of_shards(4) as (servers, _):
        a = Candidate(servers, "a")
        a.set_lines(back=1e6)
        for line in a.lines.values():
            answer_looks(line)
        a.start()
        await asyncio.sleep(2.9)
        assert a.elected == []
        a.set_lines(back=0.001)
        await asyncio.sleep(3 * PERIOD)
        assert a.acts
        assert [bool(server.record.holder_identity) for server in servers].count(True) == 1
        await a.end()


def answer_looks(line):
    """The answers of its looks come, however late those of its claims are."""

    async def read():
        return line._server.read()

    line.read = read


@pytest.mark.parametrize(
    "failure", [ForbiddenError("no", status=403), ResponseError("no Lease")], ids=["refused", "odd"]
)
async def test_one_lease_that_cannot_be_read_keeps_nobody_from_the_others(failure):
    async with of_shards(3) as (servers, _):
        found = [Candidate(servers, name) for name in "abcd"]
        odd = Shard(1, 3)
        for each in found:
            each.lines[odd].failure = failure
            each.start()
        with capture_logs() as logs:
            await asyncio.sleep(60)
        assert acting(found) == Counter([Shard(0, 3), Shard(2, 3)])
        for each in found:
            await each.end()
        # Those who stand by say so, and once.
        told = [entry for entry in logs if entry["event"] == "lease cannot be read or written"]
        assert len(told) == 2
        assert {entry["error"] for entry in told} == {str(failure)}


async def test_who_gets_no_answer_asks_on_only_in_the_next_round():
    async with of_shards(64) as (servers, _):
        a = Candidate(servers, "a")
        a.set_lines(failure=UnreachableError("refused"))
        a.start()
        await asyncio.sleep(100)
        asked = sum(len(line.asked) for line in a.lines.values())
        assert 100 / PERIOD <= asked <= 100 / 2 + 1
        await a.end()


async def test_whoever_stands_by_asks_one_thing_at_a_time():
    async with of_shards(8, *"abcdefgh") as (servers, found):
        await asyncio.sleep(60)
        assert acting(found) == all_of(8)
        spare = Candidate(servers, "spare").start()
        spare.set_lines(there=0.01, back=0.01)
        await asyncio.sleep(60)
        asked = sorted(at for line in spare.lines.values() for at in line.asked)
        assert min(after - before for before, after in pairwise(asked)) >= 0.01
        # Each Lease is read once in a period.
        assert 60 / PERIOD - 1 <= len(asked) / 8 <= 60 / 2 + 1
        await spare.end()


async def test_those_who_begin_together_do_not_all_look_at_the_same_lease_first():
    async with of_shards(8, *"abcdefgh") as (_, found):
        await asyncio.sleep(0.0001)
        first = {shard for each in found for shard, line in each.lines.items() if line.asked}
        assert len(first) > 1


async def test_a_holder_that_may_read_and_not_renew_sees_that_it_has_been_followed():
    async with of_shards(2, *"abc") as (_, found):
        await asyncio.sleep(100)
        first, second = (each for each in found if each.acts)
        lost = first.acts_for
        first.lines[lost].write = refuse
        await asyncio.sleep(TAKEN_OVER)
        await second.kill()
        await asyncio.sleep(TAKEN_OVER)
        assert first.acts_for not in (None, lost)


async def refuse(*_):
    raise ForbiddenError("no", status=403)


async def test_who_is_of_no_use_claims_nothing_and_keeps_what_it_has():
    async with of_shards(2) as (servers, _):
        useless = Candidate(servers, "useless")
        useless.is_ready = False
        useless.start()
        await asyncio.sleep(60)
        assert useless.elected == []
        assert [server.writes for server in servers] == [[], []]
        useless.is_ready = True
        await asyncio.sleep(PERIOD)
        assert len(useless.elected) == 1
        useless.is_ready = False
        useless.set_lines(cut=True)
        await asyncio.sleep(DEADLINE + 1)
        assert [useless.acts] == [False]
        # Nobody has taken it meanwhile.
        useless.set_lines(cut=False)
        await asyncio.sleep(PERIOD + 0.1)
        assert len(useless.elected) == 2
        await useless.end()


async def test_who_holds_a_lease_and_how_old_the_oldest_renewal_is():
    async with of_shards(2, "a", "b") as (servers, [a, b]):
        await asyncio.sleep(60)
        spare = Candidate(servers, "spare").start()
        await asyncio.sleep(10)
        assert (a.elector.holder, b.elector.holder, spare.elector.holder) == ("a", "b", "")
        assert 60.0 < (spare.elector.renewed_at or 0.0) <= 70.0
        a.set_lines(cut=True)
        silent_since = a.elector.renewed_at or 0.0
        await asyncio.sleep(8)
        assert 0.0 <= (spare.elector.renewed_at or 0.0) - silent_since <= PERIOD
        await spare.end()
