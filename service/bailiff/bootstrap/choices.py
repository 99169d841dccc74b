"""What is said of a process before it starts; light, so that `--help` loads nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

Program = Callable[["asyncio.Event"], Awaitable[None]]

# Far above what an NTP client leaves as it is (ntpd steps a clock at 0.128 s): a clock that is
# wrong by more is corrected by nobody.
CLOCK_SKEW_LIMIT = 5.0

# Seconds without a round of the main loop after which a restart is better; far more than any step
# takes.
STUCK_AFTER = 10.0
# Ports of probes, so that an API and a worker find room on one machine.
API_HEALTH_PORT, WORKER_HEALTH_PORT = 8082, 8083
# What is done to pods on their way into the API server: the names of `Mutation`.
MUTATIONS = (
    "default-toleration-seconds",
    "extended-resource-toleration",
    "daemonset-tolerations",
)


class StartError(Exception):
    """The program could not start, or could not go on; the message says why."""


class ClusterUnusable(Exception):  # noqa: N818 - a state of the world, not a fault of the program
    """The chosen cluster cannot be used; the message says why."""


@dataclass(frozen=True)
class ProbeChoice:
    """Where probes are answered, and when a process counts as dead.

    Attributes:
        port: TCP port of /healthz and /readyz; 0 takes a free one.
        stuck_after: seconds for which the main loop may not come round before /healthz fails.
    """

    port: int
    stuck_after: float = STUCK_AFTER


API_PROBES, WORKER_PROBES = ProbeChoice(API_HEALTH_PORT), ProbeChoice(WORKER_HEALTH_PORT)


@dataclass(frozen=True, kw_only=True)
class PressureChoice:
    """The worker's pressure mode; the help of its options tells what the fields mean.

    Attributes:
        selector: labels of the nodes; none: all nodes.
        config: the file with the thresholds of all of them; None: each kubelet's own.
        extensions: the file with what no kubelet does; None: nothing.
        interval: in seconds.
        stale_after: in seconds.
        layout: `single`, `dedicated` or `split`; empty: it is derived.
        via_api_server: `never`, `where-unreachable` or `always`.
    """

    selector: tuple[tuple[str, str], ...] = ()
    config: Path | None = None
    extensions: Path | None = None
    interval: float = 10.0
    stale_after: float = 120.0
    layout: str = ""
    keeps_pods: bool = False
    hard_overrides_policies: bool = False
    publishes: bool = True
    via_api_server: str = "never"
    ca_file: Path | None = None
    insecure: bool = False
    token_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None


@dataclass(frozen=True, kw_only=True)
class NodeLossChoice:
    """The worker's node-loss mode; the help of its options tells what the fields mean.

    Attributes:
        settings: those of `NodeLossSettings` that are said, by their names.
        fence: the file by which machines are asked whether they are off; None: none is.
        taints_fenced: put the taint out-of-service on nodes whose machine is off.
        marks_not_ready: set the condition Ready of pods on lost nodes to False.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    fence: Path | None = None
    taints_fenced: bool = False
    marks_not_ready: bool = True


@dataclass(frozen=True, kw_only=True)
class AdmissionChoice:
    """The hooks of admission webhooks; the help of their options tells what the fields mean.

    Attributes:
        port: of their own, 0 takes a free one; None: they are on the REST port.
        client_ca_file: certificates, in PEM, that vouch for who calls on that port.
        mutations: of pods, by name.
        not_ready_seconds: of the default toleration.
        unreachable_seconds: likewise.
        exempt_users: names of accounts.
        exempt_namespaces: names.
        policies: their file, which may change; None: all policies are off.
        gate_delete_users: names of accounts whose deletes of pods go through the gate.
    """

    port: int | None = None
    client_ca_file: Path | None = None
    mutations: tuple[str, ...] = MUTATIONS
    not_ready_seconds: int = 300
    unreachable_seconds: int = 300
    exempt_users: tuple[str, ...] = ()
    exempt_namespaces: tuple[str, ...] = ()
    policies: Path | None = None
    gate_delete_users: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterChoice:
    """A cluster, or none.

    Attributes:
        kubeconfig: a kubeconfig file; None is the usual one, for who says so, and else none.
        context: a context of it; None is its current one.
        in_cluster: the service account of the pod this runs in.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    in_cluster: bool = False

    @property
    def chosen(self) -> bool:
        """Whether the user names one."""
        return self.kubeconfig is not None or self.in_cluster
