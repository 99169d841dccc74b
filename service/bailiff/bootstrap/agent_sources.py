"""Who measures an agent's node, and what is to run for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from bailiff.agent.aging import Aging
from bailiff.agent.cri.client import CriRuntime
from bailiff.agent.own_source import FresherMemory, OwnSource
from bailiff.agent.readings.summary import NodeReadings
from bailiff.agent.runtime import RuntimeFailedError

if TYPE_CHECKING:
    from bailiff.agent.containers import Containers
    from bailiff.agent.kubelet import Kubelet
    from bailiff.agent.log import Log
    from bailiff.agent.readings.places import Places
    from bailiff.agent.settings import AgentSettings
    from bailiff.agent.standing import Standing
    from bailiff.clock import Clock

Program: TypeAlias = Callable[[], Coroutine[None, None, None]]

# Seconds until a runtime that does not answer is asked again where images lie.
_ASK_AGAIN = 5.0


class Sources(NamedTuple):
    """Who measures the node, and what is to run beside the rounds for that."""

    source: Aging
    beside: tuple[Program, ...]


def readings_of(settings: AgentSettings, host: Places) -> NodeReadings:
    """What is read of the node at these places."""
    counts = settings.counts_active_cache
    return NodeReadings(host, settings.node, active_cache_counts=counts)


def sources_of(
    settings: AgentSettings,
    readings: NodeReadings,
    kubelet: Kubelet | None,
    containers: Containers | None,
    standing: Standing,
    clock: Clock,
    log: Log,
) -> Sources:
    """The kubelet, the node itself, or both, as the settings say."""
    aged = partial(Aging, stale_after=settings.stale_after, standing=standing, clock=clock)
    if kubelet is not None and not settings.own_readings:
        return Sources(aged(kubelet), ())
    own = OwnSource(readings, containers, clock)
    if kubelet is None:
        if containers is None:
            log.info("writable layers are not measured", why="neither --runtime nor --kubelet")
        return Sources(aged(own), (own.run, partial(_find_images, settings, own, log)))
    fresher = FresherMemory(kubelet, own, standing, clock, log)
    return Sources(aged(fresher), (fresher.run,))


async def _find_images(settings: AgentSettings, own: OwnSource, log: Log) -> None:
    """Have the disk of images measured where the runtime says that they lie, once it does."""
    if not settings.runtime or settings.host.image_dir:
        return
    images, layers = await _where_images_lie(CriRuntime(settings.runtime))
    if images:
        host = replace(settings.host, image_dir=images, container_dir=layers)
        own.measure_by(readings_of(settings, host))
        log.info("images lie as the runtime says", images=images, layers=layers)


async def _where_images_lie(runtime: CriRuntime) -> tuple[str, str]:
    """That it does not answer is told by who looks at images."""
    while True:
        try:
            return await runtime.file_systems()
        except RuntimeFailedError:
            await asyncio.sleep(_ASK_AGAIN)
