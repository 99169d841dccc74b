"""A world whose nodes may fall silent: kubelets that renew Leases, until they do not."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace as with_fields
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec.structs import replace

from bailiff.cluster import Changed, Deleted, Replaced
from bailiff.cluster.errors import UnreachableError
from bailiff.decisions import SYSTEMS
from bailiff.decisions.node_loss.facts import OffProof
from bailiff.decisions.node_loss.findings import SYSTEM
from bailiff.kinds import Node, NodeSpec, Pod, Taint
from bailiff.kinds.lease import Lease, LeaseSpec
from bailiff.kinds.meta import ObjectMeta
from bailiff.worker.systems import HALVES, halves_of
from bailiff.worker.systems.node_loss.notes import ANNOTATION
from bailiff.worker.systems.node_loss.settings import NodeLossMode
from bailiff.worker.systems.node_loss.system import NodeLossInWorker
from bailiff.worker.systems.system import Source
from tests.harness.clocks import START
from tests.harness.kinds import pod_of
from tests.harness.worlds import refusals
from tests.harness.worlds.fake_watch import FakeWatch
from tests.harness.worlds.merging import merge_patch
from tests.harness.worlds.world import YESTERDAY, World

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from datetime import datetime

    from bailiff.cluster import Cluster
    from bailiff.worker.mirror.watching import Watches
    from bailiff.worker.systems.system import Parts
    from tests.harness.worlds.calls import Call

ZONE = "topology.kubernetes.io/zone"
RENEW_EVERY = 10.0


class SaidOff:
    """A fence that says what a test says, and counts who asks."""

    def __init__(self, *, off: bool = True) -> None:
        self.off = off
        self.asked: list[str] = []

    async def ask(self, node: str) -> OffProof:
        self.asked.append(node)
        return OffProof(off=self.off, by="test", message="off" if self.off else "no answer")


class _Cluster:
    """What a system reads besides pods and nodes."""

    def __init__(self, world: NodeLossWorld) -> None:
        self._world = world

    async def get(self, resource: Any, name: str, namespace: str = "") -> Any:
        if self._world.unreachable:
            raise UnreachableError("connection refused")
        self._world.reads.append((resource.plural, name))
        if resource.plural in self._world.forbidden:
            raise refusals.denied(_call(resource, name, namespace), 403)
        await asyncio.sleep(self._world.read_latency)
        kinds: dict[str, Mapping[str, Any]] = {
            "nodes": self._world.nodes,
            "leases": self._world.leases,
            "persistentvolumeclaims": self._world.claims,
        }
        found = kinds[resource.plural].get(name)
        if found is None:
            raise refusals.not_found(_call(resource, name, namespace))
        return found

    async def list(self, resource: Any, *, namespace: str = "") -> Any:
        assert resource.plural == "daemonsets"
        items = [one for one in self._world.daemon_sets if one.metadata.namespace == namespace]
        return SimpleNamespace(items=tuple(items))


def _call(resource: Any, name: str, namespace: str) -> Call:
    told = {"plural": resource.plural, "namespace": namespace, "name": name}
    return cast("Call", SimpleNamespace(verb="get", **told))


class _Watches:
    """Of Leases alone."""

    def __init__(self, world: NodeLossWorld) -> None:
        self.healths: dict[str, Any] = {}
        self._world = world

    def open(self, resource: Any, selection: Any) -> FakeWatch:
        assert selection.namespace == "kube-node-lease", resource
        watch = self._world.lease_watch
        watch.health = None  # type: ignore[attr-defined]
        return watch


class NodeLossWorld(World):
    """The world; its nodes have kubelets that renew their Leases every 10 s.

    Attributes:
        leases: by node.
        silent: nodes whose kubelet does not renew.
        claims: PersistentVolumeClaims by name.
        daemon_sets: those that there are.
        forbidden: resources that may not be read.
        unreachable: nothing can be read besides what the watches tell.
        lease_watch_broken: the watch of Leases tells nothing.
        reads: of single objects, by resource and name.
        read_latency: seconds that each of these takes.
    """

    def __init__(self, mode: NodeLossMode | None = None, **settings: Any) -> None:
        self.leases: dict[str, Lease] = {}
        self.silent: set[str] = set()
        self.claims: dict[str, Any] = {}
        self.daemon_sets: list[Any] = []
        self.forbidden: set[str] = set()
        self.unreachable = self.lease_watch_broken = False
        self.reads: list[tuple[str, str]] = []
        self.read_latency = 0.0
        self.lease_watch = FakeWatch()
        make = partial(self._make, mode=mode or NodeLossMode())
        systems = halves_of(SYSTEMS, {**HALVES, SYSTEM: make})
        super().__init__(**{"systems": systems} | settings)
        self.verbs["annotate"] = self._serve_node

    def _make(self, parts: Parts, mode: NodeLossMode) -> NodeLossInWorker:
        source = Source(cast("Cluster", _Cluster(self)), cast("Watches", _Watches(self)))
        return NodeLossInWorker(with_fields(parts, source=source), mode)

    @property
    def loss(self) -> NodeLossInWorker:
        found = self.worker.systems[SYSTEM]
        assert isinstance(found, NodeLossInWorker)
        return found

    # What happens to the cluster.

    def add_node(self, name: str, zone: str = "a", ready: str = "True", *, leased: bool = True):
        labels = {ZONE: zone} if zone else {}
        meta = {"name": name, "uid": f"uid-{name}", "labels": labels}
        self._put_node(msgspec.convert({"metadata": meta, "status": self._status(ready)}, Node))
        if leased:
            self.renew(name)

    def add_nodes(self, number: int, zone: str = "a") -> list[str]:
        names = [f"{zone}{index}" for index in range(number)]
        for name in names:
            self.add_node(name, zone)
        return names

    def set_ready(self, name: str, ready: str) -> None:
        """As a kubelet, or kube-controller-manager, writes it."""
        merged = msgspec.to_builtins(self.nodes[name]) | {"status": self._status(ready)}
        self._put_node(msgspec.convert(merged, Node))

    def _status(self, ready: str) -> dict[str, Any]:
        at = self._now().isoformat()
        condition = {"type": "Ready", "status": ready, "lastTransitionTime": at}
        return {"conditions": [condition]}

    def _now(self) -> Any:
        """By the nodes' clocks, which nobody steps."""
        with contextlib.suppress(RuntimeError):
            return self.at(self.clock.monotonic())
        return START

    def at(self, second: float) -> datetime:
        """The instant of a second of the world's time."""
        return START + timedelta(seconds=second)

    def add(
        self,
        name: str,
        node: str,
        owner: str = "ReplicaSet",
        claim: str = "",
        created: datetime = YESTERDAY,
    ) -> Pod:
        """A pod that belongs to an owner of this kind; empty: to nobody."""
        reference = {"kind": owner, "name": f"of-{name}", "controller": True}
        spec: dict[str, Any] = {"nodeName": node}
        if claim:
            volume = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
            spec["volumes"] = [volume]
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        made = msgspec.to_builtins(pod_of(name, node, uid=f"uid-{name}"))
        made["metadata"] |= {
            "creationTimestamp": created.isoformat(),
            "ownerReferences": [reference] if owner else [],
        }
        made |= {"spec": made["spec"] | spec, "status": status}
        return self.put(msgspec.convert(made, Pod))

    def annotate(self, name: str, text: str) -> None:
        """As whoever may write to a node."""
        current = self.nodes[name]
        annotations = replace(current.metadata.annotations, node_loss=text)
        metadata = replace(current.metadata, annotations=annotations)
        self._put_node(replace(current, metadata=metadata))

    def taint_node(self, name: str, *taints: Taint) -> None:
        self._put_node(replace(self.nodes[name], spec=NodeSpec(taints=taints)))

    def remake(self, name: str) -> None:
        """Somebody deletes it and makes it anew under its name."""
        before = self.nodes[name]
        self.remove_node(name)
        metadata = replace(before.metadata, uid=f"{before.metadata.uid}-again")
        self._put_node(replace(before, metadata=metadata))

    def fall_silent(self, *names: str) -> None:
        self.silent.update(names)

    def come_back(self, *names: str) -> None:
        """Kubelets renew again, and say that they are ready."""
        self.silent.difference_update(names)
        for name in names:
            self.renew(name)
            self.set_ready(name, "True")

    def renew(self, name: str, *, told: bool = True) -> None:
        """A kubelet renews its Lease; `told`: the watch says so."""
        spec = LeaseSpec(holder_identity=name, renew_time=self._now())
        self.leases[name] = Lease(metadata=ObjectMeta(name=name), spec=spec)
        if told and not self.lease_watch_broken:
            self.lease_watch.send(Changed(self.leases[name]))

    def delete_lease(self, name: str) -> None:
        """Somebody does; a kubelet that lives would make it anew."""
        self.lease_watch.send(Deleted(self.leases.pop(name)))

    async def _renew_forever(self) -> None:
        while True:
            for name in [one for one in self.leases if one not in self.silent]:
                if name in self.nodes:
                    self.renew(name)
            await asyncio.sleep(RENEW_EVERY)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self.lease_watch.send(Replaced(tuple(self.leases.values()), "1"))
        renewing = asyncio.create_task(self._renew_forever())
        try:
            async with super().running():
                yield
        finally:
            renewing.cancel()

    def successor(self, mode: NodeLossMode | None = None, **settings: Any) -> NodeLossWorld:
        """See World; Leases and nodes go on as they are."""
        heir = NodeLossWorld(mode, **settings)
        heir.pods, heir.nodes = self.pods, self.nodes
        heir.leases, heir.silent, heir.claims = self.leases, self.silent, self.claims
        heir.daemon_sets, heir.lingering = self.daemon_sets, self.lingering
        return heir

    # What may be looked at.

    def gone(self) -> dict[str, float]:
        """Name and second of each delete."""
        return {name: round(at) for at, name, _ in self.deleted}

    def note_on(self, node: str) -> dict[str, Any]:
        text = self.nodes[node].metadata.annotations.node_loss
        return msgspec.json.decode(text) if text else {}

    def events_on(self, name: str) -> list[str]:
        """Reasons of the Events about an object."""
        return [
            call.body["reason"]
            for call in self.calls
            if call.verb == "record" and call.body["involvedObject"]["name"] == name
        ]

    async def _serve_node(self, call: Call) -> Node:
        annotations = call.body["metadata"].get("annotations", {})
        if "spec" not in call.body and ANNOTATION not in annotations:
            return await self._serve_annotate(call)
        self._check_admission(call)
        current = self._found(self.nodes, call)
        if call.uid != current.metadata.uid:
            raise refusals.other_uid_in_patch(call, current.metadata.uid)
        self._check_version(call, current)
        patch = {name: part for name, part in call.body.items() if name in ("metadata", "spec")}
        merged = merge_patch(msgspec.to_builtins(current), patch)
        self.nodes[call.name] = msgspec.convert(merged, Node)
        self._tell(self.node_watch, Changed(self.nodes[call.name]))
        return self.nodes[call.name]

    def mark_terminating(self, name: str, seconds: float = 0.0) -> None:
        """Somebody has deleted it, with so many seconds to end."""
        pod = self.pods[name]
        at = self.clock.now() + timedelta(seconds=seconds)
        self.put(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=at)))
