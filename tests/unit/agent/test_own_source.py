"""What is measured of pods on the node itself, and when it is too little to go by."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from bailiff.agent.log import Log
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
    reading = await OwnSource(readings, None, LoopClock(), Log(text=True)).read(pods)
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
