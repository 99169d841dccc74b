"""Who acts when requests fail, clocks step and processes are stopped; on virtual time."""

import asyncio
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from bailiff.cluster import ForbiddenError, Lease
from tests.harness.worlds.candidates import (
    DEADLINE,
    DURATION,
    PERIOD,
    Candidate,
    LeaseServer,
    candidates,
)

pytestmark = pytest.mark.looptime(start=0)


async def test_a_holder_that_is_cut_off_stops_before_another_begins():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        renewed = server.writes[-1][0]
        a.line.cut = True
        await asyncio.sleep(renewed + DEADLINE - 0.1 - a.clock.monotonic())
        assert a.acts
        await asyncio.sleep(0.1)
        assert not a.acts
        assert not b.acts
        await asyncio.sleep(DURATION - DEADLINE + PERIOD)
        assert b.acts
        a.line.cut = False
        await asyncio.sleep(100)
        assert [a.acts, b.acts] == [False, True]
        assert len(a.elected) == 1


async def test_when_nobody_could_follow_the_holder_goes_on_and_is_told_so():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        a.line.cut = b.line.cut = True
        await asyncio.sleep(12)
        assert [a.acts, b.acts] == [False, False]
        a.line.cut = b.line.cut = False
        await asyncio.sleep(PERIOD + 0.1)
        assert a.acts
        assert (len(a.elected), server.record.lease_transitions) == (2, 0)


async def test_a_server_that_is_slow_costs_nobody_the_lease():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(1)
        for candidate in (a, b):
            candidate.line.there = candidate.line.back = 1.4
        await asyncio.sleep(300)
        assert a.acts
        assert len(a.elected) == 1
        assert server.record.lease_transitions == 0


async def test_a_server_that_never_answers_gets_three_tries_before_the_deadline():
    async with candidates("a") as (_server, a):
        await asyncio.sleep(1)
        a.line.there = 1e6
        asked = len(a.line.asked)
        await asyncio.sleep(DEADLINE)
        assert len(a.line.asked) - asked >= 3
        assert not a.acts


async def test_a_renewal_whose_answer_was_lost_is_known_as_ones_own():
    async with candidates("a", "b") as (server, a, _b):
        await asyncio.sleep(1)
        a.line.mute = True
        await asyncio.sleep(4)
        a.line.mute = False
        await asyncio.sleep(60)
        assert a.acts
        assert (len(a.elected), server.record.lease_transitions) == (1, 0)


async def test_a_claim_whose_answer_was_lost_is_known_as_ones_own():
    async with candidates("a") as (server, a):
        await asyncio.sleep(0.0025)  # it has read, and is about to write
        a.line.mute = True
        await asyncio.sleep(2.9)
        assert [record.holder_identity for _, record in server.writes] == ["a"]
        assert not a.acts
        a.line.mute = False
        await asyncio.sleep(PERIOD)
        assert a.acts
        assert server.record.lease_transitions == 0


@pytest.mark.parametrize("off", [timedelta(days=1), timedelta(days=-1)])
async def test_clocks_of_machines_need_not_agree(off):
    async with candidates("a", "b") as (_server, a, b):
        b.clock.step = off
        await asyncio.sleep(100)
        assert [a.acts, b.acts] == [True, False]
        await a.kill()
        await asyncio.sleep(DURATION + 2 * PERIOD)
        assert b.acts


@pytest.mark.parametrize("step", [timedelta(hours=1), timedelta(hours=-1)])
async def test_a_step_of_the_wall_clock_loses_no_lease(step):
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        a.clock.step = b.clock.step = step
        assert [a.acts, b.acts] == [True, False]
        await asyncio.sleep(PERIOD + 0.1)
        assert a.acts
        a.clock.step = b.clock.step = timedelta()
        await asyncio.sleep(600)
        assert [a.acts, b.acts] == [True, False]
        assert server.record.lease_transitions == 0


async def test_a_holder_whose_machine_slept_acts_no_more_when_it_wakes():
    async with candidates("a", "b") as (_server, a, _b):
        await asyncio.sleep(100)
        a.clock.slept = DURATION
        assert not a.acts
        await asyncio.sleep(PERIOD + 0.1)
        assert a.acts


async def test_a_holder_that_was_stopped_acts_on_nothing_when_it_goes_on():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        a.sigstop()
        await asyncio.sleep(DURATION + 2 * PERIOD)
        assert b.acts
        a.sigcont()
        # Before it has run a single step, and ever after.
        assert not a.acts
        await asyncio.sleep(100)
        assert [a.acts, b.acts] == [False, True]
        assert server.record.lease_transitions == 1


async def test_a_holder_that_was_stopped_for_less_than_the_lease_renews_before_it_acts():
    async with candidates("a", "b") as (server, a, _b):
        await asyncio.sleep(100)
        a.sigstop()
        await asyncio.sleep(12)
        a.sigcont()
        assert not a.acts
        await asyncio.sleep(0.1)
        assert a.acts
        assert (len(a.elected), server.record.lease_transitions) == (2, 0)


async def test_a_renewal_that_was_answered_while_the_holder_was_stopped_counts_from_when_it_left():
    async with candidates("a") as (server, a):
        await asyncio.sleep(1)
        a.line.back = 1.0
        while len(server.writes) < 2:
            await asyncio.sleep(0.01)
        a.sigstop()
        await asyncio.sleep(20)
        a.line.cut = True
        a.sigcont()
        for _ in range(100):
            await asyncio.sleep(0.01)
            assert not a.acts


async def test_a_lease_that_vanishes_is_not_free_to_those_who_saw_it_held():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        a.line.cut = True
        server.lease = None
        await asyncio.sleep(PERIOD)
        server.make()
        while a.acts:
            assert not b.acts
            await asyncio.sleep(0.1)
        await asyncio.sleep(DURATION)
        assert b.acts


async def test_a_lease_that_vanishes_is_made_anew_by_nobody_who_could_hold_it():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        assert [one.elector.complaints() for one in (a, b)] == [[], []]
        server.lease = None
        await asyncio.sleep(PERIOD + 0.1)
        assert server.lease is None
        assert [a.acts, b.acts] == [False, False]
        for one in (a, b):
            [said] = one.elector.complaints()
            assert "Lease kube-system/bailiff-worker-0-of-1 does not exist" in said
            assert "bailiff leases create" in said
        server.make()
        await asyncio.sleep(DURATION + PERIOD)
        assert [a.acts, b.acts].count(True) == 1
        assert [one.elector.complaints() for one in (a, b)] == [[], []]


async def test_a_lease_that_is_made_anew_is_not_free_to_those_who_saw_it_held():
    async with candidates("a", "b") as (server, a, b):
        await asyncio.sleep(100)
        a.line.cut = True
        server.make()
        while a.acts:
            assert not b.acts
            await asyncio.sleep(0.1)
        await asyncio.sleep(DURATION)
        assert b.acts


async def test_what_to_run_for_a_lease_that_is_missing_is_said_once_and_whole():
    with capture_logs() as logs:
        async with candidates("a") as (server, a):
            server.lease = None
            await asyncio.sleep(60)
            assert a.elector.complaints() != []
    command = (
        "bailiff leases create --lease-namespace kube-system --lease-name bailiff-worker --shards 1"
    )
    assert [command in entry.get("error", "") for entry in logs] == [True]


async def test_a_worker_without_the_right_to_leases_goes_on_asking():
    async with candidates("a") as (_, a):
        a.line.failure = ForbiddenError("leases is forbidden", status=403)
        await asyncio.sleep(60)
        assert not a.acts
        assert len(a.line.asked) > 20
        a.line.failure = None
        await asyncio.sleep(PERIOD + 0.1)
        assert a.acts


async def test_what_breaks_in_the_elector_is_not_swallowed():
    candidate = Candidate(LeaseServer(), "a")
    candidate.line.failure = LookupError("a bug")
    with pytest.raises(LookupError):
        await candidate.elector.run(candidate)


def echo(line, forged=""):
    """Something in between answers writes as if they had been carried out, and keeps none."""

    async def write(lease, record):
        return Lease(record, {"metadata": {"resourceVersion": forged}} if forged else lease.object)

    line.write = write


@pytest.mark.parametrize("forged", ["", "1000"], ids=["an echo", "with a version of its own"])
async def test_a_renewal_that_is_answered_and_not_kept_makes_no_second_holder(forged):
    async with candidates("a", "b") as (_server, a, b):
        await asyncio.sleep(100)
        echo(a.line, forged)
        for _ in range(600):
            await asyncio.sleep(0.1)
            assert not (a.acts and b.acts)
        assert b.acts


@pytest.mark.parametrize("forged", ["", "1000"], ids=["an echo", "with a version of its own"])
async def test_a_claim_that_is_answered_and_not_kept_makes_no_holder(forged):
    async with candidates("a", "b") as (_server, a, b):
        await asyncio.sleep(100)
        echo(b.line, forged)
        a.line.cut = True
        for _ in range(600):
            await asyncio.sleep(0.1)
            assert not b.acts
