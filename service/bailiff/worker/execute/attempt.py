"""One attempt to evict a pod: look, ask the core once more, then delete or evict."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, NamedTuple

import structlog

from bailiff.actions.phases import write_phase
from bailiff.cluster import (
    ClusterError,
    DisruptionBudgetError,
    DryRunUnsupportedError,
)
from bailiff.decisions import Verdict
from bailiff.decisions.policies import group_of
from bailiff.worker.execute.outcomes import Outcome, deadline_of
from bailiff.worker.mirror.fresh_nodes import FreshNodes
from bailiff.worker.timers.eviction import By
from bailiff.worker.timers.queue import SHORTEST_SLEEP

if TYPE_CHECKING:
    from bailiff.actions.ports import PodActions
    from bailiff.clock import Clock
    from bailiff.decisions import EvictionTerms
    from bailiff.decisions.policies import EvictionApi
    from bailiff.kinds import Node, Pod
    from bailiff.lookup import GangBudgets
    from bailiff.worker.timers.evaluator import Evaluator
    from bailiff.worker.timers.eviction import Eviction

log = structlog.get_logger(__name__)


class Attempt:
    """How an attempt is made."""

    def __init__(
        self,
        actions: PodActions,
        clock: Clock,
        evaluator: Evaluator,
    ) -> None:
        """Prepare.

        Args:
            actions: what is done to the cluster.
            clock: for instants and elapsed time.
            evaluator: knows what holds for a pod now.
        """
        self._actions = actions
        self._clock = clock
        self._evaluator = evaluator
        self.fresh_nodes = FreshNodes(clock)
        # Whether the Eviction API is asked; may be set at any time.
        self.eviction_api: EvictionApi | None = None
        self._under_way = 0
        self._ended = asyncio.Event()

    async def __call__(self, eviction: Eviction) -> Outcome:
        """Make one; raises ClusterError."""
        self._under_way += 1
        try:
            return await self._make(eviction)
        finally:
            self._under_way -= 1
            self._ended.set()

    async def until_idle(self) -> None:
        """Return when none is under way; to be called while none is begun."""
        while self._under_way:
            self._ended.clear()
            await self._ended.wait()

    async def _make(self, eviction: Eviction) -> Outcome:
        objection = self._objection(eviction, eviction.pod)
        if objection is not None:
            return self._given_up(eviction, objection)
        node = await self._fresh_node(eviction)
        if node is not None and self._objection(eviction, eviction.pod, node) is not None:
            # The watch of nodes has not told of it yet. It will, and then the evaluator decides.
            return Outcome.CONFLICT
        eviction.by = By.DELETE
        api = self._api_for(eviction)
        if api is not None and await self._evicted(eviction, api):
            return await self._taken(eviction)
        return await self._delete(eviction, node)

    async def rehearse(self, eviction: Eviction, of_gang: GangBudgets | None = None) -> None:
        """Raise ClusterError for what its budget, or a webhook that has denied it, refuses now.

        So that nobody takes a place in a budget over time who would not go. Nothing is deleted.

        Args:
            eviction: that is about to begin.
            of_gang: says whether budgets let all of its gang go; None: it is of none.

        Raises:
            ClusterError: see above.
            LookUpError: budgets cannot be read.
        """
        api = self._api_for(eviction)
        with contextlib.suppress(DryRunUnsupportedError):
            if api is not None and self._clock.elapsed() < deadline_of(eviction.due, api):
                eviction.by = By.EVICTION_API
                try:
                    await self._ask_for_gang(eviction, of_gang)
                    await self._actions.try_evict(eviction.pod)
                except DisruptionBudgetError:
                    self._look_back(eviction)
                    raise
            elif eviction.count_of(Outcome.DENIED.value) and not eviction.terms.keeps_pod:
                await self._actions.try_delete(eviction.pod)

    async def _ask_for_gang(self, eviction: Eviction, budgets: GangBudgets | None) -> None:
        """The Eviction API looks at one pod, and lets the first go where the last may not."""
        why = "" if budgets is None else await budgets.refusal(eviction.pod)
        if why:
            group = group_of(eviction.pod)
            message = f"PodGroup {group} goes whole, and {why}"
            raise DisruptionBudgetError(message, status=429)

    def _api_for(self, eviction: Eviction) -> EvictionApi | None:
        """The Eviction API, where it is asked: not where no pod is deleted, nor against orders."""
        overrides = self._evaluator.overrides_policies(eviction.pod, eviction.finding)
        return None if eviction.terms.keeps_pod or overrides else self.eviction_api

    async def _fresh_node(self, eviction: Eviction) -> Node | None:
        """Its node as it is now, where its taints decide and the mirror may not have the last."""
        if not self._evaluator.goes_by_node(eviction.finding):
            return None
        return await self.fresh_nodes.read(eviction.pod.spec.node_name)

    def until_override(self, eviction: Eviction, delay: float) -> float:
        """Seconds to wait before a pod that its budget protects is tried again.

        That is `delay`, or less where its hard deadline comes before.
        """
        left = deadline_of(eviction.due, self.eviction_api) - self._clock.elapsed()
        return min(delay, max(left, SHORTEST_SLEEP))

    async def _evicted(self, eviction: Eviction, api: EvictionApi) -> bool:
        """Ask the Eviction API; False where the pod is to be deleted without its consent.

        There is no look before it: it writes a condition itself, and takes the pod only in the
        version that the watch has told of.
        """
        eviction.by = By.EVICTION_API
        try:
            await self._actions.evict(eviction.pod, eviction.terms.grace_period_seconds)
        except DisruptionBudgetError as error:
            self._look_back(eviction)
            if self._clock.elapsed() < deadline_of(eviction.due, api):
                raise
            eviction.by = By.OVERRIDE
            log.warning(
                "budget overridden",
                pod=eviction.pod.key,
                uid=eviction.uid,
                deadline_seconds=api.deadline_seconds,
                budget=error.budget,
            )
            return False
        return True

    def _look_back(self, eviction: Eviction) -> None:
        """Since when it would have been due, had this worker been there: once."""
        if eviction.outcome == Outcome.BLOCKED.value:
            return
        since = eviction.finding.due_since
        if since is not None:
            ago = (self._clock.now() - since).total_seconds()
            eviction.due = min(eviction.due, self._clock.elapsed() - ago)

    async def _delete(self, eviction: Eviction, node: Node | None) -> Outcome:
        if eviction.count_of(Outcome.DENIED.value) and not eviction.terms.keeps_pod:
            await self._ask(eviction.pod)
        # The answer shows the pod as it is this moment, and its version: a look before the leap.
        # The delete holds for that version only, so that one whose answer was lost, or that
        # another worker has sent, is never accepted a second time.
        pod = await self._announce(eviction)
        if eviction.terms.keeps_pod:
            return Outcome.MARKED if _shows(pod, eviction.terms) else Outcome.SURVIVED
        objection = self._objection(eviction, pod, node)
        if objection is None:
            await self._actions.delete(pod, eviction.terms.grace_period_seconds)
            return await self._taken(eviction)
        if objection.outcome is Outcome.KEPT and self._objection(eviction, eviction.pod) is None:
            # The watch has not told of it yet. It will, and then the evaluator cancels.
            return Outcome.CONFLICT
        return self._given_up(eviction, objection)

    async def _announce(self, eviction: Eviction) -> Pod:
        """Write into the status what the terms say."""
        # Before it is sent: without an answer it may have been written.
        eviction.marked = eviction.terms.condition is not None
        return await self._actions.set_status(eviction.pod, eviction.terms, self._clock.now())

    async def _taken(self, eviction: Eviction) -> Outcome:
        """The delete is taken: write the phase that the terms name.

        Not before: kube-apiserver deletes a pod that has ended at once, whatever grace period is
        asked for, and asks no budget for it (strategy.go and storage/eviction.go in
        pkg/registry/core/pod).
        Nor again, where it does not succeed: the pod goes, and its kubelet says how it has ended.
        """
        try:
            await write_phase(self._actions, eviction.pod, eviction.terms)
        except (ClusterError, TimeoutError) as error:
            log.info("phase not written", pod=eviction.pod.key, error=str(error))
        return Outcome.DELETED

    async def _ask(self, pod: Pod) -> None:
        """Have a delete denied, if it is still denied, before the pod's condition announces it.

        kube-controller-manager takes a condition back that is followed by no deletion for two
        minutes (pkg/controller/disruption, stalePodDisruptionTimeout): were it written with every
        try, the two would contradict each other for as long as the denial lasts.
        """
        with contextlib.suppress(DryRunUnsupportedError):
            await self._actions.try_delete(pod)

    def _objection(
        self, eviction: Eviction, pod: Pod, node: Node | None = None
    ) -> _Objection | None:
        """What speaks against going on, by the core's word of this moment; None if nothing."""
        if eviction.revoked:
            return _Objection(Outcome.KEPT, eviction.revoked)
        finding = self._evaluator.finding(pod, node)
        if finding is None or finding.verdict is Verdict.KEEP:
            why = finding.message if finding else self._evaluator.why_unsaid(pod)
            return _Objection(Outcome.ENDED if pod.has_ended else Outcome.KEPT, why)
        if finding.verdict is Verdict.EVICT_NOW:
            eviction.finding = finding
            return None
        # It was due, and is not: its deadline has moved, or the clock was put right.
        same = finding.evict_at == eviction.deadline
        return _Objection(Outcome.PUT_OFF if same else Outcome.KEPT, finding.message)

    def _given_up(self, eviction: Eviction, objection: _Objection) -> Outcome:
        if objection.outcome is not Outcome.PUT_OFF:
            eviction.revoked = objection.why
        return objection.outcome


def _shows(pod: Pod, terms: EvictionTerms) -> bool:
    """Whether the phase that the terms name has been written, if they name one."""
    return not terms.phase or pod.status.phase == terms.phase


class _Objection(NamedTuple):
    """Why not to go on, and what the attempt has come to by that."""

    outcome: Outcome
    why: str
