"""A selector of nodes to watch that no node matches is told of once, and not as a failure."""

from __future__ import annotations

import asyncio

import pytest
from structlog.testing import capture_logs

from tests.harness.worlds.pressure_world import PressureWorld

pytestmark = pytest.mark.looptime(start=0)


@pytest.mark.parametrize(("pool", "times"), [("spot", 0), ("other", 1)])
async def test_a_selector_that_no_node_matches_is_told_of_once(pool: str, times: int) -> None:
    world = PressureWorld()
    world.add_node(pool=pool)
    with capture_logs() as logs:
        async with world.running():
            await asyncio.sleep(60)
            assert world.pressure.complaints() == []
    told = [one for one in logs if "no node has the labels" in one["event"]]
    assert [one["labels"] for one in told] == ["pool=spot"] * times
