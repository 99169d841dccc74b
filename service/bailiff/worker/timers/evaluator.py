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

from bailiff.decisions import Verdict, join
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.mirror.mirror import PodKey, pod_key
from bailiff.worker.mirror.slices import SLICE, slices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bailiff.clock import Clock
    from bailiff.decisions import Finding
    from bailiff.kinds import Node, Pod
    from bailiff.worker.lead.sharding import HeldShard
    from bailiff.worker.mirror.mirror import Mirror
    from bailiff.worker.observe.telling import Teller
    from bailiff.worker.systems.system import Ask, SystemInWorker
    from bailiff.worker.timers.pending import PendingEvictions


class Marks:
    """Which nodes and pods are to be looked at anew; whoever knows of a change sets them."""

    def __init__(self, share: HeldShard) -> None:
        """Start without any; only nodes of our shard, and pods there, are ours to look after."""
        self.owns = share.owns
        # In a plain dict the way to the first mark grows with those that have been taken.
        self.nodes: OrderedDict[str, None] = OrderedDict()
        self.pods: OrderedDict[PodKey, None] = OrderedDict()
        self.added = asyncio.Event()

    def look_at_node(self, name: str) -> None:
        """Evaluate a node and its pods soon."""
        if self.owns(name):
            self.nodes[name] = None
            self.added.set()

    def look_at_pods(self, keys: Iterable[PodKey]) -> None:
        """Evaluate pods soon."""
        self.pods.update(dict.fromkeys(keys))
        self.added.set()

    def forget(self) -> None:
        """Look at nothing of what was to be looked at."""
        self.nodes.clear()
        self.pods.clear()

    def __len__(self) -> int:
        """How many are not worked off."""
        return len(self.nodes) + len(self.pods)


class Evaluator:
    """Keeps the pending evictions in step with the mirror."""

    def __init__(
        self,
        systems: Mapping[str, SystemInWorker],
        mirror: Mirror,
        marks: Marks,
        pending: PendingEvictions,
        clock: Clock,
        teller: Teller,
    ) -> None:
        """Start idle.

        Args:
            systems: who is asked for findings, by name, in this order.
            mirror: where nodes and pods are found; it tells of changes.
            marks: what to look at.
            pending: the table to keep.
            clock: for `now`.
            teller: told of each eviction that was cancelled though its pod stays, and why.
        """
        self.systems = systems
        self.mirror = mirror
        self.marks = marks
        self._pending = pending
        self._clock = clock
        self._teller = teller
        # The node that is being worked off, where one step was not enough, and its pods to come.
        self._node_under_way: tuple[str, Iterator[list[PodKey]]] | None = None
        mirror.listen_to_nodes(self)
        mirror.listen_to_pods(self)

    def nodes_relisted(self) -> None:
        """See NodeListener; each node is told of."""

    def node_changed(self, name: str, node: Node | None) -> None:  # noqa: ARG002 - the listener's
        """See NodeListener."""
        self.marks.look_at_node(name)

    def pod_changed(self, key: PodKey, pod: Pod) -> None:  # noqa: ARG002 - the listener's
        """See PodListener."""
        self.marks.pods[key] = None
        self.marks.added.set()

    def pod_gone(self, pod: Pod) -> None:
        """See PodListener."""
        self._forget(pod, Outcome.GONE)

    def mark_all(self) -> None:
        """Evaluate everything again: the periodic safety net."""
        for name in self.mirror.node_names():
            self.marks.look_at_node(name)

    def forget_marks(self) -> None:
        """Evaluate nothing of what was to be: our shard of the nodes is about to be another."""
        self.marks.forget()
        self._node_under_way = None

    @property
    def unread_nodes(self) -> int:
        """Nodes whose pods may be to go without being entered yet."""
        return len(self.marks.nodes) + (self._node_under_way is not None)

    @property
    def backlog(self) -> int:
        """Marks not yet worked off."""
        return len(self.marks) + (self._node_under_way is not None)

    async def run(self) -> None:
        """Work marks off until cancelled."""
        await self.mirror.listed.wait()
        while True:
            if self.step():
                # Other tasks get their turn between two marks, however many there are.
                await asyncio.sleep(0)
            else:
                await self.marks.added.wait()
                self.marks.added.clear()

    def step(self) -> bool:
        """Work off a mark, or a part of a node; False without a full picture, or anything to do."""
        if not self.mirror.synced:
            return False
        if self._node_under_way is not None:
            self._evaluate_slice(*self._node_under_way)
            return True
        if self.marks.nodes:
            self._evaluate_node(self.marks.nodes.popitem(last=False)[0])
            return True
        if self.marks.pods:
            self._evaluate_pod(self.marks.pods.popitem(last=False)[0])
            return True
        return False

    def finding(self, pod: Pod, node: Node | None = None) -> Finding | None:
        """What holds for a pod on its mirrored node, or on this one, by all systems, now.

        None where no system has anything to say of it, as of a pod whose node is not known. With
        its trace: it is asked for what is about to be carried out, which the audit log tells.
        """
        node = node or self.mirror.node(pod.spec.node_name)
        return self._ask(node, explain=True)(pod)

    def goes_by_node(self, finding: Finding) -> bool:
        """Whether a finding rests on the node of its pod; see SystemInWorker."""
        return self.systems[finding.system].by_node

    def _ask(self, node: Node | None, *, explain: bool) -> Ask:
        now = self._clock.now()
        prepared = (one.prepare(node, now, explain=explain) for one in self.systems.values())
        return _joined([ask for ask in prepared if ask is not None])

    def _evaluate_node(self, name: str) -> None:
        keys = [pod_key(pod) for pod in self.mirror.pods_on(name)]
        self._evaluate_slice(name, slices(keys))

    def _evaluate_slice(self, name: str, rest: Iterator[list[PodKey]]) -> None:
        keys = next(rest, [])
        # By what is there now: since the step before, the node and its pods may have changed.
        found = (self.mirror.pod(key) for key in keys)
        pods = [pod for pod in found if pod is not None and pod.spec.node_name == name]
        self._evaluate_pods(self.mirror.node(name), pods)
        self._node_under_way = (name, rest) if len(keys) == SLICE else None

    def _evaluate_pods(self, node: Node | None, pods: Iterable[Pod]) -> None:
        ask, marked = self._ask(node, explain=False), self.marks.pods
        if node is not None:
            for system in self.systems.values():
                system.evaluated(node)
        for pod in pods:
            # Mostly there is none, and this is done for all pods of a cluster in a storm.
            if marked:
                # This settles the pod's own mark too.
                marked.pop((pod.metadata.namespace, pod.metadata.name), None)
            self._apply(pod, ask(pod), node)

    def _evaluate_pod(self, key: PodKey) -> None:
        pod = self.mirror.pod(key)
        if pod is None or not pod.spec.node_name or not self.marks.owns(pod.spec.node_name):
            return
        node = self.mirror.node(pod.spec.node_name)
        self._apply(pod, self._ask(node, explain=False)(pod), node)

    def _apply(self, pod: Pod, finding: Finding | None, node: Node | None) -> None:
        if finding is not None and finding.verdict is not Verdict.KEEP:
            replaced = self._pending.schedule(pod, finding)
            if replaced is not None:
                self._teller.ended(replaced, Outcome.PUT_OFF)
        elif pod.has_ended:
            self._leave(pod)
        elif finding is None or node is None:
            self._revoke(pod, self._why_unsaid(pod))
        else:
            self._revoke(pod, finding.message)

    def _leave(self, pod: Pod) -> None:
        """It leaves anyway; no change of taints or tolerations has cancelled its eviction.

        Unless the eviction itself has ended it, by its phase, and is still to delete it.
        """
        eviction = self._pending.get(pod.metadata.uid)
        if eviction is not None and eviction.ends_pod and not pod.is_terminating:
            self._pending.schedule(pod, eviction.finding)
        else:
            self._forget(pod, Outcome.ENDED)

    def _forget(self, pod: Pod, outcome: Outcome) -> None:
        eviction = self._pending.forget(pod.metadata.uid)
        if eviction is not None:
            self._teller.ended(eviction, outcome)

    def _why_unsaid(self, pod: Pod) -> str:
        node = pod.spec.node_name
        if self.mirror.is_unreadable(node):
            return f"node {node} cannot be decoded, nobody is evicted by taints that are not known"
        if self.mirror.node(node) is None:
            return f"node {node} is gone, pod garbage collection owns its pods"
        return "no system has anything to say of the pod"

    def _revoke(self, pod: Pod, why: str) -> None:
        eviction = self._pending.revoke(pod.metadata.uid, why)
        if eviction is not None:
            self._teller.cancelled(eviction, why)


def _joined(asks: list[Ask]) -> Ask:
    """All of them as one; where there is one alone, nothing stands between it and the pods."""
    if len(asks) == 1:
        return asks[0]

    def ask(pod: Pod) -> Finding | None:
        found: Finding | None = None
        for one in asks:
            said = one(pod)
            if said is not None:
                found = said if found is None else join((found, said))
        return found

    return ask
