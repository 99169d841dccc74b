"""What Kubernetes fills in, forbids and keeps for each kind, as far as people meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.kinds.names import LABEL_RULE, is_dns_label
from bailiff_demo.rules import claims, devices, others, pods, workloads
from bailiff_demo.rules.strategy import Strategy

if TYPE_CHECKING:
    from bailiff_demo.resources import Resource

__all__ = ["Strategy", "strategy_of"]

_PLAIN = Strategy()
_WORKLOAD = Strategy(
    default=workloads.default_workload,
    on_create=others.clear_status,
    validate=workloads.check_workload,
    validate_update=workloads.check_workload_update,
)
_STRATEGIES: dict[str, Strategy] = {
    "Pod": Strategy(
        default=pods.default_pod,
        on_create=pods.create_pod,
        on_write=pods.add_default_tolerations,
        validate=pods.check_pod,
        validate_update=pods.check_pod_update,
    ),
    "Node": Strategy(
        on_create=others.create_node,
        validate=others.check_node,
        validate_update=others.check_node_update,
    ),
    "Namespace": Strategy(
        name_rule=(is_dns_label, LABEL_RULE),
        default=others.default_namespace,
        on_create=others.create_namespace,
    ),
    "Event": Strategy(validate=others.check_event, create_on_update=True),
    "Secret": Strategy(default=others.default_secret),
    **dict.fromkeys(("DaemonSet", "StatefulSet", "Deployment", "ReplicaSet"), _WORKLOAD),
    "Lease": Strategy(
        validate=others.check_lease, create_on_update=True, unconditional_update=False
    ),
    "PodDisruptionBudget": Strategy(
        on_create=others.create_budget, validate=others.check_budget, unconditional_update=False
    ),
    "PriorityClass": Strategy(
        default=others.default_priorityclass, validate_update=others.check_priorityclass_update
    ),
    "ResourceSlice": Strategy(
        stamp=devices.stamp_slice,
        validate=devices.check_slice,
        validate_update=devices.check_slice_update,
    ),
    "DeviceTaintRule": Strategy(
        on_create=others.clear_status,
        stamp=devices.stamp_rule,
        validate=devices.check_rule,
        validate_status=devices.check_rule_status,
    ),
    "ResourceClaim": Strategy(
        default=claims.default_claim,
        on_create=others.clear_status,
        validate=claims.check_claim,
        validate_update=claims.check_spec_is_fixed,
        validate_status=claims.check_claim_status,
    ),
    "ResourceClaimTemplate": Strategy(
        default=claims.default_template,
        validate=claims.check_template,
        validate_update=claims.check_spec_is_fixed,
    ),
}


def strategy_of(resource: Resource) -> Strategy:
    """The rules of a resource; names only where it has no others."""
    return _STRATEGIES.get(resource.kind, _PLAIN)
