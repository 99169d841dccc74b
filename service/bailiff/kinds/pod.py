"""Pods (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bailiff.kinds.meta import Int32, Int64, KubernetesObject, ObjectMeta, Time, Value
from bailiff.kinds.pod_claims import (
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
)
from bailiff.kinds.pod_resources import (
    Container,
    ContainerStatus,
    ResourceRequirements,
)
from bailiff.kinds.pod_volumes import Volume
from bailiff.kinds.quantity import QuantityText
from bailiff.kinds.taint import Toleration
from bailiff.kinds.texts import ObjectName, Word

if TYPE_CHECKING:
    from datetime import datetime

_FINISHED_PHASES = frozenset({"Succeeded", "Failed"})


class PodSpec(Value, frozen=True):
    """Where a pod runs, what it asks for and what it tolerates.

    Attributes:
        node_name: the node it is bound to; empty until it is.
        tolerations: the taints it puts up with. Order matters: the first that matches a taint is
            the one that counts.
        priority: of its priority class; the higher, the more it matters.
        priority_class_name: of its priority class.
        resource_claims: the claims of devices it needs.
        scheduling_group: the PodGroup it belongs to.
        containers: its containers.
        init_containers: run before those, one after the other; sidecars stay.
        overhead: what it takes besides its containers, by resource.
        resources: of the pod as a whole.
        volumes: what it may write to.
        termination_grace_period_seconds: that it has to end by itself.
    """

    node_name: ObjectName = ""
    tolerations: tuple[Toleration, ...] = ()
    priority: Int32 = 0
    priority_class_name: ObjectName = ""
    resource_claims: tuple[PodResourceClaim, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Mapping[str, QuantityText] = {}
    resources: ResourceRequirements | None = None
    volumes: tuple[Volume, ...] = ()
    termination_grace_period_seconds: Int64 | None = None


class PodCondition(Value, frozen=True):
    """One entry of `status.conditions`.

    Attributes:
        type: which condition, as `PodScheduled` or `DisruptionTarget`.
        status: `True`, `False` or `Unknown`.
        reason: why, for programs.
        message: why, for people.
        observed_generation: the generation of the pod that it was written for.
        last_transition_time: when `status` changed.
    """

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None


class PodStatus(Value, frozen=True):
    """How far a pod has come.

    Attributes:
        phase: `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`. Succeeded and Failed pods
            have ended and are not evicted.
        reason: why it is in this phase, for programs; `Evicted` where its kubelet has evicted it.
        conditions: `PodScheduled` tells when the pod was bound.
        resource_claim_statuses: the claims that were made for it from templates.
        extended_resource_claim_status: the claim that was made for it because it asks for devices
            as extended resources.
        qos_class: `Guaranteed`, `Burstable` or `BestEffort`, as the API server has worked it out.
        container_statuses: what the containers have been given.
        init_container_statuses: what the init containers have been given.
    """

    phase: str = ""
    reason: str = ""
    conditions: tuple[PodCondition, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    qos_class: Word = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(KubernetesObject, frozen=True):
    """A pod (core/v1 Pod); hand over the whole object, what is not needed is ignored.

    Attributes:
        metadata: its identity.
        spec: where it runs and what it tolerates.
        status: how far it has come.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def key(self) -> str:
        """NAMESPACE/NAME, as people and upstream's events write it."""
        return f"{self.metadata.namespace}/{self.metadata.name}"

    @property
    def is_ready(self) -> bool:
        """Whether it is ready to serve (pkg/api/pod, IsPodReady)."""
        return any(one.type == "Ready" and one.status == "True" for one in self.status.conditions)

    @property
    def is_pending(self) -> bool:
        """Its containers have not all been started yet, or no node has taken it."""
        return self.status.phase == "Pending"

    @property
    def is_terminating(self) -> bool:
        """Somebody has deleted it already; its grace period is running."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_finished(self) -> bool:
        """All its containers have ended for good."""
        return self.status.phase in _FINISHED_PHASES

    @property
    def has_ended(self) -> bool:
        """It is finished or terminating."""
        return self.metadata.deletion_timestamp is not None or self.status.phase in _FINISHED_PHASES

    def has_condition(self, wanted: PodCondition) -> bool:
        """Whether it carries this condition, for this reason, whatever its message and time."""
        return any(
            (one.type, one.status, one.reason) == (wanted.type, wanted.status, wanted.reason)
            for one in self.status.conditions
        )

    @property
    def bound_at(self) -> datetime | None:
        """When the pod came to its node, as far as the object tells.

        The API server sets PodScheduled with the binding (pkg/registry/core/pod/storage). A pod
        that was created with `spec.nodeName` has been bound since its creation. None: not bound,
        or not known.
        """
        if not self.spec.node_name:
            return None
        for condition in self.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "True":
                return condition.last_transition_time or self.metadata.creation_timestamp
        return self.metadata.creation_timestamp
