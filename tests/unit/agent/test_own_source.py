"""What is measured of pods on the node itself, and when it is too little to go by."""

from __future__ import annotations

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from bailiff.agent.own_source import OwnSource
from bailiff.agent.reading import ReadingError
from bailiff.kinds import Annotations, Pod
from tests.harness.agent_scene import pod
from tests.harness.clocks import LoopClock
from tests.unit.agent.readings.hosts import STATIC_UID, UID, full_host, readings_of


def static(name: str) -> Pod:
    """What shows a static pod in the API, where it has a UID of its own."""
    shown = pod(name)
    annotations = Annotations(config_mirror=STATIC_UID)
    return replace(shown, metadata=replace(shown.metadata, annotations=annotations))


MEASURED, UNSEEN = pod("measured", uid=UID), pod("unseen")


async def read(folder: Path, *pods: Pod) -> list[str]:
    """UIDs of those of which something is measured; the host has a cgroup of `MEASURED`."""
    readings = readings_of(full_host(folder))
    reading = await OwnSource(readings, None, LoopClock()).read(pods)
    return [one.pod_ref.uid for one in reading.pods()]


async def test_where_nothing_is_measured_of_any_pod_that_runs_there_is_no_reading(tmp_path):
    """Without numbers all would go, the first of them first."""
    with pytest.raises(ReadingError, match="nothing is measured of any pod that runs"):
        await read(tmp_path, UNSEEN)


@pytest.mark.parametrize(
    "pods",
    [(), (MEASURED,), (MEASURED, UNSEEN), (static("etcd"),)],
    ids=["no pod", "one that is measured", "another that is not", "a static one"],
)
async def test_else_there_is_one(tmp_path, pods):
    assert await read(tmp_path, *pods) == [UID]


async def test_one_thread_measures_at_a_time_though_nobody_waits_for_it_any_more(
    tmp_path, monkeypatch
):
    readings = readings_of(full_host(tmp_path))
    let_go, beside, running = threading.Event(), [], 0

    def measure(*_):
        nonlocal running
        running += 1
        beside.append(running)
        let_go.wait(10)
        running -= 1

    monkeypatch.setattr(readings, "measure_volumes", measure)
    source = OwnSource(readings, None, LoopClock())
    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await source.read_anew((MEASURED,))
    let_go.set()
    async with asyncio.timeout(10):
        await source.read_anew((MEASURED,))
    # Those that nobody waits for any more were not begun.
    assert beside == [1, 1]


async def test_what_was_measured_of_volumes_is_known_when_images_are_found_elsewhere(tmp_path):
    host = full_host(tmp_path)
    host.write(f"var/lib/kubelet/pods/{UID}/volumes/kubernetes.io~empty-dir/files/file", "x")
    source = OwnSource(readings_of(host), None, LoopClock())
    await source.read_anew((MEASURED,))
    source.measure_by(readings_of(host, image_dir="/var/lib/kubelet"))
    ((pod,)) = (await source.read((MEASURED,))).pods()
    assert [one.name for one in pod.volume] == ["files"]


async def test_what_is_measured_after_a_clock_was_put_back_is_new(tmp_path):
    clock = LoopClock()
    source = OwnSource(readings_of(full_host(tmp_path)), None, clock)
    before = (await source.read(())).node.memory
    clock.step = timedelta(hours=-1)
    await asyncio.sleep(0.01)
    after = (await source.read(())).node.memory
    assert before is not None
    assert after is not None
    assert before.time is not None
    assert after.time is not None
    assert after.time > before.time
