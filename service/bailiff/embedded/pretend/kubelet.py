"""The pretended kubelets of all nodes: they register nodes, start pods and end them."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeAlias

from bailiff.embedded.objects import JsonObject, clone, find_condition, parse_time, part
from bailiff.embedded.pretend.actor import BATCH, attempt
from bailiff.embedded.pretend.statuses import ready_node, running_pod
from bailiff.embedded.registry import DeleteOptions, Registry, Target
from bailiff.embedded.resources import NODES, PODS, Resource

if TYPE_CHECKING:
    from bailiff.embedded.settings import EmbeddedSettings
    from bailiff.embedded.storage import Change, Record

_Due: TypeAlias = tuple[float, int, Target, str]


class Kubelet:
    """Starts bound pods after a moment, ends deleted ones when their grace is over."""

    resources: tuple[Resource, ...] = (NODES, PODS)

    def __init__(self, registry: Registry, settings: EmbeddedSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._fresh: list[Record] = []
        self._due: list[_Due] = []
        self._count = 0

    def notice(self, resource: Resource, change: Change) -> None:
        """See Actor."""
        if change.type == "DELETED":
            return
        new = change.record.object
        if resource is NODES:
            if change.type == "ADDED" and find_condition(new, "Ready") is None:
                self._fresh.append(change.record)
        elif part(new, "spec").get("nodeName"):
            self._fresh.append(change.record)

    def act(self, now: float) -> float | None:
        """See Actor."""
        for record in self._fresh:
            self._plan(record, now)
        self._fresh.clear()
        for _ in range(BATCH):
            if not self._due or self._due[0][0] > now:
                break
            _, _, target, uid = heapq.heappop(self._due)
            with attempt(self, "write a status"):
                self._work(target, uid)
        return self._due[0][0] if self._due else None

    def _plan(self, record: Record, now: float) -> None:
        obj = record.object
        if obj["kind"] == "Node":
            delay, resource = 0.0, NODES
        elif obj["metadata"].get("deletionTimestamp"):
            delay, resource = min(self._grace_left(obj), self._settings.stop_seconds), PODS
        elif _is_waiting(obj):
            delay, resource = self._settings.start_seconds, PODS
        else:
            return
        self._count += 1
        target = Target(resource, *record.key)
        heapq.heappush(self._due, (now + delay, self._count, target, record.uid))

    def _grace_left(self, pod: JsonObject) -> float:
        end = parse_time(pod["metadata"]["deletionTimestamp"]) or self._registry.clock.now()
        return max(0.0, (end - self._registry.clock.now()).total_seconds())

    def _work(self, target: Target, uid: str) -> None:
        record = self._registry.store.bucket(target.resource).get(target.key)
        if record is None or record.uid != uid:
            return
        if target.resource is NODES:
            self._replace(
                target, record, ready_node(clone(record.object), self._registry.clock.now())
            )
        elif record.object["metadata"].get("deletionTimestamp"):
            if record.object["metadata"].get("deletionGracePeriodSeconds"):
                self._registry.delete(target, DeleteOptions(grace_seconds=0, uid=uid))
        elif _is_waiting(record.object) and self._has_node(record.object):
            self._replace(
                target, record, running_pod(clone(record.object), self._registry.clock.now())
            )

    def _has_node(self, pod: JsonObject) -> bool:
        key = ("", pod["spec"]["nodeName"])
        return self._registry.store.bucket(NODES).get(key) is not None

    def _replace(self, target: Target, record: Record, obj: JsonObject) -> None:
        self._registry.store.replace(target.resource, record, obj)


def _is_waiting(pod: JsonObject) -> bool:
    status = part(pod, "status")
    return status.get("phase") == "Pending" and not status.get("containerStatuses")
