"""The switch that pauses evictions, for commands that end at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import uvloop

from bailiff.bootstrap.cluster import ClusterUnusable, connect_to
from bailiff.bootstrap.process import StartError
from bailiff.clock import SystemClock
from bailiff.cluster import (
    ClusterError,
    RequestTimeoutError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.worker import PauseSwitch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.bootstrap.cluster import ClusterChoice
    from bailiff.decisions.policies import Pause

T = TypeVar("T")

# The client gives up earlier on each request; this bounds all tries together. Seconds.
_TIMEOUT = 60.0


def use_switch(
    choice: ClusterChoice, place: Pause, act: Callable[[PauseSwitch], Awaitable[T]]
) -> T:
    """Do something to the switch of a cluster, and give back what it answers.

    Raises:
        ClusterUnusable: no usable configuration or login, or nobody answers.
        StartError: the API server refuses; the message says why.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_use(choice, place, act))


async def _use(
    choice: ClusterChoice, place: Pause, act: Callable[[PauseSwitch], Awaitable[T]]
) -> T:
    try:
        async with asyncio.timeout(_TIMEOUT), await connect_to(choice) as cluster:
            return await act(PauseSwitch(cluster, SystemClock(), place.namespace, place.name))
    except (UnreachableError, RequestTimeoutError, UnauthorizedError) as error:
        raise ClusterUnusable(str(error)) from error
    except ClusterError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise ClusterUnusable(f"not done within {_TIMEOUT:.0f} s") from error
