"""Counts by which evictions wait are read again, so that who deletes or mends them is obeyed."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.cluster import ServerError
from bailiff.decisions.policies import Policies
from tests.harness.tallies import budget
from tests.harness.worlds.shared import sharing

pytestmark = pytest.mark.looptime(start=0)

DAY = 24 * 3600


async def test_who_deletes_the_counts_is_obeyed_within_a_minute() -> None:
    world = sharing(Policies(over_time=budget(2, seconds=7 * DAY)), pods="abcd")
    async with world.running():
        await asyncio.sleep(10)
        world.counts.delete()
        await asyncio.sleep(60)
        assert sorted(world.order()) == ["a", "b", "c", "d"]


async def test_counts_that_are_put_right_let_go_whom_they_held() -> None:
    world = sharing(pods="a")
    ahead = "1798761600000:aaaaaaaaaaaaaaaa 1798761600000:bbbbbbbbbbbbbbbb"
    world.counts.put({"b": f'{{"seconds":60,"evictions":{{"":"{ahead}"}}}}'})
    async with world.running():
        await asyncio.sleep(10)
        assert world.held("a")["until"].startswith("2027-")
        world.counts.put({})
        await asyncio.sleep(60)
    assert world.order() == ["a"]


async def test_counts_that_hold_somebody_are_read_once_a_minute_for_all() -> None:
    world = sharing(Policies(over_time=budget(2, seconds=DAY)), pods="abcdefgh")
    async with world.running():
        await asyncio.sleep(10)
        reads = world.counts.reads
        await asyncio.sleep(3600)
    assert world.counts.reads - reads == 60


async def test_counts_that_hold_nobody_are_left_alone() -> None:
    world = sharing(pods="ab")
    async with world.running():
        await asyncio.sleep(10)
        reads = world.counts.reads
        await asyncio.sleep(3600)
    assert (world.counts.reads, world.order()) == (reads, ["a", "b"])


async def test_counts_that_cannot_be_read_again_hold_as_they_did() -> None:
    world = sharing(Policies(over_time=budget(2, seconds=DAY)))
    async with world.running():
        await asyncio.sleep(10)
        world.counts.failures = [ServerError("down", status=500)] * 5
        await asyncio.sleep(200)
        assert world.held("c")["until"].startswith("2026-01-02T")
        assert len(world.counts.failures) < 5
        world.counts.delete()
        await asyncio.sleep(200)
    assert world.order() == ["a", "b", "c"]
