"""From changes of the mirror to timers: who is to go, and when.

Changes only leave a mark; one task works the marks off, node marks before pod marks, so that a
burst of events costs one evaluation and one node is never handled twice at a time. A node with very
many pods takes several steps, each by what is known of the node then. Everything is
level-based: an evaluation looks at what is, not at what changed, so a missed or repeated event
does no harm.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, NamedTuple

from bailiff.decisions import Verdict
from bailiff.worker.execute.outcomes import Outcome
from bailiff.worker.mirror.mirror import PodKey, pod_key
from bailiff.worker.mirror.slices import SLICE, slices
from bailiff.worker.timers.rounds import Rounds
from bailiff.worker.timers.wakes import Wakes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bailiff.clock import Clock
    from bailiff.decisions import Finding, Options
    from bailiff.decisions.policies import Publisher
    from bailiff.kinds import Node, Pod
    from bailiff.worker.mirror.mirror import Mirror
    from bailiff.worker.observe.telling import Teller
    from bailiff.worker.systems.system import SystemInWorker
    from bailiff.worker.timers.marks import Marks
    from bailiff.worker.timers.pending import PendingEvictions
    from bailiff.worker.timers.rounds import Prepared


class _UnderWay(NamedTuple):
    """A node of very many pods, of which some have been looked at.

    Attributes:
        rest: the pods to come, by slices, as they were in the first step.
        prepared: as of the first step, when the whole node was looked at.
    """

    name: str
    rest: Iterator[list[Pod]]
    prepared: Prepared


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
        options: Options,
    ) -> None:
        """Start idle.

        Args:
            systems: who is asked for findings, by name, in this order.
            mirror: where nodes and pods are found; it tells of changes.
            marks: what to look at.
            pending: the table to keep.
            clock: for `now`.
            teller: told of each eviction that was cancelled though its pod stays, and why.
            options: how it is decided.
        """
        self.systems = systems
        self.mirror = mirror
        self.marks = marks
        self._pending = pending
        self._teller = teller
        self._rounds = Rounds(systems, mirror, clock, options)
        self._wakes = Wakes(clock)
        # The node that is being worked off, where one step was not enough.
        self._node_under_way: _UnderWay | None = None
        mirror.listen_to_nodes(self)
        mirror.listen_to_pods(self)

    def nodes_relisted(self) -> None:
        """See NodeListener; each node is told of."""

    def node_changed(self, name: str, node: Node | None) -> None:
        """See NodeListener."""
        self.marks.look_at_node(name)
        if node is None and not self.mirror.is_unreadable(name):
            for system in self.systems.values():
                system.forget_node(name)

    def pod_changed(self, key: PodKey, pod: Pod) -> None:  # noqa: ARG002 - the listener's
        """See PodListener."""
        self.marks.pods[key] = None
        self.marks.added.set()

    def pod_gone(self, pod: Pod) -> None:
        """See PodListener."""
        self._forget(pod, Outcome.GONE)
        if self._rounds.rank_on(pod.spec.node_name):
            # Its neighbours are ranked without it from now on.
            self.marks.look_at_node(pod.spec.node_name)

    def mark_all(self) -> None:
        """Evaluate everything again: the periodic safety net."""
        for name in self.mirror.node_names():
            self.marks.look_at_node(name)

    def forget_marks(self) -> None:
        """Evaluate nothing of what was to be: our shard of the nodes is about to be another."""
        self.marks.forget()
        self._node_under_way = None

    @property
    def is_behind(self) -> bool:
        """Whether pods may be to go, by what is known, without being entered yet."""
        return self.backlog > 0 or any(one.is_taking_in for one in self.systems.values())

    @property
    def backlog(self) -> int:
        """Marks not yet worked off."""
        return len(self.marks) + (self._node_under_way is not None)

    async def run(self) -> None:
        """Work marks off until cancelled."""
        await self.mirror.listed.wait()
        while True:
            for name in self._wakes.take_due():
                self.marks.look_at_node(name)
            if self.step():
                # Other tasks get their turn between two marks, however many there are.
                await asyncio.sleep(0)
            else:
                await self._next_mark()

    async def _next_mark(self) -> None:
        """Return when there may be a mark, or a node to be looked at again."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._wakes.wait()):
                await self.marks.added.wait()
        self.marks.added.clear()

    def step(self) -> bool:
        """Work off a mark, or a part of a node; False without a full picture, or anything to do."""
        if not self.mirror.synced:
            return False
        if self._node_under_way is not None:
            self._evaluate_slice(self._node_under_way)
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
        return self._rounds.of_pod(pod, node, explain=True).asking.joined(pod)

    def goes_by_node(self, finding: Finding) -> bool:
        """Whether a finding rests on the node of its pod; see SystemInWorker."""
        return self.systems[finding.system].by_node

    def publisher(self, pod: Pod, finding: Finding) -> Publisher | None:
        """Who published the slice for whose taint a pod goes; None: it goes for something else."""
        return self.systems[finding.system].publisher(pod)

    def overrides_policies(self, pod: Pod, finding: Finding) -> bool:
        """Whether the policies are set aside for it; see SystemInWorker."""
        return self.systems[finding.system].overrides_policies(pod)

    def _evaluate_node(self, name: str) -> None:
        prepared = self._rounds.of_node(name)
        self._wakes.set(name, prepared.holds_until)
        self._tell(prepared)
        pods = prepared.scene.pods
        if len(pods) <= SLICE:
            self._settle(prepared, pods)
        else:
            self._evaluate_slice(_UnderWay(name, slices(pods), prepared))

    def _tell(self, prepared: Prepared) -> None:
        """Systems, what their round says of the node."""
        node = prepared.scene.node
        if node is not None:
            for system, said in prepared.rounds:
                system.evaluated(node, said.report)

    def _evaluate_slice(self, under_way: _UnderWay) -> None:
        name, rest, before = under_way
        seen = next(rest, [])
        # By what is there now: since the step before, the node and its pods may have changed. One
        # that has come since is in no scene that was ranked, and has a mark of its own.
        pods = [now for pod in seen if (now := self._as_it_is(pod, name)) is not None]
        self._settle(self._rounds.again(name, before), pods)
        self._node_under_way = under_way if len(seen) == SLICE else None

    def _as_it_is(self, pod: Pod, node: str) -> Pod | None:
        """The same pod now; None: it is gone from the node, whoever may have its name."""
        now = self.mirror.pod(pod_key(pod))
        if now is None or now.metadata.uid != pod.metadata.uid or now.spec.node_name != node:
            return None
        return now

    def _settle(self, prepared: Prepared, pods: Iterable[Pod]) -> None:
        ask, node, marked = prepared.asking.joined, prepared.scene.node, self.marks.pods
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
        if self._rounds.rank_on(pod.spec.node_name):
            self._evaluate_node(pod.spec.node_name)
            return
        prepared = self._rounds.of_pod(pod)
        self._wakes.set_sooner(pod.spec.node_name, prepared.holds_until)
        self._apply(pod, prepared.asking.joined(pod), prepared.scene.node)

    def _apply(self, pod: Pod, finding: Finding | None, node: Node | None) -> None:
        if finding is not None and finding.verdict is not Verdict.KEEP:
            replaced = self._pending.schedule(pod, finding)
            if replaced is not None:
                self._teller.ended(replaced, Outcome.PUT_OFF)
        elif pod.has_ended:
            # It leaves anyway; no change of taints or tolerations has cancelled its eviction.
            self._forget(pod, Outcome.ENDED)
        elif finding is None or node is None:
            self._revoke(pod, self.why_unsaid(pod))
        else:
            self._revoke(pod, finding.message)

    def _forget(self, pod: Pod, outcome: Outcome) -> None:
        # A pod that is terminating is there still, and counts among the evicted if it was.
        is_leaving = outcome is Outcome.ENDED and pod.is_terminating
        pending = self._pending
        eviction = pending.leave(pod) if is_leaving else pending.forget(pod.metadata.uid)
        if eviction is not None:
            self._teller.ended(eviction, outcome)

    def why_unsaid(self, pod: Pod) -> str:
        """For people, why no system says anything of a pod."""
        node = pod.spec.node_name
        if self.mirror.is_unreadable(node):
            return f"node {node} cannot be decoded, nobody is evicted by what is not known of it"
        if self.mirror.node(node) is None:
            return f"node {node} is gone, pod garbage collection owns its pods"
        return "no system has anything to say of the pod"

    def _revoke(self, pod: Pod, why: str) -> None:
        eviction = self._pending.revoke(pod.metadata.uid, why)
        if eviction is not None:
            self._teller.cancelled(eviction, why)
