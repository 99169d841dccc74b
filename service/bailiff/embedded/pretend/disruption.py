"""The pretended disruption controller: how many pods each budget may still lose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bailiff.embedded.objects import JsonObject, clone, labels_of, part
from bailiff.embedded.pretend.owned import is_active, is_ready
from bailiff.embedded.resources import PODDISRUPTIONBUDGETS, PODS, Resource
from bailiff.embedded.selectors import matches_selector

if TYPE_CHECKING:
    from bailiff.embedded.registry import Registry
    from bailiff.embedded.storage import Change, Key, Record


class Disruption:
    """Keeps the status of PodDisruptionBudgets."""

    resources: tuple[Resource, ...] = (PODDISRUPTIONBUDGETS, PODS)

    def __init__(self, registry: Registry) -> None:
        self._store = registry.store
        self._dirty: set[Key] = set()

    def notice(self, resource: Resource, change: Change) -> None:
        """See Actor."""
        bucket = self._store.bucket(PODDISRUPTIONBUDGETS)
        if resource is PODDISRUPTIONBUDGETS:
            self._dirty.add(change.record.key)
        else:
            self._dirty.update(bucket.keys(change.record.key[0]))

    def act(self, now: float) -> float | None:  # noqa: ARG002 - the protocol's
        """See Actor."""
        for key in sorted(self._dirty):
            record = self._store.bucket(PODDISRUPTIONBUDGETS).get(key)
            if record is not None:
                self._sync(record)
        self._dirty.clear()
        return None

    def _sync(self, budget: Record) -> None:
        selector = part(budget.object, "spec").get("selector")
        pods = [
            record.object
            for record in self._store.bucket(PODS).records(budget.key[0])
            if matches_selector(selector, labels_of(record.object)) and is_active(record.object)
        ]
        status = _status(budget.object, pods)
        if status != budget.object.get("status"):
            changed = clone(budget.object)
            changed["status"] = status
            self._store.replace(PODDISRUPTIONBUDGETS, budget, changed)


def _status(budget: JsonObject, pods: list[JsonObject]) -> JsonObject:
    names = {pod["metadata"]["name"] for pod in pods}
    disrupted = part(budget, "status").get("disruptedPods") or {}
    going = {name: time for name, time in disrupted.items() if name in names}
    healthy = sum(is_ready(pod) and pod["metadata"]["name"] not in going for pod in pods)
    desired = _desired(part(budget, "spec"), len(pods))
    status: JsonObject = {
        "observedGeneration": budget["metadata"].get("generation", 1),
        "expectedPods": len(pods),
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired),
    }
    return {**status, "disruptedPods": going} if going else status


def _desired(spec: JsonObject, expected: int) -> int:
    if spec.get("maxUnavailable") is not None:
        return max(0, expected - _scaled(spec["maxUnavailable"], expected))
    return _scaled(spec.get("minAvailable", 1), expected)


def _scaled(value: object, total: int) -> int:
    """A number, or a percentage of the total rounded up."""
    if isinstance(value, int):
        return value
    return math.ceil(int(str(value).removesuffix("%")) * total / 100)
