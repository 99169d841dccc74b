"""The watch of pods begins anew, with labels, once a policy needs them."""

import asyncio
import contextlib
from typing import cast

import pytest

from bailiff.cluster import PODS, Changed, Replaced, WatchHealth
from bailiff.kinds import LABELS_NOT_KEPT
from bailiff.worker.mirror.watching import PodWatch, Watches
from tests.harness.kinds import pod_of
from tests.harness.worlds.fake_watch import FakeWatch

pytestmark = pytest.mark.looptime(start=0)


class OpenedWatch(FakeWatch):
    def __init__(self, labels):
        super().__init__()
        self.labels, self.health = labels, WatchHealth()
        self.opened = self.closed = False

    async def events(self):
        self.opened = True
        try:
            async for event in super().events():
                yield event
        finally:
            self.closed = True


class Scene:
    def __init__(self):
        self.opened = []
        self.seen = []
        self.healths = {}
        self.watch = PodWatch(cast("Watches", self))

    def open(self, resource, *, pod_labels=False):
        assert resource is PODS
        self.opened.append(OpenedWatch(pod_labels))
        return self.opened[-1]

    @contextlib.asynccontextmanager
    async def read(self):
        task = asyncio.create_task(self._read())
        await asyncio.sleep(1)
        yield
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def _read(self):
        async with contextlib.aclosing(self.watch.events()) as events:
            async for event in events:
                self.seen.append(event)


def unlabelled(name):
    return pod_of(name, labels=LABELS_NOT_KEPT)


async def test_events_pass_through():
    scene = Scene()
    async with scene.read():
        events = [Replaced((unlabelled("a"),), "1"), Changed(unlabelled("b"))]
        for event in events:
            scene.opened[0].send(event)
        await asyncio.sleep(1)
        assert scene.seen == events
    assert [watch.labels for watch in scene.opened] == [False]
    assert scene.opened[0].closed


async def test_labels_are_read_by_a_new_watch_and_the_old_one_is_closed():
    scene = Scene()
    async with scene.read():
        scene.opened[0].send(Replaced((), "1"))
        await asyncio.sleep(1)
        scene.watch.need_labels()
        await asyncio.sleep(1)
        old, new = scene.opened
        assert (old.closed, new.labels, new.opened) == (True, True, True)
        assert scene.healths == {"pods": new.health}
        old.send(Changed(unlabelled("late")))
        new.send(Replaced((unlabelled("a"),), "2"))
        await asyncio.sleep(1)
        assert scene.seen == [Replaced((), "1"), Replaced((unlabelled("a"),), "2")]
        scene.watch.need_labels()
        await asyncio.sleep(1)
        assert len(scene.opened) == 2
    assert new.closed


async def test_labels_that_are_needed_while_an_event_is_being_taken_in_do_not_disturb_that():
    scene = Scene()
    events = scene.watch.events()
    scene.opened[0].send(Replaced((), "1"))
    assert await anext(events) == Replaced((), "1")
    # The reader is at work, and gives others their turn.
    scene.watch.need_labels()
    await asyncio.sleep(1)
    old, new = scene.opened
    old.send(Changed(unlabelled("late")))
    new.send(Replaced((unlabelled("a"),), "2"))
    assert await anext(events) == Replaced((unlabelled("a"),), "2")
    assert old.closed
    await events.aclose()


async def test_labels_that_are_needed_from_the_start_cost_no_second_watch():
    scene = Scene()
    scene.watch.need_labels()
    async with scene.read():
        unused, new = scene.opened
        assert (unused.opened, new.opened) == (False, True)


async def test_after_the_end_nothing_begins():
    scene = Scene()
    async with scene.read():
        pass
    scene.watch.need_labels()
    await asyncio.sleep(1)
    assert not scene.opened[1].opened
