"""Evictions, as disruption budgets allow them (pkg/registry/core/pod/storage/eviction.go).

One difference: a budget is spent only once the preconditions are known to hold.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bailiff_demo import errors
from bailiff_demo.errors import Cause
from bailiff_demo.objects import (
    JsonObject,
    clone,
    find_condition,
    format_time,
    has_finished,
    is_going,
    is_ready,
    labels_of,
    part,
    set_condition,
)
from bailiff_demo.registry.deletion import DeleteOptions, check_preconditions
from bailiff_demo.resources import PODDISRUPTIONBUDGETS, PODS
from bailiff_demo.selectors import chooses
from bailiff_demo.shapes import check_shape

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff_demo.registry.meta import Target
    from bailiff_demo.registry.registry import Registry
    from bailiff_demo.store import Record

# More evictions than this wait to be noticed by the budget's controller.
_MAX_DISRUPTED = 2000
_CAUSE = "DisruptionBudget"
_NO = "does not allow evicting pods currently"
_ALLOWED = "DisruptionAllowed"


def evict(registry: Registry, target: Target, eviction: JsonObject) -> None:
    """Delete a pod if its disruption budget allows.

    Raises:
        ApiError: 400, another name than the path's; 404; 409, a precondition does not hold; 429,
            the budget does not allow it; 500, two budgets hold the pod.
    """
    check_shape(eviction, "Eviction")
    if part(eviction, "metadata").get("name", "") != target.name:
        raise errors.bad_request("name in URL does not match name in Eviction object")
    options = DeleteOptions.parse(eviction.get("deleteOptions") or {})
    record = registry.find(target)
    budget = None if _is_past_budgets(record.object) else _budget_to_spend(registry, record)
    check_preconditions(record, target, options)
    if budget is not None:
        _spend(registry, budget, target.name)
    _mark(registry, record)
    # The mark has moved the version on, so a precondition on it has been met already.
    registry.delete(target, replace(options, resource_version=None))


def _is_past_budgets(pod: JsonObject) -> bool:
    pending = part(pod, "status").get("phase") == "Pending"
    return is_going(pod) or has_finished(pod) or pending


def _mark(registry: Registry, record: Record) -> None:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    pod = clone(record.object)
    set_condition(pod, condition, registry.clock.now())
    if pod != record.object:
        registry.store.replace(PODS, record, pod)


def _budget_to_spend(registry: Registry, pod: Record) -> Record | None:
    """The budget that the eviction is charged to; None for none.

    Raises:
        ApiError: it does not allow the eviction, or there are two.
    """
    budgets = [
        budget
        for budget in registry.store.bucket(PODDISRUPTIONBUDGETS).records(pod.key[0])
        if chooses(part(budget.object, "spec").get("selector"), labels_of(pod.object))
    ]
    if not budgets:
        return None
    if len(budgets) > 1:
        message = (
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support."
        )
        raise errors.ApiError(500, "", message)
    if not is_ready(pod.object) and _spares_unready(budgets[0].object):
        return None
    _check(budgets[0].object)
    return budgets[0]


def _spares_unready(budget: JsonObject) -> bool:
    status = part(budget, "status")
    if part(budget, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired: int = status.get("desiredHealthy", 0)
    return 0 < desired <= int(status.get("currentHealthy", 0))


def _check(budget: JsonObject) -> None:
    name, status = budget["metadata"]["name"], part(budget, "status")
    allowed = status.get("disruptionsAllowed", 0)
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        text = f"The disruption budget {name} is still being processed by the server."
        raise _blocked(10, text)
    if len(status.get("disruptedPods") or {}) > _MAX_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        text = "too many pending evictions not confirmed by PDB controller"
        cause = Cause(_CAUSE, "", f"The disruption budget {name} {_NO}: {text}")
        # Upstream builds this one refusal with the singular.
        budgets = replace(PODDISRUPTIONBUDGETS, plural="poddisruptionbudget")
        raise errors.forbidden(budgets, name, why, [cause])
    if allowed == 0:
        raise _blocked(0, f"The disruption budget {name} {_why_nothing(budget)}")


def _why_nothing(budget: JsonObject) -> str:
    status, no = part(budget, "status"), _NO
    desired, current = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    said = find_condition(budget, _ALLOWED) or {}
    message = said.get("message", "") if said.get("status") == "False" else ""
    if message and said.get("reason") == "SyncFailed":
        return f"{no} because it failed sync: {message}"
    if current <= desired:
        return f"needs {desired} healthy pods and has {current} currently"
    return f"{no} ({said.get('reason', '')}): {message}" if message else no


def _blocked(retry_after: int, text: str) -> errors.ApiError:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    cause = Cause(_CAUSE, "", text)
    # Zero is upstream's way to say that it does not know; then no header is sent.
    details = {"causes": errors.causes_of([cause])}
    return errors.ApiError(429, "TooManyRequests", message, details, retry_after=retry_after)


def _spend(registry: Registry, budget: Record, pod: str) -> None:
    spent, now = clone(budget.object), registry.clock.now()
    status = spent["status"]
    status["disruptionsAllowed"] -= 1
    status.setdefault("disruptedPods", {})[pod] = format_time(now)
    if not status["disruptionsAllowed"]:
        say_allowed(spent, now)
    registry.store.replace(PODDISRUPTIONBUDGETS, budget, spent)


def say_allowed(budget: JsonObject, now: datetime, *, failed: str = "") -> None:
    """Bring the condition DisruptionAllowed in line with the count, or say why there is none."""
    status = budget.setdefault("status", {})
    if failed:
        # Where nothing can be counted, nothing may be evicted.
        status["disruptionsAllowed"] = 0
    enough = status.get("disruptionsAllowed", 0) > 0
    condition = {
        "type": _ALLOWED,
        "status": str(enough),
        "observedGeneration": status.get("observedGeneration", 0),
        "reason": "SyncFailed" if failed else f"{'Sufficient' if enough else 'Insufficient'}Pods",
        "message": failed,
    }
    set_condition(budget, condition, now)
