"""A world with devices: slices, claims, rules, and pods that use them; on virtual time."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import Any

import msgspec

from bailiff.cluster import Changed, ClusterError, Deleted, Replaced, Resource
from bailiff.decisions.device_taints import EVICTION_IN_PROGRESS
from bailiff.kinds import (
    Condition,
    DeviceTaintRule,
    Pod,
    ResourceClaim,
    ResourceSlice,
)
from bailiff.worker.mirror.watching import EventSource
from bailiff.worker.systems import DeviceTaintsInWorker, NodeTaintsInWorker, Parts
from bailiff.worker.systems.device_taints.devices import Devices, Kind, State
from tests.harness import device_objects
from tests.harness.clocks import START
from tests.harness.device_objects import BROKEN, DRIVER
from tests.harness.worlds import refusals
from tests.harness.worlds.calls import Call
from tests.harness.worlds.fake_watch import FakeWatch
from tests.harness.worlds.merging import strategic_merge
from tests.harness.worlds.world import World

SERVED: dict[Kind, Resource[Any]] = {
    Kind.SLICES: Resource("resource.k8s.io", "v1", "resourceslices", ResourceSlice, False),
    Kind.CLAIMS: Resource("resource.k8s.io", "v1", "resourceclaims", ResourceClaim),
    Kind.RULES: Resource("resource.k8s.io", "v1beta2", "devicetaintrules", DeviceTaintRule, False),
}


class HandFed:
    """Feeds Devices from a test's watches."""

    def __init__(self, watches: dict[Kind, FakeWatch], devices: Devices) -> None:
        self.devices = devices
        self.watches = watches

    async def run(self) -> None:
        self.devices.state = State.ON
        await self.devices.follow({kind: SERVED[kind] for kind in self.watches})
        async with asyncio.TaskGroup() as group:
            for kind, watch in self.watches.items():
                group.create_task(self._feed(kind, watch))

    async def _feed(self, kind: Kind, watch: FakeWatch) -> None:
        async with contextlib.aclosing(watch.events()) as events:
            async for event in events:
                await self.devices.apply(kind, event)


def instant(seconds: float) -> str:
    """RFC 3339, seconds after the world began."""
    return (START + timedelta(seconds=seconds)).isoformat()


def taint_added(at: float = 0, key: str = BROKEN, effect: str = "NoExecute") -> dict[str, Any]:
    """A device taint as JSON, added that many seconds after the world began."""
    return device_objects.device_taint(effect, key=key, timeAdded=instant(at))


class DeviceWorld(World):
    """The world; the pool and the device of `gpu_pod("a")` bear the names `n1` and `gpu-a`."""

    def __init__(self, follows: tuple[Kind, ...] = tuple(Kind), **settings: Any) -> None:
        self.watches = {kind: FakeWatch() for kind in follows}
        super().__init__(systems=(NodeTaintsInWorker, self._device_taints), **settings)
        self.objects: dict[Kind, dict[str, Any]] = {kind: {} for kind in Kind}
        self.lists = dict.fromkeys(follows, True)  # of each kind: whether it begins with a list
        self.statuses: list[tuple[float, str, Condition]] = []
        self.rule_failures: list[ClusterError] = []
        self.rule_latency = 0.0
        self._uids = 0
        self.verbs["apply"] = self._serve_apply

    def _device_taints(self, parts: Parts) -> DeviceTaintsInWorker:
        self.device_taints = DeviceTaintsInWorker(
            parts, lambda devices: HandFed(self.watches, devices).run
        )
        return self.device_taints

    @property
    def devices(self) -> Devices:
        return self.device_taints.devices

    def successor(self, **settings: Any) -> DeviceWorld:
        heir = DeviceWorld(**settings)
        heir.pods, heir.nodes = self.pods, self.nodes
        heir.objects, heir._uids = self.objects, self._uids
        return heir

    # What happens to the cluster.

    def slice(
        self,
        name: str = "n1",
        generation: int = 0,
        pool: str = "",
        node_name: str = "",
        **taints: list[dict[str, Any]],
    ) -> None:
        """Publish devices, `gpu_a=[taint]` one of the name gpu-a, in place of those before."""
        devices = [{"name": n.replace("_", "-"), "taints": t} for n, t in taints.items()]
        spec: dict[str, Any] = {"driver": DRIVER, "nodeName": node_name}
        spec["pool"] = {"name": pool or name, "generation": generation}
        self._put(Kind.SLICES, name, spec=spec | {"devices": devices})

    def claim(self, name: str, pod: str, *tolerations: dict[str, Any], **more: Any) -> None:
        """A claim that is allocated and reserved for a pod; its device is gpu-POD."""
        device = more.pop("device", f"gpu-{pod}")
        result = {"driver": DRIVER, "pool": more.pop("pool", "n1"), "device": device}
        results = [result | {"tolerations": list(tolerations)}]
        allocation = more.pop("allocation", {"devices": {"results": results}})
        consumer = {"resource": "pods", "name": pod, "uid": more.pop("uid", f"uid-{pod}")}
        status = {"reservedFor": [consumer]} | ({"allocation": allocation} if allocation else {})
        self._put(Kind.CLAIMS, name, status=status, **more)

    def reserve(self, name: str, *consumers: dict[str, Any]) -> None:
        """Reserve a claim for these, and nobody else."""
        body = msgspec.to_builtins(self.objects[Kind.CLAIMS][name])
        body["status"]["reservedFor"] = list(consumers)
        self._put(Kind.CLAIMS, name, status=body["status"])

    def rule(
        self, name: str, effect: str = "NoExecute", at: float = 0, uid: str = "", **selector: str
    ) -> None:
        """A DeviceTaintRule, in place of one of the same name."""
        old = self.objects[Kind.RULES].get(name)
        spec = {"deviceSelector": selector, "taint": taint_added(at, effect=effect)}
        generation = old.metadata.generation + 1 if old else 1
        uid = uid or (old.metadata.uid if old else "")
        self._put(Kind.RULES, name, uid, spec=spec, metadata={"generation": generation})

    def remove(self, kind: Kind, name: str) -> None:
        self.watches[kind].send(Deleted(self.objects[kind].pop(name)))

    def gpu_pod(
        self, name: str, *tolerations: dict[str, Any], node: str = "n1", **more: Any
    ) -> Pod:
        """A pod with a claim of its own."""
        claim = {"name": "gpu", "resourceClaimName": f"claim-{name}"}
        pod = self.add_pod(name, node=node, **more)
        self.claim(f"claim-{name}", name, *tolerations)
        return self.claiming(pod, claim)

    def claiming(self, pod: Pod, *claims: dict[str, Any], **status: Any) -> Pod:
        """The pod with claims by these names."""
        body = msgspec.to_builtins(pod)
        body["spec"]["resourceClaims"] = list(claims)
        body["status"] = body.get("status", {}) | status
        return self.put(msgspec.convert(body, Pod))

    def terminate(self, name: str, by_device_manager: bool = False) -> None:
        """Somebody deletes a pod, gracefully; another worker, if so said."""
        self.put(self.terminating(name, by_device_manager))

    def terminating(self, name: str, by_device_manager: bool) -> Pod:
        """The pod, on its way out."""
        body = msgspec.to_builtins(self.pods[name])
        body["metadata"]["deletionTimestamp"] = self.clock.now().isoformat()
        if by_device_manager:
            mark = {"type": "DisruptionTarget", "status": "True"}
            mark |= {"reason": "DeletionByDeviceTaintManager"}
            body["status"]["conditions"] = [mark]
        return msgspec.convert(body, Pod)

    def _put(self, kind: Kind, name: str, uid: str = "", **parts: Any) -> None:
        old = self.objects[kind].get(name)
        if not uid:
            self._uids += 1
            uid = old.metadata.uid if old else f"uid-{kind}-{self._uids}"
        namespace = {"namespace": "default"} if kind is Kind.CLAIMS else {}
        metadata = {"name": name, "uid": uid} | namespace | parts.pop("metadata", {})
        kept = {"status": msgspec.to_builtins(old.status)} if old and kind is Kind.RULES else {}
        made = msgspec.convert(kept | parts | {"metadata": metadata}, SERVED[kind].kind)
        self.objects[kind][name] = made
        self._tell_of(kind, made)

    def _tell_of(self, kind: Kind, made: Any) -> None:
        if kind in self.watches:
            self.watches[kind].send(Changed(made))

    # What the server does.

    async def _serve_apply(self, call: Call) -> DeviceTaintRule:
        """The status of a rule by server-side apply: conditions of one type merge."""
        await asyncio.sleep(self.rule_latency)
        if self.rule_failures:
            raise self.rule_failures.pop(0)
        self._check_admission(call)
        current = self.objects[Kind.RULES].get(call.name)
        if current is None:
            raise refusals.not_found(call)
        if call.uid not in ("", current.metadata.uid):
            raise refusals.other_uid(call, current.metadata.uid)
        for one in call.conditions:
            at = round(self.clock.monotonic(), 1)
            self.statuses.append((at, call.name, msgspec.convert(one, Condition)))
        return self._write_rule(current, call)

    def _write_rule(self, current: DeviceTaintRule, call: Call) -> DeviceTaintRule:
        status = {"status": call.body["status"]}
        merged = strategic_merge(msgspec.to_builtins(current), status)
        fresh = msgspec.convert(merged, DeviceTaintRule)
        self.objects[Kind.RULES][call.name] = fresh
        self._tell_of(Kind.RULES, fresh)
        return fresh

    async def _work(self, stop: asyncio.Event) -> None:
        for kind, watch in self.watches.items():
            if self.lists[kind]:
                self.relist(kind, watch)
        await self.worker.run(self.pod_events(), self.node_watch, stop)

    def pod_events(self) -> EventSource[Pod]:
        """What the worker learns of pods from."""
        return self.pod_watch

    def relist(self, kind: Kind, watch: FakeWatch | None = None) -> None:
        """The watch of a kind tells of all its objects."""
        watch = watch or self.watches[kind]
        watch.send(Replaced(tuple(self.objects[kind].values()), "1"))

    # What was seen.

    def said(self, rule: str = "rule") -> list[tuple[float, str, str]]:
        """When, as which status and reason, the condition of a rule was written."""
        return [(at, c.status, c.reason) for at, name, c in self.statuses if name == rule]

    def told(self, rule: str = "rule") -> str:
        """The message of a rule's condition as it stands."""
        found = self.objects[Kind.RULES][rule].status.conditions
        return str(next(c.message for c in found if c.type == EVICTION_IN_PROGRESS))

    def metric(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0


def untainted(**settings: Any) -> DeviceWorld:
    """A world with a node n1, whose devices gpu-a, gpu-b and gpu-c have no taints."""
    world = DeviceWorld(**settings)
    world.taint("n1")
    world.slice(gpu_a=[], gpu_b=[], gpu_c=[])
    return world
