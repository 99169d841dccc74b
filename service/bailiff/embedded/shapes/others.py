"""Everything else: namespaces, events, leases, budgets, and the bodies of acts."""

from __future__ import annotations

import msgspec

from bailiff.embedded.shapes.base import (
    Condition,
    Int32,
    Int64,
    Object,
    Reference,
    Selector,
    Shape,
    Texts,
    Time,
)


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
    disrupted_pods: dict[str, Time] | None = None
    disruptions_allowed: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    expected_pods: Int32 = 0
    conditions: tuple[Condition, ...] = ()


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
    conditions: tuple[Condition, ...] = ()


class NamespaceSpec(Shape):
    """v1.NamespaceSpec."""

    finalizers: tuple[str, ...] = ()


class Namespace(Object):
    """v1.Namespace."""

    spec: NamespaceSpec = msgspec.field(default_factory=NamespaceSpec)
    status: Phase = msgspec.field(default_factory=Phase)


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

    data: Texts | None = None
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
    dry_run: tuple[str, ...] = ()


class Eviction(Object):
    """policy/v1.Eviction."""

    delete_options: DeleteOptions | None = None


class Binding(Object):
    """v1.Binding."""

    target: Reference = msgspec.field(default_factory=Reference)
