"""What is freed of a made-up runtime, and what becomes of it where that does not obey."""

from __future__ import annotations

import asyncio
import io
from typing import TYPE_CHECKING, cast

import pytest
from msgspec.structs import replace

from bailiff.agent.log import Log
from bailiff.agent.metrics import AgentMetrics
from bailiff.agent.reading import ReadingError
from bailiff.agent.reclaiming import GarbageCollector
from bailiff.agent.remembering import Remembering
from bailiff.agent.runtime import RuntimeFailedError
from bailiff.agent.standing import Standing
from bailiff.agent.state_file import StateFile
from bailiff.decisions.pressure.garbage import (
    ContainerState,
    RuntimeContainer,
    RuntimeImage,
    RuntimeSandbox,
)
from bailiff.decisions.pressure.layout import ReclaimStep
from tests.harness.clocks import LoopClock

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.agent.runtime import Runtime

pytestmark = pytest.mark.looptime(start=0)

CONTAINERS, IMAGES = ReclaimStep.UNUSED_CONTAINERS, ReclaimStep.UNUSED_IMAGES
RUNS = RuntimeContainer(
    id="runs",
    name="main",
    pod_uid="gone",
    sandbox_id="s",
    state=ContainerState.RUNNING,
    image_id="used",
)
DEAD = replace(RUNS, id="dead", pod_uid="over", sandbox_id="old", state=ContainerState.EXITED)


class MadeUpRuntime:
    """A container that runs, a dead one with a sandbox of its own, and two images.

    Attributes:
        done: each removal, in order.
        refuses: ids that are not removed.
        away: why nothing is answered; empty: all is.
        takes: seconds for each removal.
    """

    def __init__(self) -> None:
        self.held = {"runs": RUNS, "dead": DEAD}
        self.boxes = {
            "s": RuntimeSandbox(id="s", pod_uid="gone", ready=True),
            "old": RuntimeSandbox(id="old", pod_uid="over"),
        }
        self.kept = {
            name: RuntimeImage(id=name, tags=(f"{name}:1",)) for name in ("used", "unused")
        }
        self.done: list[str] = []
        self.refuses: set[str] = set()
        self.away = ""
        self.takes = 0.0

    def _answer(self) -> None:
        if self.away:
            raise RuntimeFailedError(self.away)

    async def containers(self) -> list[RuntimeContainer]:
        self._answer()
        return list(self.held.values())

    async def sandboxes(self) -> list[RuntimeSandbox]:
        self._answer()
        return list(self.boxes.values())

    async def images(self) -> list[RuntimeImage]:
        self._answer()
        return list(self.kept.values())

    async def _remove(self, held: dict[str, object], which: str) -> None:
        await asyncio.sleep(self.takes)
        if which in self.refuses:
            raise RuntimeFailedError("no")
        del held[which]
        self.done.append(which)

    async def stop_container(self, container: str, grace_period_seconds: int) -> None:
        self.done.append(f"stop {container} in {grace_period_seconds}")

    async def remove_container(self, container: str) -> None:
        await self._remove(cast("dict[str, object]", self.held), container)

    async def remove_sandbox(self, sandbox: str) -> None:
        await self._remove(cast("dict[str, object]", self.boxes), sandbox)

    async def remove_image(self, image: str) -> None:
        await self._remove(cast("dict[str, object]", self.kept), image)


class Scene:
    """A collector, and what it tells."""

    def __init__(self, file: Path | None = None, *, on_paper: bool = False) -> None:
        clock = LoopClock()
        self.runtime = MadeUpRuntime()
        self.said = io.StringIO()
        log = Log(self.said)
        self.standing = Standing("node", "acting", clock)
        self.metrics = AgentMetrics(lambda: 0.0, on_paper=on_paper)
        self.collector = GarbageCollector(
            cast("Runtime", self.runtime),
            tuple,
            Remembering(StateFile(file, log), on_paper=on_paper),
            self.standing,
            self.metrics,
            clock,
            log,
            on_paper=on_paper,
        )

    @property
    def freed(self) -> list[tuple[str, str]]:
        """What is told of at /v1/agent: which, and its fate."""
        return [(one["id"], one["fate"]) for one in self.standing.describe()["freed"]]


async def test_dead_containers_and_then_their_sandboxes():
    scene = Scene()
    await asyncio.sleep(120)
    await scene.collector.free([CONTAINERS])
    assert scene.runtime.done == ["dead", "old"]
    assert scene.freed == [("dead", "freed"), ("old", "freed")]
    assert scene.metrics.registry.get_sample_value(
        "bailiff_agent_freed_total", {"what": "sandbox", "fate": "freed"}
    )


async def test_one_of_an_unknown_state_is_stopped_first():
    scene = Scene()
    scene.runtime.held["dead"] = replace(DEAD, state=ContainerState.UNKNOWN)
    await asyncio.sleep(120)
    await scene.collector.free([CONTAINERS])
    assert scene.runtime.done[:2] == ["stop dead in 2", "dead"]


async def test_an_image_goes_when_nobody_uses_it_and_it_was_seen_two_minutes_ago():
    scene = Scene()
    assert await scene.collector.look() == 300
    await asyncio.sleep(119)
    await scene.collector.free([IMAGES])
    assert scene.runtime.done == []
    await asyncio.sleep(2)
    await scene.collector.free([IMAGES])
    assert scene.runtime.done == ["unused"]


async def test_images_are_as_old_after_a_restart(tmp_path):
    first = Scene(tmp_path / "state")
    await first.collector.look()
    await asyncio.sleep(121)
    heir = Scene(tmp_path / "state")
    await heir.collector.free([IMAGES])
    assert heir.runtime.done == ["unused"]


async def test_what_was_kept_and_cannot_be_read_is_nothing(tmp_path):
    file = tmp_path / "state"
    file.write_text('{"images": {"images": 7}}')
    scene = Scene(file)
    await scene.collector.free([IMAGES])
    assert scene.runtime.done == []


async def test_one_that_is_not_removed_keeps_no_other():
    scene = Scene()
    scene.runtime.refuses = {"dead"}
    await asyncio.sleep(120)
    await scene.collector.free([CONTAINERS, IMAGES])
    assert ("dead", "failed") in scene.freed
    await scene.collector.look()
    await asyncio.sleep(121)
    await scene.collector.free([CONTAINERS, IMAGES])
    assert "unused" in scene.runtime.done
    assert '"not freed"' in scene.said.getvalue()


async def test_where_the_runtime_does_not_say_what_there_is_nothing_is_freed_and_that_is_told():
    scene = Scene()
    scene.runtime.away = "no answer"
    assert await scene.collector.look() == 10
    for step in (CONTAINERS, IMAGES):
        with pytest.raises(ReadingError, match="what there is to free is not known: no answer"):
            await scene.collector.free([step])
    assert any("no answer" in one for one in scene.standing.complaints)
    scene.runtime.away = ""
    await scene.collector.look()
    assert not any("no answer" in one for one in scene.standing.complaints)


async def test_a_clean_up_ends_within_two_minutes():
    scene = Scene()
    scene.runtime.takes = 1000
    await asyncio.sleep(120)
    began = asyncio.get_running_loop().time()
    with pytest.raises(ReadingError, match="not all could be freed within 120 s"):
        await scene.collector.free([CONTAINERS])
    assert asyncio.get_running_loop().time() - began == 120


async def test_on_paper_nothing_is_removed_and_the_kubelet_is_given_its_time():
    scene = Scene(on_paper=True)
    await asyncio.sleep(120)
    began = asyncio.get_running_loop().time()
    await scene.collector.free([CONTAINERS])
    assert scene.runtime.done == []
    assert scene.freed == [("dead", "onPaper")]
    assert asyncio.get_running_loop().time() - began == 10


async def test_it_looks_every_five_minutes_and_sooner_after_one_that_failed():
    scene = Scene()
    looks: list[float] = []
    images = scene.runtime.images

    async def counted() -> list[RuntimeImage]:
        looks.append(asyncio.get_running_loop().time())
        return await images()

    scene.runtime.images = counted  # type: ignore[method-assign]  # it is counted
    task = asyncio.create_task(scene.collector.run())
    await asyncio.sleep(299)
    scene.runtime.away = "no answer"
    await asyncio.sleep(5)
    scene.runtime.away = ""
    await asyncio.sleep(310)
    assert looks == [0, 300, 310, 610]
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_an_image_that_is_pulled_again_is_new_though_the_freeing_was_left():
    scene = Scene()
    await scene.collector.look()
    await asyncio.sleep(121)
    scene.runtime.kept["z"] = RuntimeImage(id="z", tags=("z:1",))
    scene.runtime.takes = 1.0
    freeing = asyncio.create_task(scene.collector.free([IMAGES]))
    await asyncio.sleep(1.5)
    freeing.cancel()
    await asyncio.gather(freeing, return_exceptions=True)
    assert scene.runtime.done == ["unused"]
    scene.runtime.kept["unused"] = RuntimeImage(id="unused", tags=("unused:1",))
    await scene.collector.free([IMAGES])
    assert scene.runtime.done == ["unused"]
