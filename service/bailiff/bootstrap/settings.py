"""What the command line says of a worker; its help tells what the fields mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bailiff.bootstrap.access import AccessChoice
from bailiff.bootstrap.choices import CLOCK_SKEW_LIMIT, WORKER_PROBES, ProbeChoice
from bailiff.decisions import Options
from bailiff.file_watch import LOOK_EVERY
from bailiff.tracing.settings import OFF
from bailiff.worker import ElectionSettings, Shard

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.bootstrap.choices import ClusterChoice, NodeLossChoice, PressureChoice
    from bailiff.tracing.settings import TracingSettings


@dataclass(frozen=True)
class LeaseChoice:
    """The Leases by which workers agree who acts for which shard.

    Attributes:
        namespace: where they live; None is the pod's own in a cluster, else kube-system.
        name: the shard is appended.
        identity: the name to hold one by; None is the hostname with something random, so that no
            two processes ever have the same.
        times: how long one lasts.
    """

    namespace: str | None = None
    name: str = "bailiff-worker"
    identity: str | None = None
    times: ElectionSettings = field(default_factory=ElectionSettings)


@dataclass(frozen=True)
class WorkSettings:
    """A worker.

    Attributes:
        shards: the shards of the nodes that it may look after; of several it looks after the one
            whose Lease it holds.
        lease: acts only while it holds one of these; None acts always, for its only shard.
        policies: their file, which may change; None: all policies are off.
        policies_interval: seconds between two looks at it. No option: the kubelet takes longer to
            bring a change.
        clock_skew_limit: seconds by which this machine's clock may be wrong, by the API server's,
            before the worker says that it is not ready. It goes by the API server's clock anyway.
        pressure: the pressure mode; None: nodes are not watched for pressure.
        node_loss: the node-loss mode; None: nobody is evicted because the node does not come back.
        tracing: where traces go.

    Raises:
        ValueError: several shards, and no Lease to tell which.
    """

    cluster: ClusterChoice
    host: str = "127.0.0.1"
    status_port: int = 8081
    probes: ProbeChoice = WORKER_PROBES
    shards: tuple[Shard, ...] = (Shard(),)
    lease: LeaseChoice | None = None
    dry_run: bool = False
    shadow: bool = False
    audit_log: Path | None = None
    policies: Path | None = None
    policies_interval: float = LOOK_EVERY
    concurrency: int = 20
    clock_skew_limit: float = CLOCK_SKEW_LIMIT
    options: Options = field(default_factory=Options)
    pressure: PressureChoice | None = None
    node_loss: NodeLossChoice | None = None
    access: AccessChoice = field(default_factory=AccessChoice)
    tracing: TracingSettings = OFF

    def __post_init__(self) -> None:
        if len(self.shards) > 1 and (self.lease is None or self.shadow):
            raise ValueError(f"without a Lease nobody tells which of {len(self.shards)} shards")
