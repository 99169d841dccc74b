"""Which cluster, if any: chosen by the user, never guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.bootstrap.choices import ClusterUnusable
from bailiff.cluster import Cluster, ClusterError, ClusterSettings, connect
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.cluster import Observer
    from bailiff.tracing import Tracer


# Requests that may be under way beside evictions: lists and watches being opened, annotations of
# nodes, statuses of rules, Events. A worker has some 16 of them at most.
_OTHER_REQUESTS = 20


def bounds_for(concurrency: int) -> ClusterSettings:
    """The client's bounds for a worker with so many evictions at a time.

    Each has one request under way at most, so that none of them waits for a connection.
    """
    return ClusterSettings(max_requests=concurrency + _OTHER_REQUESTS)


async def connect_to(
    choice: ClusterChoice,
    settings: ClusterSettings | None = None,
    observers: Sequence[Observer] = (),
    warn: Callable[[str], None] | None = None,
    tracer: Tracer = NO_TRACER,
) -> Cluster:
    """Connect; `settings`, `observers`, `warn` and `tracer` as in bailiff.cluster.connect.

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
            warn=warn,
            tracer=tracer,
        )
    except ClusterError as error:
        raise ClusterUnusable(str(error)) from error
