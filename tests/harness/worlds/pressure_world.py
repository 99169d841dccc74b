"""A world with a node whose memory pods fill, and a kubelet that is asked how full it is."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from bailiff.cluster import Changed
from bailiff.cluster.kubelets import KubeletUnreachableError, ReaderSettings, SummaryRead
from bailiff.cluster.kubelets.summaries import decode_summary
from bailiff.decisions import SYSTEMS
from bailiff.decisions.pressure.findings import SYSTEM
from bailiff.kinds import Node, Pod
from bailiff.kinds.kubelet_configuration import KubeletConfiguration
from bailiff.worker.systems import HALVES, halves_of
from bailiff.worker.systems.pressure.node_writer import ANNOTATION
from bailiff.worker.systems.pressure.settings import PressureMode
from bailiff.worker.systems.pressure.system import PressureInWorker
from tests.harness.clocks import START
from tests.harness.kinds import pod_of
from tests.harness.worlds.merging import strategic_merge
from tests.harness.worlds.world import YESTERDAY, World

if TYPE_CHECKING:
    from bailiff.worker.systems import MakeSystem
    from tests.harness.worlds.calls import Call

MIB = 2**20
CAPACITY = 4096 * MIB
HARD = {"memory.available": "500Mi"}


class Kubelet:
    """Of all nodes; what pods use is what the world's `used` says of them.

    Attributes:
        frozen_at: measured last at that second; None: now.
        broken: why it does not answer; empty: it does.
        breaking: the nodes of which it does not; none: all.
        asked: how often, by node.
        configuration: its answer to /configz.
    """

    is_busy = False

    def __init__(self, world: PressureWorld) -> None:
        self._world = world
        self.frozen_at: float | None = None
        self.broken = ""
        self.breaking: set[str] = set()
        self.asked: dict[str, int] = {}
        self.configuration_of: dict[str, Any] = {"evictionHard": HARD}

    async def configuration(self, node: Node) -> bytes:
        self._answer(node)
        return msgspec.json.encode({"kubeletconfig": self.configuration_of})

    async def summary(self, node: Node) -> SummaryRead:
        self._answer(node)
        name = node.metadata.name
        self.asked[name] = self.asked.get(name, 0) + 1
        body = msgspec.json.encode(self._world.summary(name, self._measured()))
        found = decode_summary(body, name)
        return SummaryRead(found, self._world.clock.now(), 0.01, 1000, via_api_server=False)

    def _answer(self, node: Node) -> None:
        if self.broken and (not self.breaking or node.metadata.name in self.breaking):
            raise KubeletUnreachableError(f"the kubelet of {node.metadata.name}: {self.broken}")

    def _measured(self) -> datetime:
        """By the node's own clock, which nobody steps; kubelets tell whole seconds."""
        now = self._world.clock.elapsed() if self.frozen_at is None else self.frozen_at
        return START + timedelta(seconds=int(now))


class PressureWorld(World):
    """The world, its node n1 selected by the label pool=spot.

    Attributes:
        kubelet: is asked by the worker.
        used: memory by name of pod, in MiB.
        on_disk: bytes in the volume `v`, by name of pod.
        ending: pods that have ended and still use it.
        slow: pods that are deleted use it until they should be gone, and stay after that.
        disks: what is told of file systems, on every node.
        processes_left: of 100, on every node.
        made: how often each pod was, by name.
        given: seconds that each pod was given with its delete, by name.
        noted: the annotation, as often as it was written.
        published: the conditions that were written, by type, each time.
    """

    def __init__(self, mode: PressureMode | None = None, **settings: Any) -> None:
        self.kubelet = Kubelet(self)
        self.used: dict[str, int] = {}
        self.on_disk: dict[str, int] = {}
        self.ending: set[str] = set()
        self.slow = False
        self.processes_left = 90
        self.disks: dict[str, Any] = {}
        self.made: dict[str, int] = {}
        self.given: dict[str, int | None] = {}
        self.noted: list[str] = []
        self.published: list[dict[str, str]] = []
        chosen = mode or mode_with()
        make: MakeSystem = partial(PressureInWorker, kubelets=self.kubelet, mode=chosen)
        systems = halves_of(SYSTEMS, {**HALVES, SYSTEM: make})
        super().__init__(**{"systems": systems} | settings)
        self.verbs |= {"annotate": self._serve_note, "publish": self._serve_publish}

    @property
    def pressure(self) -> PressureInWorker:
        found = self.worker.systems[SYSTEM]
        assert isinstance(found, PressureInWorker)
        return found

    def add_node(self, name: str = "n1", pool: str = "spot", uid: str = "", **status: Any) -> Node:
        meta = {"name": name, "uid": uid or f"uid-{name}", "labels": {"pool": pool}}
        body = {"metadata": meta}
        self._put_node(msgspec.convert(body | {"status": status}, Node))
        return self.nodes[name]

    def fill(self, name: str, mib: int, priority: int = 0, node: str = "n1") -> None:
        """A pod that uses so much; one that is there uses so much from now on."""
        self.used[name] = mib
        if name not in self.pods:
            # One that is made anew is another pod.
            made = self.made[name] = self.made.get(name, 0) + 1
            uid = f"uid-{name}" if made == 1 else f"uid-{name}-{made}"
            meta: dict[str, Any] = {"uid": uid, "creation_timestamp": YESTERDAY}
            self.put(pod_of(name, node, phase="Running", priority=priority, **meta))

    def summary(self, node: str, measured: datetime) -> dict[str, Any]:
        """What the node's kubelet says: of pods that run there and use anything."""
        running = {
            name: self.used[name] * MIB
            for name, pod in self.pods.items()
            if pod.spec.node_name == node and self._uses(pod)
        }
        taken = sum(running.values())
        at = measured.isoformat().replace("+00:00", "Z")
        own = {"time": at, "availableBytes": max(0, CAPACITY - taken), "workingSetBytes": taken}
        pods = [
            {
                "podRef": {
                    "name": name,
                    "namespace": "default",
                    "uid": self.pods[name].metadata.uid,
                },
                "memory": {"time": at, "workingSetBytes": amount},
                "volume": [{"name": "v", "usedBytes": self.on_disk.get(name, 0)}],
            }
            for name, amount in running.items()
        ]
        limit = {"time": at, "maxpid": 100, "curproc": 100 - self.processes_left}
        told = {"nodeName": node, "memory": own, "rlimit": limit, **self.disks}
        return {"node": told, "pods": pods}

    def _uses(self, pod: Pod) -> bool:
        name, ends = pod.metadata.name, pod.metadata.deletion_timestamp
        if self.slow and ends is not None:
            return self.clock.now() < ends
        return name in self.used and (not pod.is_finished or name in self.ending)

    def _take(self, call: Call, current: Pod) -> None:
        self.given[call.name] = call.body.get("gracePeriodSeconds")
        super()._take(call, current)

    def _terminate(self, pod: Pod) -> None:
        grace = self.given[pod.metadata.name] or 0
        self.delete_in(pod.metadata.name, grace if self.slow else 0)

    def delete_in(self, name: str, seconds: float) -> None:
        """It is being deleted, and is to be gone in so many seconds."""
        pod = self.pods[name]
        at = self.clock.now() + timedelta(seconds=seconds)
        self.put(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=at)))

    def kubelet_evicts(self, name: str) -> None:
        """The node's own kubelet has written so; what the pod used is not free yet."""
        self.ending.add(name)
        pod = self.pods[name]
        self.put(replace(pod, status=replace(pod.status, phase="Failed", reason="Evicted")))

    def forget_note(self, node: str) -> None:
        """Another worker has taken away what was remembered of a node."""
        current = self.nodes[node]
        annotations = replace(current.metadata.annotations, pressure_state="")
        metadata = replace(current.metadata, annotations=annotations)
        self.nodes[node] = replace(current, metadata=metadata)
        self._tell(self.node_watch, Changed(self.nodes[node]))

    def evictions(self) -> list[tuple[float, str]]:
        """Second and name of each pod that was deleted."""
        return [(round(at), name) for at, name, _ in self.deleted]

    def events_on(self, name: str) -> list[str]:
        """Reasons of the Events about an object."""
        return [
            call.body["reason"]
            for call in self.calls
            if call.verb == "record" and call.body["involvedObject"]["name"] == name
        ]

    def successor(self, **settings: Any) -> PressureWorld:
        """See World; the node goes on as it is."""
        heir = PressureWorld(**settings)
        heir.pods, heir.nodes, heir.used = self.pods, self.nodes, self.used
        return heir

    async def _serve_note(self, call: Call) -> Node:
        text = call.body["metadata"]["annotations"].get(ANNOTATION)
        if ANNOTATION not in call.body["metadata"]["annotations"]:
            return await self._serve_annotate(call)
        self.noted.append(text or "")
        return self._store(call, {"metadata": {"annotations": {ANNOTATION: text or ""}}})

    async def _serve_publish(self, call: Call) -> Node:
        self.published.append({one["type"]: one["status"] for one in call.conditions})
        return self._store(call, {"status": call.body["status"]})

    def _store(self, call: Call, part: dict[str, Any]) -> Node:
        self._check_admission(call)
        current = self._found(self.nodes, call)
        assert call.uid == current.metadata.uid
        merged = strategic_merge(msgspec.to_builtins(current), part)
        self.nodes[call.name] = msgspec.convert(merged, Node)
        self._tell(self.node_watch, Changed(self.nodes[call.name]))
        return self.nodes[call.name]


def mode_with(interval: float = 10.0, **settings: Any) -> PressureMode:
    """The mode for nodes with the label pool=spot."""
    return PressureMode(
        selector={"pool": "spot"}, reader=ReaderSettings(interval=interval), **settings
    )


def configured(**fields: Any) -> KubeletConfiguration:
    """A configuration with these fields, as of its JSON."""
    return msgspec.convert(fields, KubeletConfiguration)
