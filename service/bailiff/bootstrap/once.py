"""A cluster for a command that asks or does one thing, and ends."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, TypeVar

import uvloop

from bailiff.bootstrap.choices import ClusterUnusable, StartError
from bailiff.bootstrap.cluster import connect_to
from bailiff.cluster import ClusterError, RequestTimeoutError, UnauthorizedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster
    from bailiff.cluster.exchanges import Observer

T = TypeVar("T")

# The client gives up earlier on each request; this bounds all of them together. Seconds.
_TIMEOUT = 60.0


def use_cluster(
    choice: ClusterChoice,
    act: Callable[[Cluster], Awaitable[T]],
    observers: Sequence[Observer] = (),
    within: float = _TIMEOUT,
) -> T:
    """Connect to a cluster, do something with it, and give back what came of it.

    Args:
        choice: of the cluster; one that names none is the usual kubeconfig's.
        act: what is done.
        observers: as in bailiff.cluster.connect.
        within: seconds for all together.

    Raises:
        ClusterUnusable: no usable configuration or login, or it takes longer.
        StartError: the API server refuses; the message says why.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_use(choice, act, observers, within))


def _warn(danger: str) -> None:
    """As the command line's own warnings; a command that ends at once writes no log."""
    sys.stderr.write(f"Warning: {danger}\n")


async def _use(
    choice: ClusterChoice,
    act: Callable[[Cluster], Awaitable[T]],
    observers: Sequence[Observer],
    within: float,
) -> T:
    try:
        async with asyncio.timeout(within):
            async with await connect_to(choice, observers=observers, warn=_warn) as cluster:
                return await act(cluster)
    except (UnreachableError, RequestTimeoutError, UnauthorizedError) as error:
        raise ClusterUnusable(str(error)) from error
    except ClusterError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise ClusterUnusable(f"not done within {within:.0f} s") from error
