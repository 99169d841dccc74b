"""What Kubernetes fills in, forbids and keeps for each kind, as far as people meet it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from bailiff.kinds.names import LABEL_RULE, SUBDOMAIN_RULE, is_dns_label, is_dns_subdomain
from bailiff_demo.errors import Cause
from bailiff_demo.objects import JsonObject
from bailiff_demo.rules import devices, objects, pods

if TYPE_CHECKING:
    from bailiff_demo.resources import Resource

Mutate: TypeAlias = Callable[[JsonObject], None]
Compare: TypeAlias = Callable[[JsonObject, JsonObject], list[Cause]]
# The new state, the old one (None when it is made), and the present as metav1.Time.
Stamp: TypeAlias = Callable[[JsonObject, JsonObject | None, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """The rules of one kind: which functions look at its objects, and when.

    Attributes:
        name_rule: which names are allowed, and how that is said.
        default: fill in what the client left out, on every write.
        on_create: set what the server decides when an object is made.
        on_write: what admission plugins add, on every write but those of a subresource.
        stamp: fill in the times that the server sets, on every write but those of the status.
        validate: what is wrong with it.
        validate_update: what is wrong with the change, (new, old).
        validate_status: what is wrong with a change of the status, (new, old).
        unconditional_update: whether PUT may leave out the resourceVersion.
    """

    name_rule: tuple[Callable[[str], bool], str] = (is_dns_subdomain, SUBDOMAIN_RULE)
    default: Mutate = lambda _obj: None
    on_create: Mutate = lambda _obj: None
    on_write: Mutate = lambda _obj: None
    stamp: Stamp = lambda _new, _old, _now: None
    validate: Callable[[JsonObject], list[Cause]] = lambda _obj: []
    validate_update: Compare = lambda _new, _old: []
    validate_status: Compare = lambda _new, _old: []
    unconditional_update: bool = True


_PLAIN = Strategy()
_WORKLOAD = Strategy(
    default=objects.default_workload,
    on_create=objects.clear_status,
    validate=objects.check_workload,
    validate_update=objects.check_workload_update,
)
_STRATEGIES: dict[str, Strategy] = {
    "Pod": Strategy(
        default=pods.default_pod,
        on_create=pods.create_pod,
        on_write=pods.add_default_tolerations,
        validate=pods.check_pod,
        validate_update=pods.check_pod_update,
    ),
    "Node": Strategy(on_create=objects.create_node, validate=objects.check_node),
    "Namespace": Strategy(
        name_rule=(is_dns_label, LABEL_RULE),
        default=objects.default_namespace,
        on_create=objects.create_namespace,
    ),
    "Event": Strategy(validate=objects.check_event),
    "Secret": Strategy(default=objects.default_secret),
    **dict.fromkeys(("DaemonSet", "StatefulSet", "Deployment", "ReplicaSet"), _WORKLOAD),
    "Lease": Strategy(unconditional_update=False),
    "PodDisruptionBudget": Strategy(
        on_create=objects.create_budget,
        validate=objects.check_budget,
        validate_status=objects.check_budget_status,
        unconditional_update=False,
    ),
    "ResourceSlice": Strategy(
        stamp=devices.stamp_slice,
        validate=devices.check_slice,
        validate_update=devices.check_slice_update,
    ),
    "DeviceTaintRule": Strategy(
        on_create=objects.clear_status,
        stamp=devices.stamp_rule,
        validate=devices.check_rule,
        validate_status=devices.check_rule_status,
    ),
    "ResourceClaim": Strategy(
        default=devices.default_claim,
        on_create=objects.clear_status,
        validate=devices.check_claim,
        validate_update=devices.check_spec_is_fixed,
        validate_status=devices.check_claim_status,
    ),
    "ResourceClaimTemplate": Strategy(
        default=devices.default_claim,
        validate=devices.check_claim,
        validate_update=devices.check_spec_is_fixed,
    ),
}


def strategy_of(resource: Resource) -> Strategy:
    """The rules of a resource; names only where it has no others."""
    return _STRATEGIES.get(resource.kind, _PLAIN)
