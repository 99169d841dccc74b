"""The switch that pauses evictions, for commands that end at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from bailiff.bootstrap.once import use_cluster
from bailiff.clock import SystemClock
from bailiff.worker import PauseSwitch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Cluster
    from bailiff.decisions.policies import Pause

T = TypeVar("T")


def use_switch(
    choice: ClusterChoice, place: Pause, act: Callable[[PauseSwitch], Awaitable[T]]
) -> T:
    """Do something to the switch of a cluster, and give back what it answers; see use_cluster."""

    async def use(cluster: Cluster) -> T:
        return await act(PauseSwitch(cluster, SystemClock(), place.namespace, place.name))

    return use_cluster(choice, use)
