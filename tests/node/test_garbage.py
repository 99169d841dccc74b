"""A real runtime with much on it: what is freed, and what stays."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest

from bailiff.agent.log import Log
from bailiff.agent.metrics import AgentMetrics
from bailiff.agent.reading import ReadingError
from bailiff.agent.reclaiming import GarbageCollector
from bailiff.agent.remembering import Remembering
from bailiff.agent.standing import NEVER_READ, Standing
from bailiff.agent.state_file import StateFile
from bailiff.clock import SystemClock
from bailiff.decisions.pressure.layout import ReclaimStep
from tests.harness.agent_scene import pod as api_pod
from tests.harness.node_needs import needs, no_runtime
from tests.harness.node_runtime import NodeRuntime, node_runtime

pytestmark = needs(no_runtime())
USED, PINNED, OLD, YOUNG = 5, 5, 30, 9
BOTH = (ReclaimStep.UNUSED_CONTAINERS, ReclaimStep.UNUSED_IMAGES)


class LaterClock(SystemClock):
    """Ahead of the machine's by what a test does not care to wait for."""

    ahead = timedelta()

    def now(self):
        return super().now() + self.ahead


def collector(runtime: NodeRuntime, pods, clock, path=None, *, on_paper=False) -> GarbageCollector:
    log = Log(io.StringIO())
    remembering = Remembering(StateFile(path, log))
    standing = Standing("node", "acting", clock)
    metrics = AgentMetrics(lambda: 0.0, on_paper=on_paper)
    parts = (runtime.client, lambda: pods, remembering, standing, metrics, clock, log)
    return GarbageCollector(*parts, on_paper=on_paper)


@pytest.fixture
def runtime():
    with node_runtime() as made:
        yield made


async def tags(runtime: NodeRuntime) -> set[str]:
    found = {tag for one in await runtime.client.images() for tag in one.tags}
    return {tag.removeprefix("docker.io/local/").removesuffix(":1") for tag in found}


async def test_fifty_images_and_thirty_dead_containers(runtime: NodeRuntime, tmp_path):
    clock = LaterClock()
    for number in range(USED):
        runtime.add_image(f"docker.io/local/used-{number}:1")
    for number in range(OLD):
        runtime.add_image(f"docker.io/local/old-{number}:1")
    lives = await runtime.add_pod("lives", "uid-lives")
    running = [
        await lives.add_container(f"c{number}", f"docker.io/local/used-{number}:1")
        for number in range(USED)
    ]
    # Ten containers of a pod that lives have been started anew twice.
    dead: list[str] = []
    for attempt in range(2):
        for number in range(5):
            one = await lives.add_container(f"again-{number}", "docker.io/local/used-0:1", attempt)
            await runtime.client.stop_container(one, 2)
            dead.append(one)
    # Twenty of pods that are deleted.
    for number in range(4):
        gone = await runtime.add_pod(f"gone-{number}", f"uid-gone-{number}")
        for container in range(5):
            one = await gone.add_container(f"c{container}", "docker.io/local/old-0:1")
            await runtime.client.stop_container(one, 2)
            dead.append(one)
        await runtime.client.stop_sandbox(gone.sandbox)
    pods = (api_pod("lives", uid="uid-lives"),)
    first = collector(runtime, pods, clock, tmp_path / "state")
    await first.look()
    clock.ahead = timedelta(minutes=3)
    for number in range(YOUNG):
        runtime.add_image(f"docker.io/local/young-{number}:1")

    # Started anew meanwhile: what was seen of images is kept.
    again = collector(runtime, pods, clock, tmp_path / "state")
    await again.free(BOTH)

    left = {one.id for one in await runtime.client.containers()}
    # Of each container of the pod that lives the youngest dead one stays, for its logs.
    assert left == {*running, *dead[5:10]}
    assert {one.pod_uid for one in await runtime.client.sandboxes()} == {"uid-lives"}
    kept = {f"used-{number}" for number in range(USED)} | {f"young-{n}" for n in range(YOUNG)}
    # containerd 1.6 says of no image that it is pinned, so that its own may go, as with a kubelet.
    assert await tags(runtime) - {"pause"} == kept


async def test_on_paper_nothing_is_freed(runtime: NodeRuntime, monkeypatch):
    monkeypatch.setattr("bailiff.agent.reclaiming._KUBELET_FREES", 0.0)
    clock = LaterClock()
    runtime.add_image("docker.io/local/old:1")
    own = collector(runtime, (), clock, on_paper=True)
    await own.look()
    clock.ahead = timedelta(minutes=3)
    await own.free(BOTH)
    assert "old" in await tags(runtime)


async def test_without_a_runtime_nobody_goes(runtime: NodeRuntime):
    own = collector(runtime, (), LaterClock())
    runtime.daemon.end()
    try:
        with pytest.raises(ReadingError, match="what there is to free is not known"):
            await own.free(BOTH)
        assert own._standing.complaints
    finally:
        runtime.daemon.begin()
    await own.free(BOTH)
    assert own._standing.complaints == [NEVER_READ]
