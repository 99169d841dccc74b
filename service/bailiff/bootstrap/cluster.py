"""Which cluster, if any: chosen by the user, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bailiff.cluster import Cluster, ClusterError, ClusterSettings, connect

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bailiff.cluster import Observer


# Requests that may be under way beside evictions: lists and watches being opened, annotations of
# nodes, statuses of rules, Events. A worker has some 16 of them at most.
_OTHER_REQUESTS = 20


class ClusterUnusable(Exception):  # noqa: N818 - a state of the world, not a fault of the program
    """The chosen cluster cannot be used; the message says why."""


@dataclass(frozen=True)
class ClusterChoice:
    """A cluster, or none.

    Attributes:
        kubeconfig: a kubeconfig file.
        context: a context of it; None is its current one.
        in_cluster: the service account of the pod this runs in.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    in_cluster: bool = False

    @property
    def chosen(self) -> bool:
        """Whether there is one."""
        return self.kubeconfig is not None or self.in_cluster


def bounds_for(concurrency: int) -> ClusterSettings:
    """The client's bounds for a worker with so many evictions at a time.

    Each has one request under way at most, so that none of them waits for a connection.
    """
    return ClusterSettings(max_requests=concurrency + _OTHER_REQUESTS)


async def connect_to(
    choice: ClusterChoice,
    settings: ClusterSettings | None = None,
    observers: Sequence[Observer] = (),
) -> Cluster:
    """Connect; `settings` and `observers` as in bailiff.cluster.connect.

    Raises:
        ClusterUnusable: no usable configuration or login.
    """
    try:
        return await connect(
            kubeconfig=choice.kubeconfig,
            context=choice.context,
            in_cluster=choice.in_cluster,
            settings=settings,
            observers=observers,
        )
    except ClusterError as error:
        raise ClusterUnusable(str(error)) from error
