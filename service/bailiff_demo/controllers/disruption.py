"""The pretended disruption controller: how many pods each budget may still lose.

As pkg/controller/disruption/disruption.go counts: a number of pods to keep is taken of the pods
that are there, a percentage and a number to lose of the replicas that their controllers want.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING

from bailiff_demo.controllers.owned import controller_of
from bailiff_demo.objects import (
    JsonObject,
    clone,
    is_going,
    is_ready,
    labels_of,
    parse_time,
    part,
)
from bailiff_demo.registry import say_allowed
from bailiff_demo.resources import (
    DEPLOYMENTS,
    PODDISRUPTIONBUDGETS,
    PODS,
    REPLICASETS,
    STATEFULSETS,
    Resource,
)
from bailiff_demo.selectors import chooses

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff_demo.registry import Registry
    from bailiff_demo.store import Change, Key, Record, Store

_SCALED = {resource.kind: resource for resource in (DEPLOYMENTS, REPLICASETS, STATEFULSETS)}
# An eviction that has deleted nothing by then is taken as failed.
_DELETION_TIMEOUT = timedelta(minutes=2)


class _UncountableError(Exception):
    """Nobody says how many pods there should be."""


class Disruption:
    """Keeps the status of PodDisruptionBudgets."""

    resources: tuple[Resource, ...] = (PODDISRUPTIONBUDGETS, PODS, *_SCALED.values())

    def __init__(self, registry: Registry) -> None:
        self._store = registry.store
        self._clock = registry.clock
        self._dirty: set[Key] = set()

    def notice(self, resource: Resource, change: Change) -> None:
        """See Controller."""
        bucket = self._store.bucket(PODDISRUPTIONBUDGETS)
        if resource is PODDISRUPTIONBUDGETS:
            self._dirty.add(change.record.key)
        else:
            self._dirty.update(bucket.keys(change.record.key[0]))

    def act(self, now: float) -> float | None:
        """See Controller."""
        dirty, self._dirty = self._dirty, set()
        for key in sorted(dirty):
            record = self._store.bucket(PODDISRUPTIONBUDGETS).get(key)
            if record is not None and self._sync(record):
                self._dirty.add(key)
        return now + _DELETION_TIMEOUT.total_seconds() if self._dirty else None

    def _sync(self, budget: Record) -> bool:
        """Count one budget's pods; whether evictions are still awaited."""
        selector = part(budget.object, "spec").get("selector")
        pods = [
            record.object
            for record in self._store.bucket(PODS).records(budget.key[0])
            if chooses(selector, labels_of(record.object))
        ]
        changed, now = clone(budget.object), self._clock.now()
        awaited = _awaited(changed, pods, now)
        try:
            changed["status"] = _status(self._store, changed, pods, awaited)
            say_allowed(changed, now)
        except _UncountableError as error:
            say_allowed(changed, now, failed=str(error))
        if changed != budget.object:
            self._store.replace(PODDISRUPTIONBUDGETS, budget, changed)
        return bool(awaited)


def _awaited(budget: JsonObject, pods: list[JsonObject], now: datetime) -> JsonObject:
    """Pods that were evicted and have not begun to go."""
    disrupted = part(budget, "status").get("disruptedPods") or {}
    staying = {p["metadata"]["name"] for p in pods if not is_going(p)}
    return {
        name: text
        for name, text in disrupted.items()
        if name in staying and (parse_time(text) or now) + _DELETION_TIMEOUT >= now
    }


def _status(
    store: Store, budget: JsonObject, pods: list[JsonObject], awaited: JsonObject
) -> JsonObject:
    expected, desired = _wanted(store, part(budget, "spec"), pods)
    healthy = sum(
        is_ready(pod) and not is_going(pod) and pod["metadata"]["name"] not in awaited
        for pod in pods
    )
    status: JsonObject = {
        "observedGeneration": budget["metadata"].get("generation", 1),
        "expectedPods": expected,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired) if expected > 0 else 0,
        "disruptedPods": awaited,
        "conditions": part(budget, "status").get("conditions") or [],
    }
    return {name: value for name, value in status.items() if value != {}}


def _wanted(store: Store, spec: JsonObject, pods: list[JsonObject]) -> tuple[int, int]:
    """How many pods there should be, and how many of them healthy."""
    if spec.get("maxUnavailable") is not None:
        expected = _scale(store, pods)
        return expected, max(0, expected - _part_of(spec["maxUnavailable"], expected))
    least = spec.get("minAvailable", 0)
    expected = len(pods) if isinstance(least, int) else _scale(store, pods)
    return expected, _part_of(least, expected)


def _scale(store: Store, pods: list[JsonObject]) -> int:
    """The replicas that the controllers of these pods want; pods without one do not count."""
    wanted: dict[str, int] = {}
    for pod in pods:
        owner = controller_of(pod)
        if owner is None:
            continue
        workload = _find(store, owner, pod["metadata"].get("namespace", ""))
        if workload is None:
            raise _UncountableError(f'found no controllers for pod "{pod["metadata"]["name"]}"')
        wanted[workload["metadata"]["uid"]] = part(workload, "spec").get("replicas", 1)
    return sum(wanted.values())


def _find(store: Store, owner: JsonObject, namespace: str) -> JsonObject | None:
    """What an owner reference means; of a Deployment's ReplicaSet, the Deployment."""
    resource = _SCALED.get(owner.get("kind", ""))
    record = None
    if resource is not None:
        record = store.bucket(resource).get((namespace, owner.get("name", "")))
    if record is None or record.uid != owner.get("uid"):
        return None
    above = controller_of(record.object)
    if above is not None and above.get("kind") == DEPLOYMENTS.kind != owner.get("kind"):
        return _find(store, above, namespace) or record.object
    return record.object


def _part_of(value: object, total: int) -> int:
    """A number, or a percentage of the total rounded up."""
    if isinstance(value, int):
        return value
    return math.ceil(int(str(value).removesuffix("%")) * total / 100)
