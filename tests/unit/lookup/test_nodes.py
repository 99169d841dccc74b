"""Nodes are listed for all who ask at a time, and kept for about a second."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS
from bailiff.kinds import Node
from bailiff.kinds.meta import Annotations
from bailiff.lookup import KeptNodes, LookUps, UnavailableError
from tests.harness.clocks import LoopClock
from tests.harness.kinds import no_execute, node_of
from tests.harness.lookups import DictSource

pytestmark = [pytest.mark.looptime]


@dataclass
class SlowSource(DictSource):
    """Takes so many seconds for a list."""

    seconds: float = 0.0

    async def see(self, wanted: Any) -> Any:
        found = await super().see(wanted)
        await asyncio.sleep(self.seconds)
        return found


def kept_of(source: DictSource) -> KeptNodes:
    clock = LoopClock()
    look_ups = LookUps(source, SYSTEMS, clock, timeout=10.0, max_at_a_time=16)
    return KeptNodes(look_ups, SYSTEMS.all, clock)


async def test_a_list_serves_for_a_second() -> None:
    source = DictSource.of(node_of("a"))
    kept = kept_of(source)
    first = await kept.pool(["a"])
    await asyncio.sleep(0.9)
    assert await kept.pool(["a"]) is first
    assert await kept.pool() is first
    await asyncio.sleep(0.1)
    assert await kept.pool(["a"]) is not first
    assert len(source.seen) == 2


async def test_those_who_ask_at_once_wait_for_one_list() -> None:
    source = SlowSource(seconds=0.5)
    source.add(node_of("a"))
    kept = kept_of(source)
    pools = await asyncio.gather(*(kept.pool(["a"]) for _ in range(20)))
    assert len({id(pool) for pool in pools}) == 1
    assert len(source.seen) == 1


async def test_a_list_that_takes_long_serves_longer() -> None:
    source = SlowSource(seconds=1.0)
    source.add(node_of("a"))
    kept = kept_of(source)
    first = await kept.pool()
    await asyncio.sleep(3.9)
    assert await kept.pool() is first
    await asyncio.sleep(0.1)
    assert await kept.pool() is not first


async def test_a_node_that_has_come_since_is_found() -> None:
    source = DictSource.of(node_of("a"))
    kept = kept_of(source)
    await kept.pool(["a"])
    source.add(node_of("new"))
    begun = asyncio.get_running_loop().time()
    await asyncio.sleep(0.05)
    assert "new" in await kept.pool(["new"])
    assert asyncio.get_running_loop().time() - begun == pytest.approx(0.2)


async def test_names_of_nobody_have_nodes_listed_five_times_a_second_at_most() -> None:
    source = DictSource.of(node_of("a"))
    kept = kept_of(source)
    for _ in range(11):
        assert "nobody" not in await kept.pool(["nobody"])
        await asyncio.sleep(0.001)
    assert asyncio.get_running_loop().time() >= 2.0


async def test_a_failure_is_told_and_not_kept() -> None:
    source = DictSource.of(node_of("a"))
    source.errors[Node] = UnavailableError("no")
    kept = kept_of(source)
    with pytest.raises(UnavailableError):
        await kept.pool()
    source.errors.clear()
    assert len(await kept.pool()) == 1


async def test_who_asks_while_nodes_are_listed_shares_the_failure_too() -> None:
    source = SlowSource(seconds=20.0)
    kept = kept_of(source)
    begun = asyncio.get_running_loop().time()
    found = await asyncio.gather(*(kept.pool() for _ in range(9)), return_exceptions=True)
    assert {type(one) for one in found} == {UnavailableError}
    assert asyncio.get_running_loop().time() - begun == pytest.approx(10.0)


async def test_a_list_goes_on_for_others_when_who_began_it_has_gone() -> None:
    source = SlowSource(seconds=0.5)
    source.add(node_of("a"))
    kept = kept_of(source)
    first, second = (asyncio.create_task(kept.pool()) for _ in range(2))
    await asyncio.sleep(0.1)
    first.cancel()
    assert "a" in await second
    assert len(source.seen) == 1


async def test_a_node_that_came_while_nodes_were_listed_is_found() -> None:
    source = SlowSource(seconds=0.5)
    source.add(node_of("a"))
    kept = kept_of(source)
    early = asyncio.create_task(kept.pool())
    await asyncio.sleep(0.1)
    source.add(node_of("new"))
    assert "new" in await kept.pool(["new"])
    assert "new" not in await early


async def test_a_node_that_came_after_others_had_nodes_listed_anew_is_found() -> None:
    source = SlowSource()
    source.add(node_of("a"))
    kept = kept_of(source)
    await kept.pool()
    source.seconds = 0.5
    await asyncio.sleep(0.3)
    others = asyncio.create_task(kept.pool(["nobody"]))
    await asyncio.sleep(0.1)
    source.add(node_of("new"))
    assert "new" in await kept.pool(["new"])
    assert "new" not in await others


async def test_notes_of_nodes_are_believed_as_those_of_any_live_node() -> None:
    noted = Annotations(taints_first_observed='[{"key":"k","effect":"NoExecute"}]')
    source = DictSource.of(node_of("a", no_execute("k"), annotations=noted))
    pool = await kept_of(source).pool()
    (group,) = pool.groups
    assert group.node.metadata.annotations.taints_first_observed == ""
