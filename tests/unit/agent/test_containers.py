"""What the runtime has said of containers, and for how long that counts."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, cast

from bailiff.agent.containers import Containers
from bailiff.agent.log import Log
from bailiff.agent.readings.pods import Layer
from bailiff.agent.runtime import RuntimeFailedError
from bailiff.decisions.pressure.garbage import ContainerState, RuntimeContainer
from tests.harness.agent_scene import pod

if TYPE_CHECKING:
    from bailiff.agent.runtime import Runtime


class MadeUpRuntime:
    """One pod with a container that runs, and one that has ended."""

    def __init__(self) -> None:
        self.fails = False
        self.refuses: set[str] = set()
        self.stopped: list[str] = []

    async def listed(self) -> list[RuntimeContainer]:
        if self.fails:
            raise RuntimeFailedError("no connection")
        states = {"runs": ContainerState.RUNNING, "ended": ContainerState.EXITED}
        return [
            RuntimeContainer(
                id=name,
                name=name,
                pod_uid="uid-hog",
                sandbox_id="s",
                state=state,
                created_at=1,
                image_id="i",
            )
            for name, state in states.items()
        ]

    async def layers(self) -> dict[str, Layer]:
        return {"runs": Layer(7, 1)}

    async def stop_container(self, container: str, grace_period_seconds: int) -> None:
        if container in self.refuses:
            raise RuntimeFailedError("no")
        self.stopped.append(container)


def containers_of(runtime: MadeUpRuntime) -> Containers:
    return Containers(cast("Runtime", runtime), Log(io.StringIO()))


async def test_what_was_said_counts_until_it_is_not_said_twice_in_a_row():
    runtime = MadeUpRuntime()
    containers = containers_of(runtime)
    await containers.refresh()
    runtime.fails = True
    await containers.refresh()
    assert containers.of("uid-hog") == {"runs": "runs"}
    assert "runs" in containers.layers
    await containers.refresh()
    assert (containers.of("uid-hog"), containers.layers) == ({}, {})


async def test_an_answer_between_begins_anew():
    runtime = MadeUpRuntime()
    containers = containers_of(runtime)
    for runtime.fails in (False, True, False, True):
        await containers.refresh()
    assert containers.of("uid-hog") == {"runs": "runs"}


async def test_who_runs_is_stopped_and_nobody_else():
    runtime = MadeUpRuntime()
    assert await containers_of(runtime).stop(pod("hog"), 1)
    assert runtime.stopped == ["runs"]
    assert await containers_of(runtime).stop(pod("calm"), 1) is None
    runtime.refuses = {"runs"}
    assert await containers_of(runtime).stop(pod("hog"), 1) is False
