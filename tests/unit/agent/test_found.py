"""Which ways of notice a host has, and that those which come later are found."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import cast

import pytest

from bailiff.agent.log import Log
from bailiff.agent.notices import found
from bailiff.agent.notices.found import WayFinder
from bailiff.agent.notices.notifier import NO_WAYS, Notifier
from bailiff.agent.readings.summary import MemoryCgroups
from bailiff.agent.settings import NoticeSettings
from tests.harness.clocks import LoopClock

PODS = Path("/pods")
FILES = (Path("/read-only"), Path("/ours"))


class MadeUpWay:
    descriptor = None

    def take(self) -> bool:
        return True

    def move(self, marks) -> None: ...

    def close(self) -> None: ...


class Kernel:
    """What it takes.

    Attributes:
        takes: the files of stalls by which it takes a trigger.
        cgroups: those that are there.
    """

    def __init__(self) -> None:
        self.takes: set[Path] = set()
        self.cgroups = MemoryCgroups(None, None, unified=False, pressure=FILES)

    def trigger(self, file: Path, _milliseconds: int) -> MadeUpWay:
        if file not in self.takes:
            raise OSError(30, "Read-only file system", str(file))
        return MadeUpWay()


@pytest.fixture
def kernel(monkeypatch):
    kernel = Kernel()
    monkeypatch.setattr(found, "StallTrigger", kernel.trigger)
    monkeypatch.setattr(found, "UsageMarks", lambda _: MadeUpWay())
    return kernel


def finder_of(kernel: Kernel) -> tuple[WayFinder, io.StringIO]:
    said = io.StringIO()
    return WayFinder(lambda: kernel.cgroups, NoticeSettings(), Log(said, text=True)), said


@pytest.mark.parametrize("takes", [FILES[:1], FILES[1:], FILES], ids=["first", "second", "both"])
def test_the_first_file_that_takes_a_trigger_is_enough(kernel, takes):
    kernel.takes = set(takes)
    finder, said = finder_of(kernel)
    assert list(finder.find().others) == ["stall"]
    assert said.getvalue() == ""


def test_where_none_takes_one_that_is_said_once(kernel):
    finder, said = finder_of(kernel)
    for _ in range(3):
        assert finder.find() == NO_WAYS
    assert said.getvalue().count("the kernel cannot tell this way") == 1
    assert "Read-only file system" in said.getvalue()


def test_what_is_known_is_not_found_again(kernel):
    kernel.takes = set(FILES)
    kernel.cgroups = kernel.cgroups._replace(pods=PODS)
    finder, _ = finder_of(kernel)
    assert finder.find(("stall", "usage:pods")) == NO_WAYS


@pytest.mark.looptime(start=0)
async def test_a_cgroup_that_is_made_later_is_listened_to(kernel):
    finder, _ = finder_of(kernel)
    notifier = Notifier(finder.find(), lambda _: None, LoopClock(), Log(io.StringIO()))
    notifier.start()
    running = asyncio.create_task(finder.run(notifier))
    await asyncio.sleep(1)
    assert not notifier.names
    kernel.cgroups = cast(MemoryCgroups, kernel.cgroups)._replace(pods=PODS)
    await asyncio.sleep(61)
    assert notifier.names == ("usage:pods",)
    running.cancel()
    notifier.close()
