"""Who acts, and from when until when: elections on virtual time."""

import asyncio
from datetime import timedelta
from itertools import pairwise

import msgspec
import pytest

from bailiff.cluster import Lease, LeaseRecord
from tests.harness.clocks import START
from tests.harness.worlds.candidates import (
    DEADLINE,
    DURATION,
    PERIOD,
    Candidate,
    candidates,
)

pytestmark = pytest.mark.looptime(start=0)


async def test_whoever_finds_no_lease_makes_one_and_acts_at_once():
    async with candidates("a") as (server, a):
        await asyncio.sleep(0.1)
        assert a.acts
        record = server.record
    assert (record.holder_identity, record.lease_duration_seconds) == ("a", 15)
    assert record.acquire_time == record.renew_time
    assert (record.lease_transitions, a.transitions, len(a.elected)) == (0, 1, 1)


async def test_the_holder_renews_every_two_seconds_reads_back_one_in_three_and_stays():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(600)
        assert a.acts
        assert not b.acts
        assert len(a.elected) == 1
        assert b.elected == []
    gaps = [after - before for (before, _), (after, _) in pairwise(server.writes)]
    assert 2.0 <= min(gaps) <= max(gaps) <= PERIOD + 0.01
    # A look to begin with, then writes; one in half a deadline is read back.
    reads = len(a.line.asked) - len(server.writes)
    assert 600 / (DEADLINE / 2 + PERIOD) < reads < 600 / (DEADLINE / 2) + 1
    assert server.record.acquire_time == server.writes[0][1].acquire_time


async def test_two_that_come_at_once_do_not_both_get_it():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(0.1)
        assert [a.acts, b.acts] == [True, False]
        assert len(server.writes) == 1


async def test_a_holder_that_was_killed_is_followed_within_the_lease_time():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        await a.kill()
        await asyncio.sleep(DURATION - PERIOD - 0.1)
        assert not b.acts
        await asyncio.sleep(2 * PERIOD + 0.1)
        assert b.acts
        assert (server.record.holder_identity, server.record.lease_transitions) == ("b", 1)


async def test_a_holder_that_takes_its_leave_is_followed_at_once():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        await a.retire()
        assert not a.acts
        assert server.record.holder_identity == ""
        await asyncio.sleep(PERIOD + 0.1)
        assert b.acts
        assert server.record.lease_transitions == 1


async def test_who_does_not_hold_it_releases_nothing():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(5)
        await b.retire()
        assert server.record.holder_identity == "a"
        assert a.acts


async def test_a_renewal_under_way_does_not_spoil_the_release():
    async with candidates("a") as (server, a):
        await asyncio.sleep(0.1)
        a.line.mute = True
        await asyncio.sleep(3)
        assert len(server.writes) == 2
        a.line.mute = False
        await a.retire()
        assert server.record.holder_identity == ""


async def test_a_release_that_cannot_be_written_is_no_failure():
    async with candidates("a") as (server, a):
        await asyncio.sleep(0.1)
        a.line.cut = True
        await a.retire()
        assert not a.acts
        assert server.record.holder_identity == "a"


async def test_a_second_process_of_the_same_name_is_another():
    async with candidates("a") as (server, a):
        await asyncio.sleep(1)
        twin = Candidate(server, "a").start()
        await asyncio.sleep(60)
        assert [a.acts, twin.acts] == [True, False]
        await a.kill()
        await asyncio.sleep(DURATION + 2 * PERIOD)
        assert twin.acts
        await twin.kill()


async def test_the_holder_says_how_long_it_may_be_silent():
    async with candidates("b") as (server, b):
        theirs = LeaseRecord(holder_identity="x", lease_duration_seconds=40)
        server.lease = Lease(theirs, {})
        await asyncio.sleep(39.9)
        assert not b.acts
        await asyncio.sleep(0.2)
        assert b.acts


@pytest.mark.parametrize(("holder", "free_at"), [("x", DURATION), ("", 0)])
async def test_a_lease_that_does_not_say_is_believed_for_ones_own_time(holder, free_at):
    async with candidates("b") as (server, b):
        server.lease = Lease(LeaseRecord(holder_identity=holder), {})
        await asyncio.sleep(max(0, free_at - 0.1))
        assert not b.acts
        await asyncio.sleep(0.3)
        assert b.acts


async def test_whoever_writes_something_else_on_the_lease_delays_nobody():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        await a.kill()
        for version in range(DURATION + 5):
            server.lease = Lease(server.record, {"metadata": {"resourceVersion": f"x{version}"}})
            await asyncio.sleep(1)
        await asyncio.sleep(PERIOD)
        assert b.acts


async def test_times_are_written_by_the_holders_own_clock():
    async with candidates("a") as (server, _a):
        await asyncio.sleep(0.5)
        acquired = server.record.acquire_time
        await asyncio.sleep(PERIOD)
        renewed = server.record.renew_time
    assert START <= acquired < renewed <= START + timedelta(seconds=0.5 + PERIOD)
    assert msgspec.structs.replace(server.record, renew_time=acquired) == server.writes[0][1]
