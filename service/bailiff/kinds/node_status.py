"""What a node says of itself (k8s.io/api/core/v1/types.go, NodeStatus).

Whoever may write a node's status, which is its kubelet and whoever has taken that over, chooses
all of this, and the API server checks next to nothing of it. No text here has a bound: a node that
could make itself unreadable would keep its pods from being evicted by anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from bailiff.kinds.meta import Int32, Time, Value
from bailiff.kinds.protobuf import NOT_IN_PROTOBUF
from bailiff.kinds.quantity import NANO, parse_quantity

# The resources of huge pages, one for each size (pkg/apis/core/v1/helper/helpers.go).
HUGE_PAGES = "hugepages-"


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
        capacity: how much it has of each resource, of which a worker reads huge pages. Protobuf's
            JSON has it in another form than kubectl, which would keep grpcurl from taking a node as
            kubectl prints it: so it is in no message.
        conditions: `MemoryPressure`, `DiskPressure`, `PIDPressure`, `Ready` and others.
        addresses: how it is reached.
        daemon_endpoints: where its kubelet listens.
        node_info: what runs there.
    """

    capacity: Annotated[Mapping[str, str], NOT_IN_PROTOBUF] = {}
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    daemon_endpoints: NodeDaemonEndpoints = NodeDaemonEndpoints()
    node_info: NodeSystemInfo = NodeSystemInfo()

    @property
    def huge_pages(self) -> int:
        """Bytes that are set aside for huge pages of all sizes (IsHugePageResourceName).

        What is no quantity counts as nothing, since nobody checks it.
        """
        found = (text for name, text in self.capacity.items() if name.startswith(HUGE_PAGES))
        return sum(_bytes(text) for text in found)


def _bytes(text: str) -> int:
    try:
        return max(0, parse_quantity(text).nano // NANO)
    except ValueError:
        return 0
