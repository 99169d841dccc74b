"""From changes of the mirror to timers: who is to go, and when.

Changes only leave a mark; one task works the marks off, node marks before pod marks, so that a
burst of events costs one evaluation and one node is never handled twice at a time. A node with very
many pods takes several steps, each by what is known of the node then. Everything is
level-based: an evaluation looks at what is, not at what changed, so a missed or repeated event
does no harm.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions import NodeTaints, Verdict, join
from bailiff.worker.devices import Devices
from bailiff.worker.first_seen import FirstSeen
from bailiff.worker.mirror import Mirror, PodKey, pod_key
from bailiff.worker.slices import SLICE, slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bailiff.clock import Clock
    from bailiff.cluster import WatchEvent
    from bailiff.decisions import Finding, Options
    from bailiff.kinds import Node, Pod
    from bailiff.worker.eviction import Eviction
    from bailiff.worker.pending import PendingEvictions

# Findings of pods that leave anyway: no timer is needed, and none was cancelled by a change of
# taints or tolerations, so no "Cancelling deletion" is due.
_LEAVING = frozenset({"PodTerminating", "PodFinished"})


class Evaluator:
    """Keeps the pending evictions in step with the mirror."""

    def __init__(
        self,
        pending: PendingEvictions,
        clock: Clock,
        options: Options,
        on_cancelled: Callable[[Eviction, str], None],
        on_observed: Callable[[str], None],
        owns: Callable[[str], bool] = lambda _: True,
    ) -> None:
        """Start idle.

        Args:
            pending: the table to keep.
            clock: for `now`.
            options: of the decisions.
            on_cancelled: told of each eviction that was cancelled though its pod stays, and why.
            on_observed: told the name of each node whose annotation of first observations should
                read otherwise than it does; how is in `first_seen`.
            owns: whether a node, by name, and its pods are ours to look after; where that
                changes, call `forget_marks`, and `mark_all` once it speaks for the new ones.
        """
        self.mirror = Mirror(self)
        self.first_seen = FirstSeen(clock)
        self.devices = Devices(options, self.look_at_pods)
        self._pending = pending
        self._clock = clock
        self._options = options
        self._explaining = replace(options, explain=True)
        self._usual = options
        self._on_cancelled = on_cancelled
        self._on_observed = on_observed
        self.owns = owns
        # Told of all nodes, also those that are not ours.
        self.on_node: Callable[[str], None] = lambda _: None
        # In a plain dict the way to the first mark grows with those that have been taken.
        self._dirty_nodes: OrderedDict[str, None] = OrderedDict()
        self._dirty_pods: OrderedDict[PodKey, None] = OrderedDict()
        # The node that is being worked off, where one step was not enough, and its pods to come.
        self._node_under_way: tuple[str, Iterator[list[PodKey]]] | None = None
        self._wake = asyncio.Event()

    async def apply_node(self, event: WatchEvent[Node]) -> None:
        """Take in what the watch of nodes told."""
        self.first_seen.apply(event)
        await self.mirror.apply_node(event)

    def node_changed(self, name: str) -> None:
        """See MirrorListener."""
        self.on_node(name)
        self.look_at_node(name)

    def look_at_node(self, name: str) -> None:
        """Evaluate a node and its pods soon."""
        if self.owns(name):
            self._dirty_nodes[name] = None
            self._wake.set()

    def pod_changed(self, key: PodKey, pod: Pod) -> None:
        """See MirrorListener."""
        self.devices.look_at_pod(key, pod)
        self._dirty_pods[key] = None
        self._wake.set()

    def look_at_pods(self, keys: Iterable[PodKey]) -> None:
        """Evaluate pods soon."""
        self._dirty_pods.update(dict.fromkeys(keys))
        self._wake.set()

    def pod_gone(self, pod: Pod) -> None:
        """See MirrorListener."""
        self.devices.drop_pod(pod_key(pod))
        self._pending.forget(pod.metadata.uid)

    def all_listed(self) -> None:
        """See MirrorListener."""
        self._wake.set()

    def mark_all(self) -> None:
        """Evaluate everything again: the periodic safety net."""
        for name in self.mirror.node_names():
            self.look_at_node(name)

    def forget_marks(self) -> None:
        """Evaluate nothing of what was to be: `owns` is about to speak for other nodes."""
        self._dirty_nodes.clear()
        self._dirty_pods.clear()
        self._node_under_way = None

    @property
    def unread_nodes(self) -> int:
        """Nodes whose pods may be to go without being entered yet."""
        return len(self._dirty_nodes) + (self._node_under_way is not None)

    def explain(self, always: bool) -> None:
        """Whether all findings carry their trace, which names the taint, and not only the last."""
        self._usual = self._explaining if always else self._options
        self.mark_all()

    @property
    def backlog(self) -> int:
        """Marks not yet worked off."""
        return self.unread_nodes + len(self._dirty_pods)

    async def run(self) -> None:
        """Work marks off until cancelled."""
        while True:
            if self.step():
                # Other tasks get their turn between two marks, however many there are.
                await asyncio.sleep(0)
            else:
                await self._wake.wait()
                self._wake.clear()

    def step(self) -> bool:
        """Work off a mark, or a part of a node; False without a full picture, or anything to do."""
        if not self.mirror.synced:
            return False
        if self._node_under_way is not None:
            self._evaluate_slice(*self._node_under_way)
            return True
        if self._dirty_nodes:
            self._evaluate_node(self._dirty_nodes.popitem(last=False)[0])
            return True
        if self._dirty_pods:
            self._evaluate_pod(self._dirty_pods.popitem(last=False)[0])
            return True
        return False

    def finding(self, pod: Pod, node: Node | None = None) -> Finding | None:
        """What holds for a pod on its mirrored node, or on this one, and with its devices, now.

        None where the node is not known, and the pod has no devices. With its trace: it is asked
        for what is about to be carried out, which the audit log tells.
        """
        node = node or self.mirror.node(pod.spec.node_name)
        if node is None:
            return self.devices.find(pod, self._clock.now(), self._explaining)
        by_node = self._taints(node, self._explaining).decide(pod)
        return self._with_devices(by_node, pod, self._explaining)

    def _evaluate_node(self, name: str) -> None:
        keys = [pod_key(pod) for pod in self.mirror.pods_on(name)]
        self._evaluate_slice(name, slices(keys))

    def _evaluate_slice(self, name: str, rest: Iterator[list[PodKey]]) -> None:
        keys = next(rest, [])
        # By what is there now: since the step before, the node and its pods may have changed.
        found = (self.mirror.pod(key) for key in keys)
        pods = [pod for pod in found if pod is not None and pod.spec.node_name == name]
        node = self.mirror.node(name)
        if node is None:
            for pod in pods:
                self._evaluate_orphan(pod)
        else:
            self._evaluate_pods_on(node, pods)
        self._node_under_way = (name, rest) if len(keys) == SLICE else None

    def _evaluate_pods_on(self, node: Node, pods: Iterable[Pod]) -> None:
        taints = self._taints(node, self._usual)
        self._write_down(node)
        marked, with_devices = self._dirty_pods, self.devices.pods
        for pod in pods:
            found = taints.decide(pod)
            # Mostly there are neither, and this is done for all pods of a cluster in a storm.
            if marked or with_devices:
                key = pod.metadata.namespace, pod.metadata.name
                if key in marked:
                    # This settles the pod's own mark too.
                    del marked[key]
                if key in with_devices:
                    found = self._with_devices(found, pod, self._usual)
            self._apply(pod, found)

    def _evaluate_orphan(self, pod: Pod) -> None:
        """A pod whose node is gone: its taints have no say any more, its devices' still have."""
        found = self.devices.find(pod, self._clock.now(), self._usual)
        if found is None or (found.verdict is Verdict.KEEP and found.reason not in _LEAVING):
            self._revoke(pod, self._why_orphan(pod.spec.node_name))
        else:
            self._apply(pod, found)

    def _why_orphan(self, node: str) -> str:
        if self.mirror.is_unreadable(node):
            return f"node {node} cannot be decoded, nobody is evicted by taints that are not known"
        return f"node {node} is gone, pod garbage collection owns its pods"

    def _evaluate_pod(self, key: PodKey) -> None:
        pod = self.mirror.pod(key)
        if pod is None or not pod.spec.node_name or not self.owns(pod.spec.node_name):
            return
        node = self.mirror.node(pod.spec.node_name)
        if node is None:
            self._evaluate_orphan(pod)
        else:
            found = self._taints(node, self._usual).decide(pod)
            if key in self.devices.pods:
                found = self._with_devices(found, pod, self._usual)
            self._apply(pod, found)

    def _with_devices(self, by_node: Finding, pod: Pod, options: Options) -> Finding:
        found = self.devices.find(pod, self._clock.now(), options)
        return by_node if found is None else join((by_node, found))

    def _taints(self, node: Node, options: Options) -> NodeTaints:
        since = self.first_seen.since(node)
        return NodeTaints(node, self._clock.now(), options=options, since=since)

    def _write_down(self, node: Node) -> None:
        if self.first_seen.wanted_note(node) is not None:
            self._on_observed(node.metadata.name)

    def _apply(self, pod: Pod, finding: Finding) -> None:
        if finding.verdict is not Verdict.KEEP:
            self._pending.schedule(pod, finding)
        elif finding.reason in _LEAVING:
            self._pending.forget(pod.metadata.uid)
        else:
            self._revoke(pod, finding.message)

    def _revoke(self, pod: Pod, why: str) -> None:
        eviction = self._pending.revoke(pod.metadata.uid, why)
        if eviction is not None:
            self._on_cancelled(eviction, why)
