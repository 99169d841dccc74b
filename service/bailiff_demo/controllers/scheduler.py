"""The pretended scheduler: taints, cordons, node selectors, then the node with fewest pods."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from bailiff_demo.controllers.controller import BATCH, attempt
from bailiff_demo.controllers.owned import controller_of
from bailiff_demo.controllers.placing import preference, selects, tolerated
from bailiff_demo.objects import (
    JsonObject,
    clone,
    find_condition,
    format_time,
    is_going,
    labels_of,
    part,
    set_condition,
)
from bailiff_demo.registry import Registry, Target, acts
from bailiff_demo.resources import EVENTS, NODES, PODS, Resource

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff_demo.store import Change, Key, Record

_NAME = "default-scheduler"


class Load:
    """How many pods each node has: of each owner, and under the name of none in all."""

    def __init__(self, pods: Iterable[JsonObject]) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        for pod in pods:
            self.add(pod, part(pod, "spec").get("nodeName") or "")

    def add(self, pod: JsonObject, node: str) -> None:
        """Count a pod."""
        self._counts.update({("", node), (_owner(pod), node)})

    def rank(self, pod: JsonObject, node: JsonObject) -> tuple[int, int, int, str]:
        """Lower is better: preferred nodes, then few pods of the same owner, then few at all."""
        name, owner = node["metadata"]["name"], _owner(pod)
        own = self._counts[owner, name] if owner else 0
        return -preference(pod["spec"], node), own, self._counts["", name], name


def _owner(pod: JsonObject) -> str:
    return str((controller_of(pod) or {}).get("uid", ""))


class Scheduler:
    """Binds pods that have no node."""

    resources: tuple[Resource, ...] = (PODS, NODES)

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        # To be looked at now, and those that fitted nowhere until a node changes.
        self._pending: dict[Key, None] = {}
        self._waiting: set[Key] = set()

    def notice(self, resource: Resource, change: Change) -> None:
        """See Controller."""
        key = change.record.key
        if resource is NODES:
            if _node_matters(change):
                self._pending.update(dict.fromkeys(sorted(self._waiting)))
                self._waiting.clear()
        elif change.type == "DELETED":
            self._pending.pop(key, None)
            self._waiting.discard(key)
        elif change.previous is None or _spec_changed(change):
            self._pending[key] = None

    def act(self, now: float) -> float | None:
        """See Controller."""
        if not self._pending:
            return None
        store = self._registry.store
        nodes = [record.object for record in store.bucket(NODES).records()]
        load = Load(record.object for record in store.bucket(PODS).records())
        for key in list(islice(self._pending, BATCH)):
            del self._pending[key]
            record = store.bucket(PODS).get(key)
            if record is not None and _needs_node(record.object):
                with attempt(self, "place a pod"):
                    self._place(record, nodes, load)
        return now if self._pending else None

    def _place(self, record: Record, nodes: list[JsonObject], load: Load) -> None:
        spec = record.object["spec"]
        fitting = [node for node in nodes if selects(spec, node) and tolerated(spec, node)]
        if not fitting:
            self._waiting.add(record.key)
            self._refuse(record, len(nodes))
            return
        best = min(fitting, key=lambda node: load.rank(record.object, node))
        load.add(record.object, best["metadata"]["name"])
        self._bind(record, best["metadata"]["name"])

    def _bind(self, record: Record, node: str) -> None:
        namespace, name = record.key
        acts.bind(self._registry, Target(PODS, namespace, name), {"target": {"name": node}})
        message = f"Successfully assigned {namespace}/{name} to {node}"
        _tell(self._registry, record.object, _NAME, "Scheduled", message)

    def _refuse(self, record: Record, nodes: int) -> None:
        text = f"0/{nodes} nodes are available: none fits its tolerations and node selector."
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": text,
        }
        pod = clone(record.object)
        set_condition(pod, condition, self._registry.clock.now())
        if find_condition(record.object, "PodScheduled") != find_condition(pod, "PodScheduled"):
            self._registry.store.replace(PODS, record, pod)


def _needs_node(pod: JsonObject) -> bool:
    spec = part(pod, "spec")
    ours = spec.get("schedulerName", _NAME) == _NAME and not spec.get("schedulingGates")
    return ours and not spec.get("nodeName") and not is_going(pod)


def _spec_changed(change: Change) -> bool:
    old = change.previous
    return old is None or change.record.object.get("spec") != old.object.get("spec")


def _node_matters(change: Change) -> bool:
    """Heartbeats in the status do not."""
    old = change.previous
    return (
        _spec_changed(change)
        or old is None
        or labels_of(change.record.object) != labels_of(old.object)
    )


def _tell(registry: Registry, about: JsonObject, component: str, reason: str, message: str) -> None:
    """Write an Event of type Normal about an object.

    Raises:
        ApiError: its namespace is gone or going.
    """
    meta = about["metadata"]
    now = format_time(registry.clock.now())
    namespace = meta.get("namespace", "default")
    event = {
        "metadata": {"generateName": f"{meta['name']}."},
        "involvedObject": {
            "kind": about["kind"],
            "apiVersion": about["apiVersion"],
            "name": meta["name"],
            "namespace": meta.get("namespace", ""),
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
        },
        "type": "Normal",
        "reason": reason,
        "message": message,
        "source": {"component": component},
        "reportingComponent": component,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
    registry.create(EVENTS, namespace, event)
