"""What an operator may set."""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiff.decisions import Options
from bailiff.worker.lead.sharding import Shard


@dataclass(frozen=True)
class WorkerSettings:
    """Settings of the worker.

    Attributes:
        options: of the decisions; the defaults are Kubernetes'.
        persist_observations: write down on a node when its taints without timeAdded were first
            seen, so that a restart does not give their pods their whole time again. Needs patch
            on nodes. On: kubectl taint writes no timeAdded.
        shards: the shards of the nodes that this worker may look after. One: it does, from the
            start. Several: it looks after the one whose Lease it holds, see HeldShard.
        concurrency: evictions at a time. 20 keep a 2-core API server busy; more only make the
            first ones slower, which is what kube-controller-manager does in a storm.
        attempt_timeout: seconds one attempt may take, its requests together: mostly two, and up
            to four with a look at the node and a question to admission. Three times the client's
            request timeout: one request that hangs ends by that, two do too.
        resync_interval: seconds between two evaluations of everything. A safety net: nothing is
            known to need it, and 5 minutes bound the harm if something does.
        stale_after: seconds that a watch may be in trouble before /readyz fails. 200: a connection
            that died without a word is found after 90 s, and that time counts.
        shutdown_grace: seconds from the wish to stop to the end: three quarters for running
            evictions and waiting writes, the rest for the release of the Lease. Below the 30 s
            that Kubernetes gives a pod.
        on_paper: nothing is evicted, whatever is done; attempts are counted apart.
    """

    options: Options = field(default_factory=lambda: Options(explain=False))
    persist_observations: bool = True
    shards: tuple[Shard, ...] = (Shard(),)
    concurrency: int = 20
    attempt_timeout: float = 30.0
    resync_interval: float = 300.0
    stale_after: float = 200.0
    shutdown_grace: float = 20.0
    on_paper: bool = False
