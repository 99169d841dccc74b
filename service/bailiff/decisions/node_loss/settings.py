"""What an operator may set of the loss of nodes; the defaults are upstream's where it has one."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from bailiff.kinds.meta import Value

Seconds = Annotated[float, Meta(ge=0, le=365 * 24 * 3600.0)]
Rate = Annotated[float, Meta(ge=0, le=10_000.0)]


class LostReason(StrEnum):
    """What stands in `status.reason` of the pods of a lost node.

    NODE_LOST: as the code of Kubernetes has it. NODE_UNREACHABLE: as its documents have it.
    """

    NODE_LOST = "NodeLost"
    NODE_UNREACHABLE = "NodeUnreachable"


class LostZone(StrEnum):
    """What is done where no node of a zone is ready, while other zones have nodes that are.

    STOP: nobody is evicted there, since that is rather a network that is cut than so many machines.
    NORMAL: as upstream, at the usual rate.
    """

    STOP = "Stop"
    NORMAL = "Normal"


class NodeLossSettings(Value, frozen=True, forbid_unknown_fields=True):
    """How the loss of nodes is judged.

    Attributes:
        after: seconds for which a node is not ready, or silent, before its pods go. 300: upstream's
            pod eviction timeout, and the default of tolerationSeconds.
        silent_after: seconds without a sign of life after which a node is silent. 50: upstream's
            node monitor grace period.
        rate: nodes a second of which the pods begin to go, in each zone; 0: none. 0.1: upstream's.
        reduced_rate: the same where a zone is partially disrupted and large. 0.01: upstream's.
        large_zone: a zone of more nodes is large; smaller ones stop where they are partially
            disrupted. 50: upstream's.
        unhealthy_fraction: of the nodes of a zone, from which on it is partially disrupted, if more
            than two are not ready. 0.55: upstream's.
        lost_zone: what is done in a zone of which no node is ready.
        reason: for the status of pods.
        beside_taints: pods go by this, too, where taints evict from the node already.
        forces: pods that nothing else releases are deleted at once where the machine is proven off.
    """

    after: Seconds = 300.0
    silent_after: Annotated[float, Meta(ge=1, le=24 * 3600.0)] = 50.0
    rate: Rate = 0.1
    reduced_rate: Rate = 0.01
    large_zone: Annotated[int, Meta(ge=0, le=1_000_000)] = 50
    unhealthy_fraction: Annotated[float, Meta(gt=0, le=1)] = 0.55
    lost_zone: LostZone = LostZone.STOP
    reason: LostReason = LostReason.NODE_LOST
    beside_taints: bool = False
    forces: bool = True


DEFAULTS = NodeLossSettings()
