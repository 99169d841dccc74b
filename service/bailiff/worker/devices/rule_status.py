"""Writes how far the eviction by each DeviceTaintRule is, beside everything else.

One task and one queue of deadlines by UID of rule. A rule that is new, or whose spec is, is looked
at now. Whatever else may change what its status says (its pods come, go, or are evicted) leads to
a look 10 s later, as upstream has it, and the core sees to it that two writes lie as far apart.
What a status is to say is the core's (`status_of`); here is only when to ask, and what to do if it
cannot be written.

Of several shards the leader of the first writes: like all workers it knows all pods with claims,
and so tells of all shares.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import structlog

from bailiff.cluster import ClusterError
from bailiff.decisions.device_taints import STATUS_PERIOD
from bailiff.kinds import NO_EXECUTE
from bailiff.worker.devices.devices import Kind
from bailiff.worker.outcomes import RETRIES, Outcome, classify
from bailiff.worker.queue import DeadlineQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bailiff.clock import Clock
    from bailiff.decisions import Options
    from bailiff.kinds import Condition, DeviceTaintRule
    from bailiff.worker.actions import RuleActions
    from bailiff.worker.devices.devices import Devices
    from bailiff.worker.metrics import WorkerMetrics

_PERIOD = STATUS_PERIOD.total_seconds()
# The longest sleep, as for evictions: whoever was suspended is late by no more.
_LONGEST_SLEEP = 1.0
_SHORTEST_SLEEP = 0.001
_WRITTEN = "written"

log = structlog.get_logger(__name__)


class RuleStatusWriter:
    """Asks the core what the statuses are to say, and writes that."""

    def __init__(
        self,
        devices: Devices,
        actions: RuleActions,
        metrics: WorkerMetrics,
        clock: Clock,
        options: Options,
        *,
        may_write: Callable[[], bool],
        write_timeout: float,
        rng: random.Random | None = None,
    ) -> None:
        """Prepare.

        Args:
            devices: tells of rules.
            actions: how a status is written.
            metrics: where writes are counted.
            clock: for both kinds of time.
            options: of the decisions.
            may_write: whether this worker is the one to write, this moment; call `look_at_all`
                when that comes true.
            write_timeout: seconds that one write may take.
            rng: for the jitter of retries.
        """
        self._devices = devices
        self._actions = actions
        self._metrics = metrics
        self._clock = clock
        self._options = options
        self._may_write = may_write
        self._write_timeout = write_timeout
        self._rng = rng or random.Random()  # noqa: S311 - jitter, no secret
        self._queue: DeadlineQueue[str] = DeadlineQueue()
        self._names: dict[str, str] = {}
        # Writes of a rule that have failed since the last that has not, and how the last one did.
        self._failed: dict[str, tuple[int, Outcome]] = {}
        self._changed = asyncio.Event()
        # Held while a rule is looked at, and its status perhaps written.
        self._looking = asyncio.Lock()
        devices.on_rules = self.look_later
        devices.on_new_rule = self.look_now

    def __len__(self) -> int:
        """Rules that wait for a look; none while it is not our turn to write."""
        return len(self._queue)

    def look_now(self, rule: DeviceTaintRule) -> None:
        """The rule is new, or its spec is."""
        self._failed.pop(rule.metadata.uid, None)
        self._put(rule, 0.0)

    def look_later(self, names: Iterable[str]) -> None:
        """Something about these rules' pods has changed."""
        for name in names:
            rule = self._devices.index.rules.get(name)
            if rule is not None and rule.metadata.uid not in self._queue:
                self._put(rule, _PERIOD)

    def look_at_all(self) -> None:
        """At every rule, now: this worker has just learned of them, or has just been elected."""
        for rule in self._devices.index.rules.values():
            self._put(rule, 0.0)

    def look_again(self) -> None:
        """At every rule that evicts: the periodic safety net."""
        self.look_later(
            name
            for name, rule in self._devices.index.rules.items()
            if rule.spec.taint.effect == NO_EXECUTE
        )

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            self._changed.clear()
            async with self._looking:
                uid = self._queue.pop_due(self._clock.monotonic()) if self._is_our_turn() else None
                if uid is not None:
                    await self._look(uid)
            if uid is None:
                await self._sleep()

    async def until_idle(self) -> None:
        """Return when no status is being written; to be called while it is not our turn."""
        async with self._looking:
            return

    def _is_our_turn(self) -> bool:
        devices = self._devices
        return devices.ready and Kind.RULES in devices.served and self._may_write()

    def _put(self, rule: DeviceTaintRule, delay: float) -> None:
        if not self._is_our_turn():
            # Rules come and go, perhaps for weeks. When it is our turn, all are looked at.
            return
        uid = rule.metadata.uid
        self._names[uid] = rule.metadata.name
        self._queue.put(uid, self._clock.monotonic() + delay)
        self._changed.set()

    async def _sleep(self) -> None:
        due = self._queue.next_due() if self._is_our_turn() else None
        wait = _LONGEST_SLEEP if due is None else due - self._clock.monotonic()
        try:
            async with asyncio.timeout(min(max(wait, _SHORTEST_SLEEP), _LONGEST_SLEEP)):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _look(self, uid: str) -> None:
        rule = self._devices.index.rules.get(self._names.pop(uid))
        if rule is None or rule.metadata.uid != uid:
            self._failed.pop(uid, None)
            return
        evicted = self._devices.evicted.of(uid)
        found = self._devices.index.status_of(rule, evicted, self._clock.now(), self._options)
        if found.condition is not None:
            await self._write(rule, found.condition)
        elif found.requeue_after_seconds > 0:
            # Bounded, for the last writer's clock may have been far ahead of ours.
            self._put(rule, min(max(found.requeue_after_seconds, _SHORTEST_SLEEP), _PERIOD))

    async def _write(self, rule: DeviceTaintRule, condition: Condition) -> None:
        resource = self._devices.served[Kind.RULES]
        try:
            async with asyncio.timeout(self._write_timeout):
                await self._actions.set_rule_condition(resource, rule, condition)
        except ClusterError as error:
            outcome = classify(error, resource, rule.metadata.name)
            self._try_again(rule, outcome, error)
        except TimeoutError as error:
            self._try_again(rule, Outcome.UNREACHABLE, error)
        else:
            self._failed.pop(rule.metadata.uid, None)
            self._metrics.rule_status_writes.labels(_WRITTEN).inc()

    def _try_again(self, rule: DeviceTaintRule, outcome: Outcome, error: Exception) -> None:
        """Where the rule is gone or another, the watch will tell; else with a backoff."""
        self._metrics.rule_status_writes.labels(outcome.value).inc()
        uid = rule.metadata.uid
        times, before = self._failed.get(uid, (0, None))
        if outcome is not before:
            # Once, not with every try.
            log.warning(
                "rule status not written",
                rule=rule.metadata.name,
                uid=uid,
                outcome=outcome.value,
                error=str(error) or type(error).__name__,
            )
        retry = RETRIES.get(outcome)
        if retry is None:
            self._failed.pop(uid, None)
            return
        self._failed[uid] = times + 1, outcome
        asked = error.retry_after if isinstance(error, ClusterError) else None
        if uid not in self._queue:
            self._put(rule, retry.delay(times + 1, asked, self._rng))
