"""Which rules each kind has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bailiff.embedded.rules import claims, devices, others, pods
from bailiff.embedded.rules.names import label, subdomain
from bailiff.embedded.rules.strategy import Strategy

if TYPE_CHECKING:
    from bailiff.embedded.resources import Resource
    from bailiff.embedded.rules.strategy import Mutate

_PLAIN = Strategy(check_name=subdomain)


def _workload(default: Mutate) -> Strategy:
    return Strategy(
        check_name=subdomain,
        default=default,
        on_create=others.create_workload,
        validate=others.check_workload,
        validate_update=others.check_workload_update,
    )


_STRATEGIES: dict[str, Strategy] = {
    "pods": Strategy(
        check_name=subdomain,
        default=pods.default_pod,
        on_create=pods.create_pod,
        validate=pods.check_pod,
        validate_update=pods.check_pod_update,
    ),
    "nodes": Strategy(
        check_name=subdomain,
        on_create=others.create_node,
        validate=others.check_node,
        validate_update=others.check_node_update,
    ),
    "namespaces": Strategy(
        check_name=label,
        default=others.default_namespace,
        on_create=others.create_namespace,
    ),
    "events": Strategy(check_name=subdomain, validate=others.check_event, create_on_update=True),
    "secrets": Strategy(check_name=subdomain, default=others.default_secret),
    "daemonsets.apps": _workload(others.default_daemonset),
    "statefulsets.apps": _workload(others.default_statefulset),
    "deployments.apps": _workload(others.default_deployment),
    "replicasets.apps": _workload(others.default_replicaset),
    "leases.coordination.k8s.io": Strategy(
        check_name=subdomain,
        validate=others.check_lease,
        create_on_update=True,
        unconditional_update=False,
    ),
    "poddisruptionbudgets.policy": Strategy(
        check_name=subdomain,
        on_create=others.create_budget,
        validate=others.check_budget,
        unconditional_update=False,
    ),
    "priorityclasses.scheduling.k8s.io": Strategy(
        check_name=subdomain,
        default=others.default_priorityclass,
        validate_update=others.check_priorityclass_update,
    ),
    "resourceslices.resource.k8s.io": Strategy(
        check_name=subdomain,
        stamp=devices.stamp_slice,
        validate=devices.check_slice,
        validate_update=devices.check_slice_update,
    ),
    "devicetaintrules.resource.k8s.io": Strategy(
        check_name=subdomain,
        on_create=devices.create_rule,
        stamp=devices.stamp_rule,
        validate=devices.check_rule,
        validate_status=devices.check_rule_status,
    ),
    "resourceclaims.resource.k8s.io": Strategy(
        check_name=subdomain,
        default=claims.default_claim,
        on_create=claims.create_claim,
        validate=claims.check_claim,
        validate_update=claims.check_spec_is_fixed,
        validate_status=claims.check_claim_status,
    ),
    "resourceclaimtemplates.resource.k8s.io": Strategy(
        check_name=subdomain,
        default=claims.default_template,
        validate=claims.check_template,
        validate_update=claims.check_spec_is_fixed,
    ),
    "deviceclasses.resource.k8s.io": Strategy(check_name=subdomain, validate=claims.check_class),
}


def strategy_of(resource: Resource) -> Strategy:
    """The rules of a resource; names only where it has no others."""
    return _STRATEGIES.get(resource.bucket, _PLAIN)
