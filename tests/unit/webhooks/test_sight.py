"""What hooks see of the cluster: read once for many, kept for seconds, never waited for in vain."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from bailiff.decisions import NotRead, Wanted
from bailiff.kinds import Node, NodeCondition, NodeStatus, Pod, PodDisruptionBudget
from bailiff.lookup import AllNodes, UnavailableError
from bailiff.webhooks.sight import Sight
from tests.harness.changes import ShownSource
from tests.harness.clocks import LoopClock
from tests.harness.kinds import no_execute, node_of, pod_of

if TYPE_CHECKING:
    from bailiff.kinds.meta import Value

pytestmark = pytest.mark.looptime

NODES, BUDGETS = Wanted(Node), Wanted(PodDisruptionBudget)
OF_NODE = Wanted(Pod, fields=(("spec.nodeName", "n"),))


def sight_of(source: ShownSource | None, timeout: float = 10.0) -> tuple[Sight, LoopClock]:
    clock = LoopClock()
    return Sight(source, AllNodes(source, clock, timeout) if source else None, clock), clock


async def see(
    sight: Sight, clock: LoopClock, *wanted: Wanted, seconds: float = 1.0
) -> list[object]:
    return list(await sight.see(wanted, clock.monotonic() + seconds))


async def test_who_asks_at_the_same_time_is_shown_the_same() -> None:
    source = ShownSource(node_of("n"), seconds=0.5)
    sight, clock = sight_of(source)
    found = await asyncio.gather(*(see(sight, clock, NODES) for _ in range(9)))
    assert found == [[(node_of("n"),)]] * 9
    assert source.kinds == ["Node"]


async def test_a_list_serves_others_for_five_seconds() -> None:
    source = ShownSource(pod_of("p", "n"))
    sight, clock = sight_of(source)
    for seconds, read in ((0.0, 1), (4.9, 1), (0.2, 2)):
        await asyncio.sleep(seconds)
        await see(sight, clock, OF_NODE)
        assert len(source.kinds) == read


async def test_pods_by_name_and_of_a_namespace_are_read_each_time() -> None:
    source = ShownSource(pod_of("p"))
    sight, clock = sight_of(source)
    for wanted in (Wanted(Pod, "default", ("p",)), Wanted(Pod, "default", most=5)):
        for _ in range(2):
            assert await see(sight, clock, wanted) == [(pod_of("p"),)]
    assert len(source.kinds) == 4


async def test_who_cannot_wait_leaves_it_to_the_next() -> None:
    source = ShownSource(node_of("n"), seconds=3)
    sight, clock = sight_of(source)
    (late,) = await see(sight, clock, NODES)
    assert isinstance(late, NotRead)
    assert late.detail == "Nodes were not read in time"
    assert clock.monotonic() < 1
    await asyncio.sleep(2.5)
    assert await see(sight, clock, NODES) == [(node_of("n"),)]
    assert source.kinds == ["Node"]


@pytest.mark.parametrize("wanted", [NODES, BUDGETS])
async def test_what_hangs_is_given_up_and_begun_anew(wanted: Wanted) -> None:
    source = ShownSource(seconds=1000)
    sight, clock = sight_of(source)
    await see(sight, clock, wanted)
    source.seconds = 0
    await asyncio.sleep(10 - 2.1)
    (hanging,) = await see(sight, clock, wanted)
    assert isinstance(hanging, NotRead)
    await asyncio.sleep(0.2)
    assert await see(sight, clock, wanted) == [()]


async def test_what_would_serve_nobody_else_is_given_up() -> None:
    source = ShownSource(pod_of("p"), seconds=3)
    sight, clock = sight_of(source)
    (late,) = await see(sight, clock, Wanted(Pod, "default", ("p",)))
    assert isinstance(late, NotRead)
    await asyncio.sleep(5)
    assert source.kinds == [], "it has not gone on"


async def test_nobody_waits_for_a_turn_for_longer_than_ten_seconds() -> None:
    source = ShownSource(seconds=9)
    sight, clock = sight_of(source)
    nodes = [Wanted(Pod, fields=(("spec.nodeName", f"n{one}"),)) for one in range(40)]
    await see(sight, clock, *nodes)
    await asyncio.sleep(40)
    assert len(source.kinds) == 16, "the others are not read any more"


async def test_who_wants_to_see_nothing_lets_others_have_their_turn() -> None:
    sight, clock = sight_of(ShownSource())
    turns: list[str] = []

    async def other() -> None:
        turns.append("other")

    task = asyncio.ensure_future(other())
    assert await see(sight, clock) == []
    assert turns == ["other"]
    await task


async def test_what_fails_is_not_kept() -> None:
    source = ShownSource(node_of("n"))
    source.errors = {Node: UnavailableError("nobody is there")}
    sight, clock = sight_of(source)
    (failed,) = await see(sight, clock, NODES)
    assert isinstance(failed, NotRead)
    source.errors = {}
    assert await see(sight, clock, NODES) == [(node_of("n"),)]


async def test_a_fault_of_ours_is_no_slow_api_server() -> None:
    source = ShownSource()
    source.errors = dict.fromkeys((Node, PodDisruptionBudget, Pod), KeyError("k"))  # type: ignore[arg-type]
    sight, clock = sight_of(source)
    for wanted in (NODES, BUDGETS, Wanted(Pod, "default")):
        with pytest.raises(KeyError):
            await see(sight, clock, wanted)


async def test_without_a_cluster_nothing_is_seen() -> None:
    sight, clock = sight_of(None)
    (found,) = await see(sight, clock, NODES)
    assert isinstance(found, NotRead)
    assert found.detail == "Nodes: Bailiff was given no cluster to read"


async def test_nodes_are_seen_whole() -> None:
    pressed = NodeCondition(type="MemoryPressure", status="True")
    node = replace(node_of("n"), status=NodeStatus(conditions=(pressed,)))
    sight, clock = sight_of(ShownSource(node))
    for wanted in (NODES, Wanted(Node, names=("n",))):
        assert await see(sight, clock, wanted) == [(node,)]


async def test_what_was_allowed_is_seen_for_fifteen_seconds() -> None:
    source = ShownSource(node_of("a"), node_of("b"))
    sight, clock = sight_of(source)
    tainted, new = node_of("a", no_execute()), node_of("new", no_execute())
    sight.allowed(tainted)
    sight.allowed(new)
    assert await see(sight, clock, NODES) == [(node_of("b"), tainted, new)]
    await asyncio.sleep(15.1)
    assert await see(sight, clock, NODES) == [(node_of("a"), node_of("b"))]


class Plenty(ShownSource):
    """Has of everything as many as are wanted."""

    async def see(self, wanted: Wanted) -> tuple[Value, ...]:
        self.shown.wanted.append(wanted)
        return (pod_of("p"),) * (wanted.most or 1)


async def test_few_lists_are_kept_and_few_objects() -> None:
    source = Plenty()
    sight, clock = sight_of(source)

    async def is_kept(node: int, most: int = 1) -> bool:
        read = len(source.kinds)
        wanted = Wanted(Pod, fields=(("spec.nodeName", f"n{node}"),), most=most)
        await see(sight, clock, wanted)
        return len(source.kinds) == read

    for number in range(129):
        assert not await is_kept(number)
    assert await is_kept(128)
    assert await is_kept(1)
    assert not await is_kept(0), "the oldest was dropped"
    assert not await is_kept(1, most=30_000)
    assert not await is_kept(2, most=30_000)
    assert not await is_kept(1, most=30_000), "both together are more than is kept"
    assert not await is_kept(128), "and with it all that was older"


async def test_few_are_read_at_a_time() -> None:
    source = ShownSource(seconds=1)
    sight, clock = sight_of(source)
    wanted = [Wanted(Pod, "default", (f"p{number}",)) for number in range(40)]
    found = await see(sight, clock, *wanted, seconds=2.5)
    assert sum(isinstance(one, NotRead) for one in found) == 8


async def test_budgets_are_kept() -> None:
    source = ShownSource()
    sight, clock = sight_of(source)
    await see(sight, clock, BUDGETS)
    await see(sight, clock, BUDGETS)
    assert source.kinds == ["PodDisruptionBudget"]


async def test_the_last_list_serves_while_it_is_read_anew_and_takes_long() -> None:
    source = ShownSource(node_of("n"))
    sight, clock = sight_of(source)
    await see(sight, clock, NODES)
    await asyncio.sleep(6)
    source.seconds = 3
    source.shown.objects = [node_of("n"), node_of("m")]
    before = clock.monotonic()
    assert await see(sight, clock, NODES) == [(node_of("n"),)]
    assert 0.4 < clock.monotonic() - before < 0.6, "half of the time is left for what depends on it"
    await asyncio.sleep(3)
    assert await see(sight, clock, NODES) == [(node_of("n"), node_of("m"))]
    assert source.kinds == ["Node", "Node"]


async def test_a_new_list_that_is_read_in_time_is_better_than_the_last() -> None:
    source = ShownSource(node_of("n"), seconds=0.2)
    sight, clock = sight_of(source)
    await see(sight, clock, NODES)
    await asyncio.sleep(6)
    source.shown.objects = []
    assert await see(sight, clock, NODES) == [()]


async def test_the_last_list_serves_for_thirty_seconds_more_whatever_fails() -> None:
    source = ShownSource(node_of("n"))
    sight, clock = sight_of(source)
    await see(sight, clock, NODES)
    source.errors = {Node: UnavailableError("nobody is there")}
    for _ in range(3):
        await asyncio.sleep(11)
        assert await see(sight, clock, NODES) == [(node_of("n"),)]
    await asyncio.sleep(3)
    (failed,) = await see(sight, clock, NODES)
    assert isinstance(failed, NotRead)


async def test_a_single_node_is_never_older_than_a_second() -> None:
    source = ShownSource(node_of("n"))
    sight, clock = sight_of(source)
    await see(sight, clock, Wanted(Node, names=("n",)))
    await asyncio.sleep(1.1)
    source.seconds = 3
    (late,) = await see(sight, clock, Wanted(Node, names=("n",)))
    assert isinstance(late, NotRead)


async def test_of_what_was_allowed_the_last_thousand_nodes_are_known() -> None:
    sight, clock = sight_of(ShownSource())
    nodes = [node_of(f"n{number}") for number in range(1001)]
    for node in nodes:
        sight.allowed(node)
    assert await see(sight, clock, NODES) == [tuple(nodes[1:])]


async def test_what_was_allowed_is_known_though_no_list_can_be_read() -> None:
    source = ShownSource(node_of("a"), seconds=3)
    sight, clock = sight_of(source)
    tainted = node_of("a", no_execute())
    sight.allowed(tainted)
    (late,) = await see(sight, clock, NODES)
    assert isinstance(late, NotRead)
    assert late.known == (tainted,)


async def test_a_list_that_was_begun_ten_seconds_after_knows_better_what_came_of_it() -> None:
    source = ShownSource(node_of("a"))
    sight, clock = sight_of(source)
    sight.allowed(node_of("a", no_execute()))
    await asyncio.sleep(9.9)
    for _ in range(2):
        assert await see(sight, clock, NODES) == [(node_of("a", no_execute()),)]
        await asyncio.sleep(4.9)
    await asyncio.sleep(0.2)
    assert await see(sight, clock, NODES) == [(node_of("a"),)]
    sight.allowed(node_of("a", no_execute()))
    await asyncio.sleep(10.1)
    assert await see(sight, clock, NODES) == [(node_of("a"),)], "it was begun late enough"


async def test_what_was_allowed_is_known_for_as_long_as_a_list_without_it_is_shown() -> None:
    source = ShownSource(node_of("a"), seconds=29)
    sight, clock = sight_of(source, timeout=30)
    sight.allowed(node_of("a", no_execute()))
    await asyncio.sleep(9)
    await see(sight, clock, NODES)
    source.seconds = 1000
    await asyncio.sleep(28 + 5 + 29)
    assert await see(sight, clock, NODES) == [(node_of("a", no_execute()),)]
    assert clock.monotonic() > 70


async def test_who_waits_for_a_turn_that_nobody_wants_any_more_gives_it_up() -> None:
    source = ShownSource(node_of("n"), pod_of("p"), seconds=9)
    sight, clock = sight_of(source)
    hanging = [Wanted(Pod, fields=(("spec.nodeName", f"n{one}"),)) for one in range(16)]
    await see(sight, clock, *hanging)
    tasks = len(asyncio.all_tasks())
    for number in range(100):
        await see(sight, clock, Wanted(Node, names=(f"m{number}",)), seconds=0.05)
    assert len(asyncio.all_tasks()) == tasks, "nobody stands in line"
    await asyncio.sleep(9)
    source.seconds = 0.1
    assert await see(sight, clock, NODES, seconds=0.2) == [(node_of("n"),)]


@pytest.mark.parametrize("wanted", [NODES, OF_NODE])
async def test_the_last_list_is_not_lost_by_who_gives_up(wanted: Wanted) -> None:
    source = ShownSource(node_of("n"), pod_of("p", "n"))
    sight, clock = sight_of(source)
    last = await see(sight, clock, wanted)
    await asyncio.sleep(6)
    source.seconds = 9
    hanging = [Wanted(Pod, fields=(("spec.nodeName", f"n{one}"),)) for one in range(16)]
    await see(sight, clock, *hanging)
    for _ in range(3):
        assert await see(sight, clock, wanted) == last
