"""What cgroup v2 alone tells of memory, and where its wire lies; `make real-node SCENE=notices`."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bailiff.agent.notices.events import MemoryEvents
from bailiff.agent.readings.mounts import find_mounts
from bailiff.agent.readings.places import Places
from tests.harness.node_cgroup import MIB, NodeCgroup, TakingPod, node_cgroup
from tests.harness.node_needs import needs, no_cgroups
from tests.node.test_notices import forgotten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def no_v2() -> str:
    """Empty: memory is counted by cgroup v2 here."""
    return "needs cgroup v2 with memory" if find_mounts(Places()).memory else no_cgroups()


pytestmark = needs(no_v2())
NO_LIMIT = "max"
# Reads a file over and over; what it has read is page cache of its cgroup.
READER = """
import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
sys.stdin.readline()
while True:
    os.lseek(file, 0, 0)
    while os.read(file, 1 << 16):
        pass
"""


@pytest.fixture
def node(tmp_path):
    with node_cgroup(tmp_path, 400 * MIB) as made:
        yield made


@pytest.fixture
def events(node):
    made = MemoryEvents(node.memory, lays_wire=True)
    yield made
    with contextlib.suppress(OSError):
        made.close()


def wire(node: NodeCgroup) -> str:
    return (node.memory / "memory.high").read_text().strip()


def count(node: NodeCgroup, name: str) -> int:
    lines = (node.memory / "memory.events.local").read_text().splitlines()
    return int(dict(line.split() for line in lines)[name])


async def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.005)


async def holding(node: NodeCgroup, mebibytes: int, rate: float = 1000.0) -> TakingPod:
    """A pod that has taken so much."""
    pod = node.add(f"holds-{mebibytes}")
    pod.load(rate, mebibytes)
    pod.start()
    await until(lambda: len(pod.taken) == mebibytes)
    return pod


@contextlib.contextmanager
def reading(pod: TakingPod, file: Path) -> Iterator[None]:
    """The pod reads this file, over and over."""
    command = [sys.executable, "-S", "-c", READER, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as reader:
        (pod.cgroups[0] / "cgroup.procs").write_text(str(reader.pid))
        assert reader.stdin is not None
        reader.stdin.write(b"\n")
        reader.stdin.flush()
        try:
            yield
        finally:
            reader.kill()


async def test_a_pod_at_its_own_limit_is_nothing_to_tell(node, events, tmp_path):
    forgotten(tmp_path / "file", 64 * MIB)
    pod = node.add("small")
    (pod.cgroups[0] / "memory.max").write_text(str(16 * MIB))
    events.move((200 * MIB, 300 * MIB))
    with reading(pod, tmp_path / "file"):
        at_limit = (pod.cgroups[0] / "memory.events").read_text
        await until(lambda: "max 0\n" not in at_limit())
        await asyncio.sleep(0.5)
    assert not events.take()
    assert wire(node) == str(200 * MIB)


async def test_the_node_at_its_limit_is_told(node, events):
    await holding(node, 100)
    (node.memory / "memory.max").write_text(str(110 * MIB))
    pod = node.add("hog")
    pod.load(1000, 100)
    pod.start()
    await until(lambda: node.oom_kills)
    assert events.take()
    assert not events.take()


async def test_where_a_wire_lies_a_limit_that_is_full_of_page_cache_is_nothing_to_tell(
    node, events, tmp_path
):
    forgotten(tmp_path / "file", 64 * MIB)
    (node.memory / "memory.max").write_text(str(40 * MIB))
    events.move((200 * MIB,))
    with reading(node.add("reads"), tmp_path / "file"):
        await until(lambda: count(node, "max") > 10)
    assert not events.take()
    assert wire(node) == str(200 * MIB)


async def test_the_wire_is_laid_beyond_what_is_in_use(node, events):
    await holding(node, 150)
    events.move((80 * MIB, 120 * MIB, 250 * MIB))
    assert wire(node) == str(250 * MIB)
    events.move((80 * MIB, 120 * MIB))
    assert wire(node) == NO_LIMIT


async def test_of_marks_that_are_passed_together_the_last_is_told_of_once(node, events):
    events.move(tuple(mark * MIB for mark in (80, 81, 84, 96, 350)))
    pod = node.add("fast")
    pod.load(4000, 150)
    pod.start()
    await until(lambda: len(pod.taken) == 150 or count(node, "high") > 0)
    # As if we had been busy: who is slowed down here is not slowed down for long.
    await asyncio.sleep(0.3)
    in_use = node.usage
    assert events.take()
    assert wire(node) == NO_LIMIT or int(wire(node)) > in_use


async def test_page_cache_is_taken_back_once_and_not_for_ever(node, events, tmp_path):
    """Page cache has tripped the wire, and the kernel has freed it since: it is laid on anyway."""
    forgotten(tmp_path / "file", 128 * MIB)
    events.move((60 * MIB, 350 * MIB))
    with reading(node.add("reads"), tmp_path / "file"):
        await until(lambda: count(node, "high"))
        assert events.take()
        assert wire(node) == str(350 * MIB)
        await until(lambda: node.usage > 100 * MIB)


async def test_what_the_last_wire_has_told_does_not_use_up_the_next(node, events):
    events.move((80 * MIB,))
    pod = node.add("hog")
    pod.load(1000, 100)
    pod.start()
    await until(lambda: count(node, "high"))
    events.move((150 * MIB, 350 * MIB))
    assert events.take()
    assert wire(node) == str(150 * MIB)


async def test_the_wire_is_taken_down_in_the_end(node):
    first = MemoryEvents(node.memory, lays_wire=True)
    first.move((80 * MIB,))
    assert wire(node) == str(80 * MIB)
    first.close()
    assert wire(node) == NO_LIMIT


async def test_what_one_has_left_that_was_killed_is_taken_down(node):
    (node.memory / "memory.high").write_text(str(80 * MIB))
    MemoryEvents(node.memory, lays_wire=False).close()
    assert wire(node) == str(80 * MIB)
    MemoryEvents(node.memory, lays_wire=True).close()
    assert wire(node) == NO_LIMIT


async def test_without_a_wire_none_is_laid(node):
    events = MemoryEvents(node.memory, lays_wire=False)
    events.move((80 * MIB,))
    assert wire(node) == NO_LIMIT
    events.close()
