"""The types of the fields that rules read; what has another type is refused at the door.

Only types: whether a value is allowed is the strategies' business. Fields that no rule reads
pass whatever they hold.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from bailiff.embedded import errors

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Text = str
Texts = dict[str, str]
Time = Annotated[
    str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$")
]


class Shape(msgspec.Struct, rename="camel", gc=False):
    """The base of all shapes."""


class OwnerReference(Shape):
    """metav1.OwnerReference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False
    block_owner_deletion: bool = False


class Meta(Shape):
    """metav1.ObjectMeta."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 = 0
    labels: Texts = {}
    annotations: Texts = {}
    finalizers: list[str] = []
    owner_references: list[OwnerReference] = []


class Condition(Shape):
    """Any condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None


class Toleration(Shape):
    """v1.Toleration."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class Taint(Shape):
    """v1.Taint."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: Time | None = None


class Requirements(Shape):
    """v1.ResourceRequirements."""

    limits: dict[str, str | int | float] = {}
    requests: dict[str, str | int | float] = {}


class Named(Shape):
    """Something with a name."""

    name: str = ""


class Container(Shape):
    """v1.Container."""

    name: str = ""
    image: str = ""
    restart_policy: str = ""
    command: list[str] = []
    args: list[str] = []
    env: list[Named] = []
    ports: list[dict[str, Any]] = []
    volume_mounts: list[Named] = []
    resources: Requirements = msgspec.field(default_factory=Requirements)


class PodSpec(Shape):
    """v1.PodSpec."""

    node_name: str = ""
    node_selector: Texts = {}
    tolerations: list[Toleration] = []
    containers: list[Container] = []
    init_containers: list[Container] = []
    volumes: list[Named] = []
    scheduling_gates: list[Named] = []
    readiness_gates: list[dict[str, Any]] = []
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    restart_policy: str = ""
    scheduler_name: str = ""
    service_account_name: str = ""
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str = ""
    host_network: bool = False
    resources: Requirements | None = None


class ContainerStatus(Shape):
    """v1.ContainerStatus."""

    name: str = ""
    ready: bool = False
    restart_count: Int32 = 0
    state: dict[str, dict[str, Any]] = {}
    last_state: dict[str, dict[str, Any]] = {}


class PodStatus(Shape):
    """v1.PodStatus."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    qos_class: str = ""
    start_time: Time | None = None
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []
    init_container_statuses: list[ContainerStatus] = []
    pod_i_ps: list[dict[str, str]] = msgspec.field(default_factory=list, name="podIPs")
    pod_ip: str = msgspec.field(default="", name="podIP")
    nominated_node_name: str = ""


class Object(Shape):
    """What every object has."""

    api_version: str = ""
    kind: str = ""
    metadata: Meta = msgspec.field(default_factory=Meta)


class Pod(Object):
    """v1.Pod."""

    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class NodeSpec(Shape):
    """v1.NodeSpec."""

    taints: list[Taint] = []
    unschedulable: bool = False
    provider_id: str = msgspec.field(default="", name="providerID")


class Address(Shape):
    """v1.NodeAddress."""

    type: str = ""
    address: str = ""


class NodeStatus(Shape):
    """v1.NodeStatus."""

    conditions: list[Condition] = []
    addresses: list[Address] = []
    node_info: dict[str, Any] = {}
    capacity: dict[str, str | int | float] = {}
    allocatable: dict[str, str | int | float] = {}


class Node(Object):
    """v1.Node."""

    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class Expression(Shape):
    """metav1.LabelSelectorRequirement."""

    key: str = ""
    operator: str = ""
    values: list[str] = []


class Selector(Shape):
    """metav1.LabelSelector."""

    match_labels: Texts = {}
    match_expressions: list[Expression] = []


class Template(Shape):
    """v1.PodTemplateSpec."""

    metadata: Meta = msgspec.field(default_factory=Meta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)


class WorkloadSpec(Shape):
    """The common part of the specs of apps/v1."""

    replicas: Int32 | None = None
    selector: Selector | None = None
    template: Template = msgspec.field(default_factory=Template)
    service_name: str = ""


class WorkloadStatus(Shape):
    """The common part of the statuses of apps/v1."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    updated_replicas: Int32 = 0
    desired_number_scheduled: Int32 = 0
    current_number_scheduled: Int32 = 0
    number_ready: Int32 = 0
    number_available: Int32 = 0
    updated_number_scheduled: Int32 = 0
    conditions: list[Condition] = []


class Workload(Object):
    """Any of apps/v1."""

    spec: WorkloadSpec = msgspec.field(default_factory=WorkloadSpec)
    status: WorkloadStatus = msgspec.field(default_factory=WorkloadStatus)


class LeaseSpec(Shape):
    """coordination/v1.LeaseSpec."""

    holder_identity: str | None = None
    lease_duration_seconds: Int32 | None = None
    acquire_time: Time | None = None
    renew_time: Time | None = None
    lease_transitions: Int32 | None = None


class Lease(Object):
    """coordination/v1.Lease."""

    spec: LeaseSpec = msgspec.field(default_factory=LeaseSpec)


class PdbSpec(Shape):
    """policy/v1.PodDisruptionBudgetSpec."""

    min_available: str | int | None = None
    max_unavailable: str | int | None = None
    selector: Selector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PdbStatus(Shape):
    """policy/v1.PodDisruptionBudgetStatus."""

    observed_generation: Int64 = 0
    disrupted_pods: dict[str, Time] = {}
    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    conditions: list[Condition] = []


class PodDisruptionBudget(Object):
    """policy/v1.PodDisruptionBudget."""

    spec: PdbSpec = msgspec.field(default_factory=PdbSpec)
    status: PdbStatus = msgspec.field(default_factory=PdbStatus)


class PriorityClass(Object):
    """scheduling/v1.PriorityClass."""

    value: Int32 = 0
    global_default: bool = False
    description: str = ""
    preemption_policy: str = ""


class Phase(Shape):
    """A status with a phase."""

    phase: str = ""
    conditions: list[Condition] = []


class NamespaceSpec(Shape):
    """v1.NamespaceSpec."""

    finalizers: list[str] = []


class Namespace(Object):
    """v1.Namespace."""

    spec: NamespaceSpec = msgspec.field(default_factory=NamespaceSpec)
    status: Phase = msgspec.field(default_factory=Phase)


class Reference(Shape):
    """v1.ObjectReference."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""
    field_path: str = ""


class Source(Shape):
    """v1.EventSource."""

    component: str = ""
    host: str = ""


class Series(Shape):
    """v1.EventSeries."""

    count: Int32 = 0
    last_observed_time: Time | None = None


class Event(Object):
    """v1.Event."""

    involved_object: Reference = msgspec.field(default_factory=Reference)
    reason: str = ""
    message: str = ""
    source: Source = msgspec.field(default_factory=Source)
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    event_time: Time | None = None
    count: Int32 = 0
    type: str = ""
    series: Series | None = None
    action: str = ""
    related: Reference | None = None
    reporting_component: str = ""
    reporting_instance: str = ""


class Data(Object):
    """v1.ConfigMap and v1.Secret."""

    data: Texts = {}
    immutable: bool = False
    type: str = ""


class Preconditions(Shape):
    """metav1.Preconditions."""

    uid: str | None = None
    resource_version: str | None = None


class DeleteOptions(Object):
    """metav1.DeleteOptions."""

    grace_period_seconds: Int64 | None = None
    preconditions: Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] = []


class Eviction(Object):
    """policy/v1.Eviction."""

    delete_options: DeleteOptions | None = None


class Binding(Object):
    """v1.Binding."""

    target: Reference = msgspec.field(default_factory=Reference)


class ScaleSpec(Shape):
    """autoscaling/v1.ScaleSpec."""

    replicas: Int32 = 0


class Scale(Object):
    """autoscaling/v1.Scale."""

    spec: ScaleSpec = msgspec.field(default_factory=ScaleSpec)


_SHAPES: dict[str, type[Object]] = {
    "Pod": Pod,
    "Node": Node,
    "DaemonSet": Workload,
    "StatefulSet": Workload,
    "Deployment": Workload,
    "ReplicaSet": Workload,
    "Lease": Lease,
    "PodDisruptionBudget": PodDisruptionBudget,
    "PriorityClass": PriorityClass,
    "Namespace": Namespace,
    "Event": Event,
    "ConfigMap": Data,
    "Secret": Data,
    "Eviction": Eviction,
    "Binding": Binding,
    "Scale": Scale,
    "DeleteOptions": DeleteOptions,
}


def check_shape(value: object, kind: str, api_version: str) -> None:
    """Refuse an object whose fields have wrong types.

    Args:
        value: without nulls.
        kind: whose shape.
        api_version: for the message.

    Raises:
        ApiError: 400, naming the field.
    """
    try:
        msgspec.convert(value, _SHAPES.get(kind, Object))
    except msgspec.ValidationError as error:
        message = (
            f'{kind} in version "{api_version}" cannot be handled as a {kind}: '
            f"json: cannot unmarshal: {error}"
        )
        raise errors.bad_request(message) from error
