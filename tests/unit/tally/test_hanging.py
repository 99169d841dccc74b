"""Counting while the API server hangs: everybody is told in time."""

from __future__ import annotations

import asyncio

import pytest

from bailiff.tally import TallyError
from tests.harness.tallies import OneConfigMap, budget, tally_of, tries, wishes

pytestmark = pytest.mark.looptime

TWO = budget(2)


@pytest.fixture
def server() -> OneConfigMap:
    return OneConfigMap()


async def test_a_server_that_hangs_holds_nobody_for_ever(server: OneConfigMap) -> None:
    server.latency = 3600
    with pytest.raises(TallyError, match="within 10 s"):
        await tally_of(server).count(wishes(TWO, "a"), TWO)


async def test_nor_does_one_that_hangs_when_it_is_written(server: OneConfigMap) -> None:
    tally = tally_of(server)
    await tries(tally, "a")
    # The book was read a moment ago, and is believed.
    server.latency = 3600
    with pytest.raises(TallyError, match="within 10 s"):
        await tally.count(wishes(TWO, "b"), TWO)
    assert server.reads == 1


async def test_who_comes_while_it_hangs_is_told_with_the_others(server: OneConfigMap) -> None:
    server.latency = 3600
    tally = tally_of(server)
    first = asyncio.create_task(tally.count(wishes(TWO, "a"), TWO))
    await asyncio.sleep(9)
    with pytest.raises(TallyError, match="within 10 s"):
        async with asyncio.timeout(1.5):
            await tally.count(wishes(TWO, "b"), TWO)
    with pytest.raises(TallyError):
        await first
