"""What the kernel of this machine tells of memory: real cgroups, real PSI."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bailiff.agent.log import Log
from bailiff.agent.notices.events import MemoryEvents
from bailiff.agent.notices.mark import UsageMarks
from bailiff.agent.notices.notifier import Notifier, Ways
from bailiff.agent.notices.stalls import StallTrigger
from bailiff.clock import SystemClock
from tests.harness.node_cgroup import MIB, NodeCgroup, node_cgroup
from tests.harness.node_needs import needs, no_cgroups

pytestmark = needs(no_cgroups())
PRESSURE = Path("/proc/pressure/memory")


@pytest.fixture
def node(tmp_path):
    with node_cgroup(tmp_path, 256 * MIB) as made:
        yield made


async def told(way, start, seconds: float = 5.0, *, all_of_it: bool = False) -> list[str]:
    """What is told once `start` has been called, until something is, or the whole time."""
    heard: list[str] = []
    event = asyncio.Event()

    def hear(by: str) -> None:
        heard.append(by)
        if not all_of_it:
            event.set()

    notifier = Notifier(Ways({("way", "node"): way}, {}), hear, SystemClock(), Log(text=True))
    notifier.start()
    start()
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
    finally:
        notifier.close()
    return heard


@pytest.fixture
def marks(node: NodeCgroup):
    if node.unified:
        return MemoryEvents(node.memory, lays_wire=True)
    return UsageMarks(node.memory)


async def test_a_mark_that_is_crossed_is_told(node, marks):
    pod = node.add("uid")
    pod.load(200, 150)
    marks.move((100 * MIB, 120 * MIB))
    assert await told(marks, pod.start) == ["way"]
    # And at once: what was taken by then is hardly more than the mark.
    assert 90 < len(pod.taken) < 130


async def test_a_mark_that_is_not_crossed_is_not_told(node, marks):
    pod = node.add("uid")
    pod.load(200, 50)
    marks.move((150 * MIB,))
    assert await told(marks, pod.start, seconds=1.0) == []


async def test_of_several_marks_each_is_told(node, marks):
    pod = node.add("uid")
    pod.load(100, 150)
    marks.move((80 * MIB, 120 * MIB))
    heard: list[float] = []
    notifier = Notifier(
        Ways({("way", "node"): marks}, {}),
        lambda _: heard.append(len(pod.taken)),
        SystemClock(),
        Log(text=True),
    )
    notifier.start()
    pod.start()
    await asyncio.sleep(2.5)
    notifier.close()
    assert any(70 < one < 100 for one in heard)
    assert any(110 < one < 140 for one in heard)


async def test_a_cgroup_that_goes_is_no_storm(node, marks):
    marks.move((100 * MIB,))
    heard = await told(marks, node.remove, seconds=1.0, all_of_it=True)
    # One that told all the time would be held back at some 20 a second, see Pace.
    assert len(heard) < 10


# As the chart mounts it: the host's /proc below a folder, and read-only.
_IN_THE_CHART = """
mount --make-rprivate / && mkdir -p "$0/proc" && mount --bind /proc "$0/proc" &&
mount -o remount,bind,ro "$0/proc" && exec "$1" -c "$2" "$0"
"""
_FIND = """
import sys
from bailiff.agent.log import Log
from bailiff.agent.notices.found import WayFinder
from bailiff.agent.readings.places import Places
from bailiff.agent.readings.summary import NodeReadings
from bailiff.agent.settings import NoticeSettings
try:
    open(sys.argv[1] + "/proc/pressure/memory", "r+")
except OSError as error:
    print(error.strerror)
readings = NodeReadings(Places(root=sys.argv[1]), "node")
print(*WayFinder(readings.memory_cgroups, NoticeSettings(), Log()).find().others)
"""


@pytest.mark.skipif(not PRESSURE.exists(), reason="this kernel has no PSI")
def test_stalls_can_be_told_of_where_the_host_s_files_are_read_only(tmp_path):
    command = ["unshare", "--mount", "sh", "-c", _IN_THE_CHART, tmp_path, sys.executable, _FIND]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.returncode) == ("Read-only file system\nstall\n", 0), done.stderr


# Reads a file over and over; what it has read is page cache of its cgroup.
_READER = """
import mmap, sys
sys.stdin.readline()
file = open(sys.argv[1], "rb")
room = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
while True:
    sum(room[at] for at in range(0, len(room), 4096))
"""


def _reader(file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-S", "-c", _READER, str(file)]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def forgotten(path: Path, size: int) -> None:
    """A file of which nothing is in memory: whoever reads it first is charged for it."""
    with path.open("wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.skipif(not PRESSURE.exists(), reason="this kernel has no PSI")
async def test_stalls_are_told(node):
    """Four programs read a file of which the cgroup has no room to keep the whole."""
    pod = node.add("uid")
    limit = "memory.max" if node.unified else "memory.limit_in_bytes"
    folder = pod.cgroups[0]
    (folder / limit).write_text(str(8 * MIB))
    trigger = StallTrigger(PRESSURE, 10)
    big = node._folder / "big"
    forgotten(big, 64 * MIB)
    readers = [_reader(big) for _ in range(4)]
    try:
        for one in readers:
            (folder / "cgroup.procs").write_text(str(one.pid))

        def start() -> None:
            for one in readers:
                assert one.stdin is not None
                one.stdin.write(b"\n")
                one.stdin.flush()

        assert "way" in await told(trigger, start, seconds=30.0)
    finally:
        for one in readers:
            one.kill()
            one.communicate()
