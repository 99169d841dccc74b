"""The taints that Kubernetes itself puts on nodes: who does, when, and what takes them away.

From Kubernetes 1.37.1: pkg/controller/nodelifecycle, plugin/pkg/admission/nodetaint, pkg/kubelet,
cloud-provider's controllers, cmd/kubeadm; what is historical, from 1.6.0 to 1.16.0 of the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds import NO_EXECUTE
from bailiff.kinds.meta import Value
from bailiff.kinds.taint import NOT_READY, UNREACHABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.kinds import Taint

_NO_SCHEDULE = "NoSchedule"
_LIFECYCLE = "the node lifecycle controller of kube-controller-manager"
_CLOUD = "cloud-controller-manager"


class BuiltInTaint(Value, frozen=True):
    """A taint that Kubernetes itself puts on nodes.

    Attributes:
        key: of the taint.
        effect: that Kubernetes gives it. The same key may stand with another, put there by hand.
        condition: what the node is like then, as `Ready=False`.
        set_by: which program puts it there.
        removed_by: what takes it away.
        since: the release that set it first, such as `1.12`.
        until: the last release that set it; empty: it is set to this day.
        replaced_by: the key that has taken its place; empty where none has.
    """

    key: str
    effect: str
    condition: str
    set_by: str
    removed_by: str
    since: str
    until: str = ""
    replaced_by: str = ""

    def told(self) -> Iterator[str]:
        """The same for people, a line for each fact."""
        known = f"since {self.since}" if not self.until else f"{self.since} to {self.until}"
        yield f"built-in taint of Kubernetes {known}, with the effect {self.effect}"
        yield f"condition {self.condition}"
        yield f"set by {self.set_by}"
        yield f"taken away by {self.removed_by}"
        if self.replaced_by:
            yield f"replaced by {self.replaced_by}"


def _by_condition(name: str, condition: str, since: str) -> BuiltInTaint:
    """What follows a condition that the node's own kubelet, or a network's program, reports."""
    return BuiltInTaint(
        key=f"node.kubernetes.io/{name}",
        effect=_NO_SCHEDULE,
        condition=condition,
        set_by=_LIFECYCLE,
        removed_by="the same, when the condition is no longer True",
        since=since,
    )


def _by_readiness(name: str, other: str, condition: str) -> BuiltInTaint:
    return BuiltInTaint(
        key=f"node.kubernetes.io/{name}",
        effect=NO_EXECUTE,
        condition=condition,
        set_by=f"{_LIFECYCLE}, at most --node-eviction-rate nodes a second in each zone",
        removed_by=f"the same, when Ready is True; while Ready is {other} takes its place",
        since="1.9, by default since 1.13",
    )


_UNKNOWN = (
    "Ready=Unknown: the kubelet has renewed nothing for --node-monitor-grace-period (50 seconds)"
)
_NEW_NODE = "the admission plugin TaintNodesByCondition, on every node that is created; later "

BUILT_IN_TAINTS = (
    _by_readiness("not-ready", "Unknown, unreachable", "Ready=False"),
    BuiltInTaint(
        key=NOT_READY,
        effect=_NO_SCHEDULE,
        condition="Ready=False, or the node is new",
        set_by=_NEW_NODE + _LIFECYCLE,
        removed_by="the node lifecycle controller, when Ready is True or Unknown",
        since="1.12",
    ),
    _by_readiness("unreachable", "False, not-ready", _UNKNOWN),
    BuiltInTaint(
        key=UNREACHABLE,
        effect=_NO_SCHEDULE,
        condition=_UNKNOWN,
        set_by=_LIFECYCLE,
        removed_by="the same, when Ready is True or False",
        since="1.12",
    ),
    BuiltInTaint(
        key="node.kubernetes.io/unschedulable",
        effect=_NO_SCHEDULE,
        condition="spec.unschedulable=true, as kubectl cordon and drain set it",
        set_by=_LIFECYCLE,
        removed_by="the same, when spec.unschedulable is false: kubectl uncordon",
        since="1.10, by default since 1.12",
    ),
    _by_condition(
        "memory-pressure",
        "MemoryPressure=True, from the kubelet's eviction thresholds for memory",
        "1.8, by default since 1.12",
    ),
    _by_condition(
        "disk-pressure",
        "DiskPressure=True, from the kubelet's eviction thresholds for disk and inodes",
        "1.8, by default since 1.12",
    ),
    _by_condition(
        "pid-pressure",
        "PIDPressure=True, from the kubelet's eviction threshold for process ids",
        "1.10, by default since 1.12",
    ),
    _by_condition(
        "network-unavailable",
        "NetworkUnavailable=True, from the network plugin or the cloud's route controller",
        "1.8, by default since 1.12",
    ),
    BuiltInTaint(
        key="node.kubernetes.io/out-of-service",
        effect=NO_EXECUTE,
        condition="the machine is off and will not come back by itself",
        set_by="people, or a program that fences machines; no controller of Kubernetes does. Pod "
        "garbage collection then force-deletes pods that are being deleted while the node is not "
        "ready, and volumes are detached at once",
        removed_by="the person who set it, once the node is back",
        since="1.24, by default since 1.26",
    ),
    BuiltInTaint(
        key="node.cloudprovider.kubernetes.io/uninitialized",
        effect=_NO_SCHEDULE,
        condition="the node is new, and its kubelet runs with --cloud-provider=external",
        set_by="the kubelet, when it registers its node",
        removed_by=f"the cloud node controller of {_CLOUD}, once it knows the machine",
        since="1.7",
    ),
    BuiltInTaint(
        key="node.cloudprovider.kubernetes.io/shutdown",
        effect=_NO_SCHEDULE,
        condition="Ready is not True, and the cloud says that the machine is shut down",
        set_by=f"the cloud node lifecycle controller of {_CLOUD}",
        removed_by="the same, when Ready is True",
        since="1.11",
    ),
    BuiltInTaint(
        key="node-role.kubernetes.io/control-plane",
        effect=_NO_SCHEDULE,
        condition="the node runs the control plane",
        set_by="kubeadm, when it makes or joins such a node",
        removed_by="people, who want their pods there",
        since="1.24",
    ),
    BuiltInTaint(
        key="node-role.kubernetes.io/master",
        effect=_NO_SCHEDULE,
        condition="the node runs the control plane",
        set_by="kubeadm, when it made or joined such a node",
        removed_by="people; kubeadm upgrade to 1.25 took it away",
        since="1.6",
        until="1.24",
        replaced_by="node-role.kubernetes.io/control-plane",
    ),
    BuiltInTaint(
        key="node.kubernetes.io/out-of-disk",
        effect=_NO_SCHEDULE,
        condition="OutOfDisk=True, which kubelets no longer report since 1.13",
        set_by=_LIFECYCLE,
        removed_by="nobody any more: kubectl taint, by hand",
        since="1.8",
        until="1.13",
        replaced_by="node.kubernetes.io/disk-pressure",
    ),
    BuiltInTaint(
        key="node.alpha.kubernetes.io/notReady",
        effect=NO_EXECUTE,
        condition="Ready=False",
        set_by="the node controller of kube-controller-manager, with the gate TaintBasedEvictions",
        removed_by="nobody any more: kubectl taint, by hand",
        since="1.6",
        until="1.8",
        replaced_by=NOT_READY,
    ),
    BuiltInTaint(
        key="node.alpha.kubernetes.io/unreachable",
        effect=NO_EXECUTE,
        condition="Ready=Unknown",
        set_by="the node controller of kube-controller-manager, with the gate TaintBasedEvictions",
        removed_by="nobody any more: kubectl taint, by hand",
        since="1.6",
        until="1.8",
        replaced_by=UNREACHABLE,
    ),
    BuiltInTaint(
        key="node.alpha.kubernetes.io/ismaster",
        effect=_NO_SCHEDULE,
        condition="the node runs the control plane",
        set_by="installers of clusters, by the kubelet's --register-with-taints; Kubernetes' own "
        "logging add-ons tolerated it",
        removed_by="nobody any more: kubectl taint, by hand",
        since="1.6",
        until="1.12",
        replaced_by="node-role.kubernetes.io/control-plane",
    ),
)
"""Those that are set to this day first; of a key the effect that evicts before the other."""

_BY_NAME = {(one.key, one.effect): one for one in BUILT_IN_TAINTS}
# Of a key alone: the first of its rows, so a later one does not replace it.
_BY_KEY = {one.key: one for one in reversed(BUILT_IN_TAINTS)}


def built_in_taint(taint: Taint) -> BuiltInTaint | None:
    """What Kubernetes means by this taint; None for one that is no built-in.

    Of a key that stands with an effect that Kubernetes never gives it, what it does give is told.
    """
    return _BY_NAME.get((taint.key, taint.effect)) or _BY_KEY.get(taint.key)
