"""How the client talks to the API server: every bound in one place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """Bounds of requests and watches.

    Attributes:
        request_timeout: seconds for one request from connect to last byte. 10: the API server
            answers in milliseconds, and a caller that holds a Lease cannot wait longer.
        list_timeout: seconds for one page of a list, and for a watch to be accepted. 60: the
            API server's own --request-timeout; a cold watch cache needs that long.
        login_timeout: seconds for an exec plugin, or a token refresh, to give credentials.
            30: cloud logins take a few seconds; a prompt nobody answers must not hang us.
        page_size: objects to a page of a list at most, 1 and up. 500: client-go's.
        max_list_restarts: how often a list starts over because its continue token expired.
            3: etcd compacts every 5 minutes, so a list that loses four times never ends.
        max_response_bytes: a longer response is refused, and of a list fewer objects are asked
            for. 64 MiB: a page of 500 of etcd's largest usual objects, and several times the JSON
            of the largest that it takes; what exceeds it would be memory we do not have.
        max_event_bytes: a longer line of a watch is refused. 16 MiB: etcd takes 1.5 MiB an
            object, JSON may be several times that.
        max_requests: requests under way at once, 1 and up; more wait for their turn. 64: more
            than the worker's usual concurrency. A worker sets it by its own.
        max_watches: connections for watches beside those, 1 and up. 32: a worker has 8 at most.
        compression: ask for gzip. False: in a cluster's network the CPU costs more.
        watch_initial_events: begin a watch with its objects (sendInitialEvents) where the
            server does that. True: it spares the server's memory; else pages of a list.
        watch_initial_timeout: seconds for those objects to come. 300: 150,000 pods take well
            under one minute; an old server that ignores the wish never finishes.
        watch_timeout_min: shortest life of a watch, seconds; the server ends it then, which
            spreads watches over API servers again. 300: client-go's.
        watch_timeout_max: the longest; each watch takes a random one between. 600: client-go's.
        watch_idle_timeout: seconds without a byte until a watch counts as dead and is opened
            again. 90: where anything changes the server sends a bookmark every minute; a
            half-open connection sends nothing for ever; where nothing changes it costs two
            small requests.
        backoff_min: first wait after a failed watch, seconds; doubles and is jittered up to
            twice its size. 0.8: client-go's.
        backoff_max: longest wait before jitter, seconds. 30: client-go's.
        backoff_reset: seconds without failure after which waits start small again. 120:
            client-go's.
    """

    request_timeout: float = 10.0
    list_timeout: float = 60.0
    login_timeout: float = 30.0
    page_size: int = 500
    max_list_restarts: int = 3
    max_response_bytes: int = 64 * 2**20
    max_event_bytes: int = 16 * 2**20
    max_requests: int = 64
    max_watches: int = 32
    compression: bool = False
    watch_initial_events: bool = True
    watch_initial_timeout: float = 300.0
    watch_timeout_min: float = 300.0
    watch_timeout_max: float = 600.0
    watch_idle_timeout: float = 90.0
    backoff_min: float = 0.8
    backoff_max: float = 30.0
    backoff_reset: float = 120.0

    @property
    def max_connections(self) -> int:
        """TCP connections open at once: no request that has its turn waits for one."""
        return self.max_requests + self.max_watches
