"""Probes of a process on a port of their own, from its first moment to its last."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import structlog

from bailiff.bootstrap.process import listen
from bailiff.serving import HealthPort, Pulse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bailiff.bootstrap.choices import ProbeChoice

log = structlog.get_logger(__name__)


@contextlib.asynccontextmanager
async def probed(choice: ProbeChoice, host: str) -> AsyncIterator[Pulse]:
    """Let the main loop be probed meanwhile; until its pulse is told how to judge it is not ready.

    What fails there ends the process.

    Raises:
        StartError: the address cannot be listened on.
    """
    pulse = Pulse(choice.stuck_after)
    health = HealthPort(pulse, host, choice.port)
    port = await listen(health.start(), host, choice.port)
    log.info("probes are answered", health=f"http://{host}:{port}")
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(one, name=name)
                for name, one in (("pulse", pulse.run()), ("health port", health.wait()))
            ]
            try:
                yield pulse
            finally:
                for task in tasks:
                    task.cancel()
    finally:
        await health.stop()
