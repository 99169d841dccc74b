"""What a node says of itself (k8s.io/api/core/v1/types.go, NodeStatus).

Whoever may write a node's status, which is its kubelet and whoever has taken that over, chooses
all of this, and the API server checks next to nothing of it. No text here has a bound: a node that
could make itself unreadable would keep its pods from being evicted by anything.
"""

from __future__ import annotations

from bailiff.kinds.meta import Int32, Time, Value


class NodeAddress(Value, frozen=True):
    """One way to reach a node.

    Attributes:
        type: `Hostname`, `InternalDNS`, `InternalIP`, `ExternalDNS` or `ExternalIP`.
        address: a name or an IP address.
    """

    type: str = ""
    address: str = ""


class DaemonEndpoint(Value, frozen=True, rename={"port": "Port"}):
    """Where a daemon of the node listens.

    Attributes:
        port: on all addresses of the node; 0 says nothing.
    """

    port: Int32 = 0


class NodeDaemonEndpoints(Value, frozen=True):
    """Where the daemons of a node listen.

    Attributes:
        kubelet_endpoint: the kubelet's server.
    """

    kubelet_endpoint: DaemonEndpoint = DaemonEndpoint()


class NodeCondition(Value, frozen=True):
    """One entry of a node's `status.conditions`.

    Attributes:
        type: which condition, as `MemoryPressure` or `Ready`.
        status: `True`, `False` or `Unknown`.
        last_heartbeat_time: when it was last written.
        last_transition_time: when `status` changed.
        reason: why, for programs.
        message: why, for people.
    """

    type: str = ""
    status: str = ""
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class NodeSystemInfo(Value, frozen=True):
    """What runs on a node.

    Attributes:
        kubelet_version: of the kubelet, as `v1.36.2`.
        operating_system: `linux` or `windows`.
    """

    kubelet_version: str = ""
    operating_system: str = ""


class NodeStatus(Value, frozen=True):
    """What a node says of itself.

    Attributes:
        conditions: `MemoryPressure`, `DiskPressure`, `PIDPressure`, `Ready` and others.
        addresses: how it is reached.
        daemon_endpoints: where its kubelet listens.
        node_info: what runs there.
    """

    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    daemon_endpoints: NodeDaemonEndpoints = NodeDaemonEndpoints()
    node_info: NodeSystemInfo = NodeSystemInfo()
