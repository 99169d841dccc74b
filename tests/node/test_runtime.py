"""The agent's calls to a real container runtime, and what becomes of them when that is not well."""

from __future__ import annotations

import time

import pytest

from bailiff.agent.cri.client import CriRuntime
from bailiff.agent.cri.errors import CriTimeoutError, CriUnreachableError
from bailiff.decisions.pressure.garbage import ContainerState
from tests.harness.held import held
from tests.harness.node_needs import needs, no_runtime
from tests.harness.node_runtime import NodeRuntime, node_runtime

pytestmark = needs(no_runtime())
IMAGE = "docker.io/local/app:1"


@pytest.fixture(scope="module")
def runtime():
    with node_runtime() as made:
        made.add_image(IMAGE)
        yield made


async def test_it_says_who_it_is_and_where_images_are(runtime: NodeRuntime):
    name, version = await runtime.client.version()
    assert name == "containerd"
    assert version
    images, layers = await runtime.client.file_systems()
    assert images.startswith(str(runtime.daemon.folder))
    assert layers == images


async def test_a_container_from_its_making_to_its_end(runtime: NodeRuntime):
    client = runtime.client
    pod = await runtime.add_pod("a", "uid-a")
    made = await pod.add_container("main", IMAGE)
    (running,) = [one for one in await client.containers() if one.id == made]
    (image,) = [one for one in await client.images() if IMAGE in one.tags]
    assert (running.name, running.pod_uid, running.sandbox_id) == ("main", "uid-a", pod.sandbox)
    assert (running.state, running.image_id) == (ContainerState.RUNNING, image.id)
    assert running.log_path.endswith("uid-a/main_0.log")
    assert made in await client.layers()
    await client.stop_container(made, 5)
    (ended,) = [one for one in await client.containers() if one.id == made]
    assert ended.state is ContainerState.EXITED
    await client.remove_container(made)
    await client.remove_sandbox(pod.sandbox)
    assert made not in [one.id for one in await client.containers()]
    assert pod.sandbox not in [one.id for one in await client.sandboxes()]


async def test_what_is_not_there_is_removed(runtime: NodeRuntime):
    await runtime.client.remove_container("0" * 64)
    await runtime.client.remove_sandbox("0" * 64)
    await runtime.client.remove_image("sha256:" + "0" * 64)


async def test_an_image_is_removed_by_its_id(runtime: NodeRuntime):
    runtime.add_image("docker.io/local/unused:1")
    (image,) = [one for one in await runtime.client.images() if "unused" in str(one.tags)]
    await runtime.client.remove_image(image.id)
    assert image.id not in [one.id for one in await runtime.client.images()]


async def test_one_that_hangs_is_given_up_in_time_and_asked_again_when_it_goes_on(
    runtime: NodeRuntime,
):
    client = CriRuntime(runtime.socket, to_answer=0.5)
    with held(runtime.daemon.pid):
        began = time.monotonic()
        with pytest.raises(CriTimeoutError, match=r"ListImages: no answer within 0.5 s"):
            await client.images()
        assert time.monotonic() - began < 5
    assert await runtime.client.images()


async def test_one_that_is_stopped_is_unreachable_and_serves_again_when_it_is_back(
    runtime: NodeRuntime,
):
    runtime.daemon.end()
    try:
        with pytest.raises(CriUnreachableError, match="Version: "):
            await runtime.client.version()
    finally:
        runtime.daemon.begin()
    assert await runtime.client.images()
