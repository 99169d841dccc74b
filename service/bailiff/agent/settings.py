"""What an operator may set of an agent; the command line hands it over as JSON."""

from __future__ import annotations

import math
import re
from pathlib import Path

from msgspec import Struct

from bailiff.agent.readings.places import Places
from bailiff.decisions.pressure.extensions import (
    NO_EXTENSIONS,
    MemoryInUse,
    PressureExtensions,
)
from bailiff.decisions.pressure.facts import FileSystemLayout
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.tracing.settings import OFF, TracingSettings

# Seconds: `/healthz` fails after a quarter of an hour without a round.
_LONGEST_INTERVAL = 600.0
# Seconds: a day is as good as never.
_LONGEST_STALE = 86400.0
# A DNS subdomain, as the API server demands of names of nodes.
_NODE = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9.]*[a-z0-9])?")


class OptionError(ValueError):
    """An option names something that is not there, which is seen when it is looked for."""


class KubeletAccess(Struct, frozen=True, kw_only=True):
    """How the kubelet of this node is asked.

    Attributes:
        url: as `https://127.0.0.1:10250`.
        ca_file: certificates in PEM that vouch for it; empty: the cluster's.
        server_name: to look for in its certificate; empty: the node's name.
        insecure: take whatever certificate it shows; the cluster's token is not shown then.
        token_file: a token for the kubelet alone; empty: the agent's own login.
        certificate_file: a client certificate for the kubelet; empty: none.
        key_file: its private key.
    """

    url: str = "https://127.0.0.1:10250"
    ca_file: str = ""
    server_name: str = ""
    insecure: bool = False
    token_file: str = ""
    certificate_file: str = ""
    key_file: str = ""


class ClusterAccess(Struct, frozen=True, kw_only=True):
    """Where the API server is, and who the agent is there.

    Attributes:
        in_cluster: by the service account of the pod.
        kubeconfig: the file; empty: none, and nothing is known of an API server.
        context: of the kubeconfig; empty: its current one.
    """

    in_cluster: bool = False
    kubeconfig: str = ""
    context: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is an API server at all."""
        return self.in_cluster or bool(self.kubeconfig)


class NoticeSettings(Struct, frozen=True, kw_only=True):
    """How the kernel tells of memory before the next round is due.

    Attributes:
        wanted: be told at all.
        stall_milliseconds: of PSI: so long in a window of a second tasks have to wait for memory;
            0: no PSI.
        high_mark: with cgroup v2, set `memory.high` of the pods' cgroup for a wire that is tripped
            at the mark, and taken down as soon as it has been.
    """

    wanted: bool = True
    stall_milliseconds: int = 150
    high_mark: bool = False


class AgentSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it.

    Attributes:
        node: the name of the node.
        cluster: the API server.
        kubelet: the kubelet of the node; None: there is none, or it is not asked.
        own_readings: measure memory and processes here, whatever the kubelet says of them; without
            a kubelet everything is measured here.
        active_page_cache: page cache that was read twice lately counts as in use, as for a kubelet;
            None: in a shadow alone, which is to decide as the kubelet.
        host: where.
        pods_from_kubelet: which pods there are is asked of the kubelet, not of the API server.
        configuration: thresholds; None: those of the kubelet, else the kubelet's defaults.
        extensions: what no kubelet does.
        layout: of the file systems; None: as found on the node, else by the summary.
        interval: seconds from round to round, from 1 to 600.
        stale_after: seconds, from 1 to 86,400, without anything newly measured of memory, or of a
            disk, after which nobody is evicted for it.
        notices: of the kernel.
        runtime: the socket of the container runtime; empty: nothing is freed on the node first.
        stops_containers: where the API server is away and the threshold is hard, stop the pod's
            containers, and tell the API server afterwards.
        state_file: what a restart has to know; empty: nothing is kept.
        publishes: write MemoryPressure, DiskPressure and PIDPressure into the node's status.
        keeps_pods: write the status alone, and leave deletion to pod garbage collection.
        dry_run: have the API server check every write and keep none; free and stop nothing.
        shadow: decide, write nothing, and compare with what the node's kubelet does.
        status_host: of the status port.
        status_port: of the status port; 0: any free.
    """

    node: str
    cluster: ClusterAccess = ClusterAccess()
    kubelet: KubeletAccess | None = None
    own_readings: bool = True
    active_page_cache: bool | None = None
    host: Places = Places()
    pods_from_kubelet: bool = False
    configuration: KubeletConfiguration | None = None
    extensions: PressureExtensions = NO_EXTENSIONS
    layout: FileSystemLayout | None = None
    interval: float = 10.0
    stale_after: float = 120.0
    notices: NoticeSettings = NoticeSettings()
    runtime: str = ""
    stops_containers: bool = False
    state_file: str = ""
    publishes: bool = False
    keeps_pods: bool = False
    dry_run: bool = False
    shadow: bool = False
    status_host: str = "127.0.0.1"
    status_port: int = 8084
    tracing: TracingSettings = OFF

    def __post_init__(self) -> None:
        # It becomes part of a field selector, where an empty one means pods that have no node.
        if not _NODE.fullmatch(self.node):
            raise ValueError(f"--node: must be the name of a node, got {self.node[:64]!r}")
        if self.runtime and not self.runtime.removeprefix("unix://").startswith("/"):
            why = "must be the path of a unix socket, from / on"
            raise ValueError(f"--runtime: {why}, got {self.runtime[:64]!r}")
        if self.state_file and not Path(self.state_file).name:
            raise ValueError(f"--state-file: must be a file, got {self.state_file[:64]!r}")
        for name, most in (("interval", _LONGEST_INTERVAL), ("stale_after", _LONGEST_STALE)):
            value = getattr(self, name)
            if not math.isfinite(value) or not 1.0 <= value <= most:
                option = f"--pressure-{name.replace('_', '-')}"
                raise ValueError(f"{option}: must be from 1 s to {most:g} s")
        self._check_sources()

    def _check_sources(self) -> None:
        if self.pods_from_kubelet and self.kubelet is None:
            raise ValueError("pods are to be asked of the kubelet, and there is none")
        if self.kubelet is None and not self.own_readings:
            raise ValueError("there is neither a kubelet to ask nor own readings")
        asked = self.extensions.memory_in_use is MemoryInUse.MEM_AVAILABLE
        if asked and (self.host.cgroup or not self.own_readings):
            why = "the kernel says MemAvailable of the whole machine, to own readings alone"
            raise ValueError(f"memoryInUse: must be WorkingSet or RSS: {why}")

    @property
    def counts_active_cache(self) -> bool:
        """Whether page cache that was read twice lately counts as in use."""
        return self.shadow if self.active_page_cache is None else self.active_page_cache

    @property
    def on_paper(self) -> bool:
        """Nothing is done to pods, images and containers."""
        return self.dry_run or self.shadow
