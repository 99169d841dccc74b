"""Nodes are listed for all who ask at a time; kube-scheduler has them about a second old."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from bailiff.decisions import SYSTEMS
from bailiff.kinds import Node
from bailiff.kinds.meta import Annotations
from bailiff.lookup import Age, AllNodes, NodePools, UnavailableError
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


def kept_of(source: DictSource, nodes: AllNodes | None = None) -> NodePools:
    clock = LoopClock()
    return NodePools(nodes or AllNodes(source, clock), SYSTEMS.all, clock, timeout=10.0)


def now() -> float:
    return asyncio.get_running_loop().time()


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
    begun = now()
    await asyncio.sleep(0.05)
    assert "new" in await kept.pool(["new"])
    assert now() - begun == pytest.approx(0.2)


async def test_names_of_nobody_have_nodes_listed_five_times_a_second_at_most() -> None:
    source = DictSource.of(node_of("a"))
    kept = kept_of(source)
    for _ in range(11):
        assert "nobody" not in await kept.pool(["nobody"])
        await asyncio.sleep(0.001)
    assert now() >= 2.0


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
    begun = now()
    found = await asyncio.gather(*(kept.pool() for _ in range(9)), return_exceptions=True)
    assert {type(one) for one in found} == {UnavailableError}
    assert now() - begun == pytest.approx(10.0)


class Dated(SlowSource):
    """A node that is named for when the list was begun, before which it is not there."""

    async def see(self, wanted: Any) -> Any:
        self.objects = {Node: [node_of(str(now()))]}
        return await super().see(wanted)


@pytest.mark.parametrize("takes", [0.0, 0.2, 1.0, 3.0])
async def test_no_answer_is_older_than_it_may_be(takes: float) -> None:
    source = Dated(seconds=takes)
    kept = kept_of(source)
    oldest = takes + max(1.0, 4 * takes)

    async def ask() -> float:
        (group,) = (await kept.pool()).groups
        return now() - float(group.node.metadata.name)

    ages = []
    for _ in range(300):
        ages.append(asyncio.create_task(ask()))
        await asyncio.sleep(0.1)
    source.seconds = 0.0
    old = await asyncio.gather(*ages)
    assert oldest - 0.2 < max(old) < oldest, "it serves until then, and no longer"


async def test_an_old_list_serves_nobody_while_a_new_one_is_made_or_fails() -> None:
    source = DictSource.of(node_of("a"))
    kept = kept_of(source)
    await kept.pool()
    await asyncio.sleep(1.0)
    source.errors[Node] = UnavailableError("no")
    with pytest.raises(UnavailableError):
        await kept.pool(["a"])
    source.errors.clear()
    slow = SlowSource(seconds=20.0)
    source.see = slow.see  # type: ignore[method-assign]
    begun = now()
    with pytest.raises(UnavailableError, match="did not answer within 10 s"):
        await kept.pool(["a"])
    assert now() - begun == pytest.approx(10.0)


async def test_while_it_may_be_that_old_a_list_serves_though_another_is_made() -> None:
    source = SlowSource()
    source.add(node_of("a"))
    kept = kept_of(source)
    first = await kept.pool()
    source.seconds = 20.0
    await asyncio.sleep(0.5)
    late = asyncio.create_task(kept.pool(["nobody"]))
    await asyncio.sleep(0.4)
    assert await kept.pool(["a"]) is first
    with pytest.raises(UnavailableError):
        await late


async def test_what_takes_longer_than_one_waits_is_there_for_the_next() -> None:
    source = SlowSource(seconds=20.0)
    source.add(node_of("a"))
    kept = kept_of(source, AllNodes(source, LoopClock(), timeout=30.0))
    for _ in range(2):
        with pytest.raises(UnavailableError):
            await kept.pool()
    assert "a" in await kept.pool()
    assert len(source.seen) == 1


async def test_all_lists_that_an_answer_takes_are_one_wait() -> None:
    source = SlowSource(seconds=4.0)
    kept = kept_of(source)
    begun = now()
    others = asyncio.create_task(kept.pool())
    await asyncio.sleep(0.1)
    with pytest.raises(UnavailableError):
        await kept.pool(["nobody"])
    assert now() - begun == pytest.approx(10.1)
    await others


async def test_one_list_serves_all_who_look_at_nodes() -> None:
    source = DictSource.of(node_of("a"))
    nodes = AllNodes(source, LoopClock())
    first, second = kept_of(source, nodes), kept_of(source, nodes)
    await asyncio.gather(first.pool(), second.pool(), nodes.get(Age(5.0)))
    assert len(source.seen) == 1


async def test_a_pool_is_made_once_for_a_list() -> None:
    source = DictSource.of(node_of("a"))
    nodes = AllNodes(source, LoopClock())
    kept = kept_of(source, nodes)
    first = await kept.pool()
    assert await kept.pool() is first
    await nodes.anew()
    assert await kept.pool() is not first, "others had a newer one made"


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
