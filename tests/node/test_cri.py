"""What a real runtime answers where CRI leaves it open, and how it ends a call it cannot finish."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator

import pytest

from bailiff.agent.cri.calls import Bounds, call
from bailiff.agent.cri.errors import CriStatusError, CriTooLongError, CriUnreachableError
from bailiff.decisions.pressure.garbage import ContainerState
from tests.harness.held import held
from tests.harness.node_needs import needs, no_runtime
from tests.harness.node_runtime import PAUSE, NodeRuntime, node_runtime

pytestmark = needs(no_runtime())
IMAGE = "docker.io/local/app:1"
RUNTIME = "/runtime.v1.RuntimeService/"
LIST_IMAGES = "/runtime.v1.ImageService/ListImages"
UNIMPLEMENTED = 12
# Seconds for a broken build only.
PATIENCE = 60.0


@pytest.fixture(scope="module")
def runtime():
    with node_runtime() as made:
        yield made


async def image_of(runtime: NodeRuntime, tag: str) -> str:
    (found,) = [one.id for one in await runtime.client.images() if tag in one.tags]
    return found


async def state_of(runtime: NodeRuntime, container: str) -> ContainerState:
    (found,) = [one.state for one in await runtime.client.containers() if one.id == container]
    return found


async def test_images_lie_in_the_folder_of_the_snapshotter(runtime: NodeRuntime):
    """Which is no mount point, whatever the field is called."""
    images, _ = await runtime.client.file_systems()
    folder = runtime.daemon.folder / "root" / "io.containerd.snapshotter.v1.native"
    assert images == str(folder)
    assert folder.stat().st_dev == folder.parent.stat().st_dev


async def test_no_image_is_pinned_by_containerd_1_6(runtime: NodeRuntime):
    _, version = await runtime.client.version()
    if not version.startswith("1.6."):
        pytest.skip(f"containerd {version} may pin")
    await runtime.add_pod("pins", "uid-pins")
    runtime.add_image("docker.io/local/labelled:1", pinned=True)
    assert not [one.tags for one in await runtime.client.images() if one.pinned]


async def test_the_image_of_a_container_that_runs_is_removed_and_the_container_goes_on(
    runtime: NodeRuntime,
):
    runtime.add_image(IMAGE)
    pod = await runtime.add_pod("used", "uid-used")
    made = await pod.add_container("main", IMAGE)
    await runtime.client.remove_image(await image_of(runtime, IMAGE))
    assert IMAGE not in [tag for one in await runtime.client.images() for tag in one.tags]
    assert await state_of(runtime, made) is ContainerState.RUNNING
    with pytest.raises(CriStatusError, match="CreateContainer: code 5: 'failed to resolve image"):
        await pod.add_container("again", IMAGE)
    await runtime.client.stop_container(made, 1)
    assert await state_of(runtime, made) is ContainerState.EXITED


async def test_the_image_of_a_sandbox_that_is_ready_is_removed_and_the_next_sandbox_wants_it(
    runtime: NodeRuntime,
):
    pod = await runtime.add_pod("ready", "uid-ready")
    await runtime.client.remove_image(await image_of(runtime, PAUSE))
    try:
        assert pod.sandbox in [one.id for one in await runtime.client.sandboxes() if one.ready]
        with pytest.raises(CriStatusError, match="failed to get sandbox image"):
            await runtime.add_pod("next", "uid-next")
    finally:
        runtime.add_image(PAUSE)
    await runtime.client.remove_sandbox(pod.sandbox)


async def test_a_container_that_runs_is_removed_too(runtime: NodeRuntime):
    """So nothing but our own rules stands between a container that runs and its removal."""
    runtime.add_image(IMAGE)
    made = await (await runtime.add_pod("runs", "uid-runs")).add_container("main", IMAGE)
    await runtime.client.remove_container(made)
    assert made not in [one.id for one in await runtime.client.containers()]


async def test_stats_of_sandboxes_fail_for_all_where_one_has_no_cgroup(runtime: NodeRuntime):
    """So the agent does not go by them."""
    await runtime.add_pod("bare", "uid-bare")
    with pytest.raises(CriStatusError, match=r"ListPodSandboxStats: .*cgroupPath is empty"):
        await call(runtime.socket, f"{RUNTIME}ListPodSandboxStats", b"", Bounds())


async def test_a_method_that_it_does_not_know(runtime: NodeRuntime):
    with pytest.raises(CriStatusError) as caught:
        await call(runtime.socket, f"{RUNTIME}NoSuchMethod", b"", Bounds())
    assert caught.value.code == UNIMPLEMENTED


async def test_an_answer_of_a_real_runtime_is_bounded(runtime: NodeRuntime):
    whole = await call(runtime.socket, LIST_IMAGES, b"", Bounds())
    assert len(whole) > 16
    # Its images are in another order each time.
    again = await call(runtime.socket, LIST_IMAGES, b"", Bounds(answer_bytes=len(whole)))
    assert len(again) == len(whole)
    with pytest.raises(CriTooLongError, match="ListImages: the answer exceeds 16 bytes"):
        await call(runtime.socket, LIST_IMAGES, b"", Bounds(answer_bytes=16))


@contextlib.contextmanager
def deaf(runtime: NodeRuntime, container: str) -> Iterator[None]:
    """Its process is stopped, so that it does not hear that it is to end."""
    rows = runtime.daemon.ctr("--namespace", "k8s.io", "tasks", "list").stdout.splitlines()
    (pid,) = [int(row.split()[1]) for row in rows if row.startswith(container)]
    with held(pid):
        yield


async def test_one_that_is_stopped_during_a_call_is_unreachable_at_once(runtime: NodeRuntime):
    runtime.add_image(IMAGE)
    made = await (await runtime.add_pod("stops", "uid-stops")).add_container("main", IMAGE)
    with deaf(runtime, made):
        stopping = asyncio.create_task(runtime.client.stop_container(made, int(PATIENCE)))
        await asyncio.sleep(0.3)
        assert not stopping.done()
        began = time.monotonic()
        await asyncio.to_thread(runtime.daemon.end)
        try:
            with pytest.raises(CriUnreachableError, match="StopContainer: "):
                await asyncio.wait_for(stopping, PATIENCE)
            assert time.monotonic() - began < PATIENCE / 4
        finally:
            runtime.daemon.begin()
    await runtime.client.stop_container(made, 5)
    assert await state_of(runtime, made) is ContainerState.EXITED
