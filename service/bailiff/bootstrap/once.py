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
    from collections.abc import Awaitable, Callable

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster

T = TypeVar("T")

# The client gives up earlier on each request; this bounds all of them together. Seconds.
_TIMEOUT = 60.0


def use_cluster(choice: ClusterChoice, act: Callable[[Cluster], Awaitable[T]]) -> T:
    """Connect to a cluster, do something with it, and give back what came of it.

    A choice that names no cluster is the usual kubeconfig's.

    Raises:
        ClusterUnusable: no usable configuration or login, or nobody answers within a minute.
        StartError: the API server refuses; the message says why.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_use(choice, act))


def _warn(danger: str) -> None:
    """As the command line's own warnings; a command that ends at once writes no log."""
    sys.stderr.write(f"Warning: {danger}\n")


async def _use(choice: ClusterChoice, act: Callable[[Cluster], Awaitable[T]]) -> T:
    try:
        async with asyncio.timeout(_TIMEOUT), await connect_to(choice, warn=_warn) as cluster:
            return await act(cluster)
    except (UnreachableError, RequestTimeoutError, UnauthorizedError) as error:
        raise ClusterUnusable(str(error)) from error
    except ClusterError as error:
        raise StartError(str(error)) from error
    except TimeoutError as error:
        raise ClusterUnusable(f"not done within {_TIMEOUT:.0f} s") from error
