"""Pods and their templates."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.embedded.shapes.base import (
    Amounts,
    Condition,
    Expression,
    Int32,
    Int64,
    Meta,
    Object,
    Shape,
    Texts,
    Time,
)


class Field(Shape):
    """v1.NodeSelectorRequirement on a field."""

    key: str = ""
    values: tuple[str, ...] = ()


class Term(Shape):
    """v1.NodeSelectorTerm."""

    match_expressions: tuple[Expression, ...] = ()
    match_fields: tuple[Field, ...] = ()


class Terms(Shape):
    """v1.NodeSelector."""

    node_selector_terms: tuple[Term, ...] = ()


class Preferred(Shape):
    """v1.PreferredSchedulingTerm."""

    weight: Int32 = 0
    preference: Term = msgspec.field(default_factory=Term)


class NodeAffinity(Shape):
    """v1.NodeAffinity."""

    required_during_scheduling_ignored_during_execution: Terms | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[Preferred, ...] = ()


class Affinity(Shape):
    """v1.Affinity."""

    node_affinity: NodeAffinity | None = None


class Toleration(Shape):
    """v1.Toleration."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class Requirements(Shape):
    """v1.ResourceRequirements."""

    limits: Amounts | None = None
    requests: Amounts | None = None


class Named(Shape):
    """Something with a name."""

    name: str = ""


class Container(Shape):
    """v1.Container."""

    name: str = ""
    image: str = ""
    restart_policy: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[Named, ...] = ()
    ports: tuple[dict[str, Any], ...] = ()
    volume_mounts: tuple[Named, ...] = ()
    resources: Requirements = msgspec.field(default_factory=Requirements)


class PodClaim(Shape):
    """v1.PodResourceClaim."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodClaimStatus(Shape):
    """v1.PodResourceClaimStatus."""

    name: str = ""
    resource_claim_name: str | None = None


class PodSpec(Shape):
    """v1.PodSpec."""

    node_name: str = ""
    node_selector: Texts | None = None
    tolerations: tuple[Toleration, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    volumes: tuple[Named, ...] = ()
    scheduling_gates: tuple[Named, ...] = ()
    readiness_gates: tuple[dict[str, Any], ...] = ()
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    restart_policy: str = ""
    scheduler_name: str = ""
    service_account_name: str = ""
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str = ""
    host_network: bool = False
    affinity: Affinity | None = None
    resources: Requirements | None = None
    resource_claims: tuple[PodClaim, ...] = ()


class ContainerStatus(Shape):
    """v1.ContainerStatus."""

    name: str = ""
    ready: bool = False
    restart_count: Int32 = 0
    state: dict[str, dict[str, Any]] | None = None
    last_state: dict[str, dict[str, Any]] | None = None


class PodStatus(Shape):
    """v1.PodStatus."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    qos_class: str = ""
    start_time: Time | None = None
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    pod_i_ps: tuple[dict[str, str], ...] = msgspec.field(default=(), name="podIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    nominated_node_name: str = ""
    resource_claim_statuses: tuple[PodClaimStatus, ...] = ()


class Pod(Object):
    """v1.Pod."""

    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class Template(Shape):
    """v1.PodTemplateSpec."""

    metadata: Meta = msgspec.field(default_factory=Meta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
