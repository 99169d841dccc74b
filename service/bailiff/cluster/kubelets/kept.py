"""Connections to kubelets that are kept from one round to the next.

One for each node. An answer of 400 kB takes, besides its decoding (0.6 ms), 0.4 ms of CPU over a
connection that was kept, 1.3 ms over a new one (P-256 certificates), and 1.05 ms over a new one
whose TLS session is resumed. So 5,000 nodes every 10 s take half of a core with kept ones, and all
of it with new ones. A kept one takes 40 KiB here and one file descriptor, and next to nothing on
the node. A kubelet closes it after 90 s without a request (IdleTimeout in
pkg/kubelet/server/server.go); we do so sooner, so that nobody is asked over one that is just being
closed.

Where there are more nodes than may be kept, those that were used longest ago go.
"""

from __future__ import annotations

import resource
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.clock import Clock
    from bailiff.cluster.kubelets.connection import Connection
    from bailiff.cluster.kubelets.endpoints import Endpoint

# Seconds without a request; less than the kubelet's 90.
_IDLE = 75.0


class Kept:
    """Idle connections, by where they lead to."""

    def __init__(self, clock: Clock, most: int) -> None:
        """Keep nothing yet.

        Args:
            clock: how long they have been idle.
            most: connections; of the file descriptors that this process may have half at most.
        """
        self._clock = clock
        self._most = min(most, _descriptors() // 2)
        # The one that was put here last stands at the end.
        self._idle: OrderedDict[Endpoint, tuple[float, Connection]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, endpoint: Endpoint) -> Connection | None:
        """One that seems to be alive; it is the caller's from now on."""
        _, connection = self._idle.pop(endpoint, (0.0, None))
        if connection is not None and not connection.is_quiet():
            connection.close()
            return None
        return connection

    def put(self, endpoint: Endpoint, connection: Connection) -> None:
        """Keep one; others that have been idle for long are closed."""
        now = self._clock.monotonic()
        self._close(self._idle.pop(endpoint, None))
        self._idle[endpoint] = (now, connection)
        while self._idle and (len(self._idle) > self._most or self._oldest() <= now - _IDLE):
            self._close(self._idle.popitem(last=False)[1])

    def clear(self) -> None:
        """Close all."""
        while self._idle:
            self._close(self._idle.popitem()[1])

    def _oldest(self) -> float:
        return next(iter(self._idle.values()))[0]

    def _close(self, kept: tuple[float, Connection] | None) -> None:
        if kept is not None:
            kept[1].close()


def _descriptors() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**20 if soft == resource.RLIM_INFINITY else soft
