"""When which node is read, on virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiff.cluster import ConfigError
from bailiff.cluster.kubelets import (
    KubeletTimeoutError,
    KubeletUnreachableError,
    MeasuredNode,
    Outcome,
    ReaderSettings,
    SummaryRead,
    SummaryReader,
)
from bailiff.cluster.kubelets.reader import phase_of
from bailiff.kinds import Node, NodeMeta
from bailiff.kinds.stats import NodeStats
from tests.harness.clocks import START, LoopClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TIMEOUT = 5.0
READ = SummaryRead(MeasuredNode(NodeStats(), ()), START, 0.0, 2, via_api_server=False)
pytestmark = pytest.mark.looptime


def node(name: str, uid: str = "") -> Node:
    return Node(metadata=NodeMeta(name=name, uid=uid))


class Fleet:
    """Reads by the script, and remembers when what was begun, and told."""

    def __init__(self, **settings: Any) -> None:
        self.takes: dict[str, float] = {}
        self.errors: dict[str, Exception] = {}
        self.usual = 0.05
        self.begun: dict[str, list[float]] = defaultdict(list)
        self.told: dict[str, list[tuple[float, Outcome]]] = defaultdict(list)
        self.asked: list[Node] = []
        self.is_busy = False
        self.most: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self.clock = LoopClock()
        self.reader = SummaryReader(self, self.tell, self.clock, ReaderSettings(**settings))

    async def summary(self, node: Node) -> SummaryRead:
        name = node.metadata.name
        self.begun[name].append(self.now())
        self.asked.append(node)
        for key in (name, "all"):
            self._running[key] += 1
            self.most[key] = max(self.most[key], self._running[key])
        try:
            takes = self.takes.get(name, self.usual)
            await asyncio.sleep(min(takes, TIMEOUT))
            if takes >= TIMEOUT:
                raise KubeletTimeoutError("no answer")
            if name in self.errors:
                raise self.errors[name]
            return READ
        finally:
            for key in (name, "all"):
                self._running[key] -= 1

    def tell(self, name: str, outcome: Outcome) -> None:
        self.told[name].append((self.now(), outcome))

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def follow(self, *names: str) -> None:
        for name in names:
            self.reader.follow(node(name))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.reader.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def test_each_node_is_read_once_an_interval_at_its_own_moment() -> None:
    fleet = Fleet(interval=10.0)
    names = [f"n{number}" for number in range(50)]
    fleet.follow(*names)
    async with fleet.running():
        await asyncio.sleep(60)
    for name in names:
        assert len(fleet.begun[name]) == 6
        assert all(b - a == pytest.approx(10.0, abs=0.02) for a, b in pairwise(fleet.begun[name]))
        assert fleet.begun[name][0] % 10 == pytest.approx(phase_of(name, 10.0), abs=0.02)


def test_the_fleet_is_spread_evenly_over_the_interval() -> None:
    counts = Counter(int(phase_of(f"ip-10-0-{n // 256}-{n % 256}", 10.0)) for n in range(5000))
    assert set(counts) == set(range(10))
    assert max(counts.values()) < 600


@given(st.text(), st.floats(1, 1e6))
def test_a_moment_is_within_the_interval_and_always_the_same(name: str, interval: float) -> None:
    assert 0 <= phase_of(name, interval) <= interval
    assert phase_of(name, interval) == phase_of(name, interval)


async def test_errors_are_handed_over_as_answers_are() -> None:
    fleet = Fleet()
    error = KubeletUnreachableError("refused")
    fleet.errors["bad"] = error
    fleet.follow("good", "bad")
    async with fleet.running():
        await asyncio.sleep(10)
    assert [outcome for _, outcome in fleet.told["good"]] == [READ]
    ((_, outcome),) = fleet.told["bad"]
    assert (type(outcome), str(outcome)) == (KubeletUnreachableError, "refused")
    # That would hold what was read in the meantime.
    assert isinstance(outcome, Exception)
    assert outcome.__traceback__ is None


async def test_no_more_are_read_at_a_time_than_may_be_and_all_have_their_turn() -> None:
    fleet = Fleet(concurrency=4)
    fleet.usual = 0.9
    names = [f"n{number}" for number in range(100)]
    fleet.follow(*names)
    async with fleet.running():
        await asyncio.sleep(100)
        assert fleet.reader.waiting > 0
        assert fleet.reader.running == 4
    assert fleet.most["all"] == 4
    assert max(fleet.most[name] for name in names) == 1
    # 4 places of 0.9 s are 4.4 readings a second, for 100 nodes.
    assert min(len(fleet.told[name]) for name in names) >= 3


async def test_nodes_that_hang_leave_the_others_their_moments() -> None:
    fleet = Fleet(concurrency=4, slow_concurrency=2, patience=1.0)
    fast = [f"fast{number}" for number in range(30)]
    hung = [f"hung{number}" for number in range(60)]
    fleet.takes.update(dict.fromkeys(hung, TIMEOUT))
    fleet.follow(*fast, *hung)
    async with fleet.running():
        await asyncio.sleep(100)
        # By now it is known who hangs.
        before = {name: len(fleet.told[name]) for name in fast}
        await asyncio.sleep(100)
    late = [
        at - phase_of(name, 10.0) - 0.05 for name in fast for at, _ in fleet.told[name] if at >= 100
    ]
    assert all(len(fleet.told[name]) - before[name] == 10 for name in fast)
    assert max(lateness % 10 for lateness in late) < 0.1
    assert fleet.most["all"] <= 6


async def test_when_many_hang_at_once_a_place_is_held_for_the_patience_at_most() -> None:
    fleet = Fleet(concurrency=4, slow_concurrency=2, patience=1.0)
    names = [f"n{number}" for number in range(24)]
    fleet.usual = TIMEOUT
    fleet.takes["healthy"] = 0.05
    fleet.follow(*names, "healthy")
    async with fleet.running():
        await asyncio.sleep(20)
    # 24 nodes in 4 places of 1 s each: nobody waits longer than that for its first turn.
    first = fleet.begun["healthy"][0] - phase_of("healthy", 10.0)
    assert first <= 7
    given_up = [o for name in names for _, o in fleet.told[name] if "given up" in str(o)]
    assert given_up
    assert all(isinstance(outcome, KubeletTimeoutError) for outcome in given_up)


async def test_hanging_nodes_are_asked_again_one_after_the_other() -> None:
    fleet = Fleet(concurrency=4, slow_concurrency=2, patience=1.0)
    names = [f"n{number}" for number in range(20)]
    fleet.usual = TIMEOUT
    fleet.follow(*names)
    async with fleet.running():
        await asyncio.sleep(300)
    # 2 places of 5 s for 20 nodes: a turn each 50 s.
    assert min(len(fleet.begun[name]) for name in names) >= 5


async def test_who_hung_and_answers_again_is_back_in_the_first_line() -> None:
    fleet = Fleet(concurrency=1, slow_concurrency=1, patience=1.0)
    fleet.takes["n1"] = TIMEOUT
    fleet.follow("n1")
    async with fleet.running():
        await asyncio.sleep(20)
        del fleet.takes["n1"]
        await asyncio.sleep(20)
        # The second line is full of another one that hangs, which does not matter any more.
        fleet.takes["n2"] = TIMEOUT
        fleet.follow("n2")
        before = len(fleet.told["n1"])
        await asyncio.sleep(50)
    assert len(fleet.told["n1"]) - before == 5


async def test_slow_and_sound_is_no_hanging() -> None:
    fleet = Fleet(concurrency=1, slow_concurrency=1, patience=1.0)
    fleet.takes["slow"] = 2.0
    fleet.follow("slow")
    async with fleet.running():
        await asyncio.sleep(50)
    assert [outcome for _, outcome in fleet.told["slow"]] == [READ] * 5


async def test_who_takes_long_leaves_its_place_to_others() -> None:
    fleet = Fleet(concurrency=1, slow_concurrency=1, patience=1.0)
    slow = "slow"
    fleet.takes[slow] = 4.5
    # Those whose turn comes while it is being read.
    others = [
        name
        for name in (f"n{number}" for number in range(200))
        if 0.1 < phase_of(name, 10.0) - phase_of(slow, 10.0) < 3
    ][:5]
    assert others
    fleet.follow(slow, *others)
    async with fleet.running():
        await asyncio.sleep(20)
    for name in others:
        assert fleet.begun[name][0] - fleet.begun[slow][0] < 3.3
    assert [outcome for _, outcome in fleet.told[slow]][:1] == [READ]


async def test_who_fails_quickly_has_not_hung() -> None:
    fleet = Fleet(concurrency=1, slow_concurrency=1, patience=1.0)
    fleet.errors["refused"] = KubeletUnreachableError("refused")
    fleet.takes["hung"] = TIMEOUT
    fleet.follow("refused", "hung")
    async with fleet.running():
        await asyncio.sleep(100)
    assert len(fleet.told["refused"]) == 10


async def test_while_the_source_is_busy_none_is_begun() -> None:
    fleet = Fleet()
    fleet.follow(*(f"n{number}" for number in range(20)))
    fleet.is_busy = True
    async with fleet.running():
        await asyncio.sleep(15)
        assert (fleet.begun, fleet.reader.waiting, fleet.reader.running) == ({}, 20, 0)
        fleet.is_busy = False
        await asyncio.sleep(0.2)
        assert len(fleet.told) == 20


async def test_of_a_node_that_is_gone_nothing_is_told() -> None:
    fleet = Fleet()
    fleet.takes["n1"] = 4.0
    fleet.follow("n1")
    async with fleet.running():
        while not fleet.begun["n1"]:
            await asyncio.sleep(0.1)
        fleet.reader.unfollow("n1")
        fleet.reader.unfollow("n1")
        await asyncio.sleep(30)
    assert fleet.told == {}
    assert len(fleet.begun["n1"]) == 1
    assert fleet.reader.running == 0


async def test_another_node_of_the_same_name_begins_anew() -> None:
    fleet = Fleet()
    fleet.takes["n1"] = 4.0
    first, second = node("n1", "uid-1"), node("n1", "uid-2")
    fleet.reader.follow(first)
    async with fleet.running():
        while not fleet.begun["n1"]:
            await asyncio.sleep(0.1)
        fleet.reader.follow(second)
        await asyncio.sleep(20)
    assert [one.metadata.uid for one in fleet.asked] == ["uid-1", "uid-2", "uid-2"]
    assert 1 <= len(fleet.told["n1"]) <= 2


async def test_a_node_that_has_changed_is_read_as_it_is_now() -> None:
    fleet = Fleet()
    fleet.reader.follow(node("n1", "uid-1"))
    changed = Node(metadata=NodeMeta(name="n1", uid="uid-1", resource_version="2"))
    async with fleet.running():
        fleet.reader.follow(changed)
        await asyncio.sleep(10.5)
    assert fleet.asked == [changed]


async def test_stopped_in_the_middle_and_run_again_it_reads_all_of_them() -> None:
    fleet = Fleet()
    fleet.takes["n1"] = 4.0
    fleet.follow("n1", "n2")
    async with fleet.running():
        while not fleet.begun["n1"]:
            await asyncio.sleep(0.1)
    assert fleet.reader.running == 0
    async with fleet.running():
        await asyncio.sleep(25)
    assert min(len(fleet.told["n1"]), len(fleet.told["n2"])) >= 2


async def test_what_a_listener_raises_ends_the_run() -> None:
    def broken(_name: str, _outcome: Outcome) -> None:
        raise ValueError("mine")

    fleet = Fleet()
    reader = SummaryReader(fleet, broken, fleet.clock)
    reader.follow(node("n1"))
    with pytest.raises(ExceptionGroup) as caught:
        await reader.run()
    assert isinstance(caught.value.exceptions[0], ValueError)


@pytest.mark.parametrize(
    "wrong",
    [
        {"interval": 0.9},
        {"interval": float("nan")},
        {"patience": 0.0},
        {"concurrency": 0},
        {"slow_concurrency": 0},
    ],
)
def test_settings_that_cannot_be_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ReaderSettings(**wrong)
