"""Writes how far the eviction by each DeviceTaintRule is, beside everything else.

A rule that is new, or whose spec is, is looked at now. Whatever else may change what its status
says (its pods come, go, or are evicted) leads to a look 10 s later, as upstream has it, and the
core sees to it that two writes lie as far apart.
What a status is to say is the core's (`counting_status`); here is only when to ask, and what to do
if it cannot be written.

Of several shards the leader of the first writes: like all workers it knows all pods with claims,
and so tells of all shards.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from bailiff.cluster import ClusterError
from bailiff.decisions.device_taints import STATUS_PERIOD, TERMS
from bailiff.decisions.text import describe_time
from bailiff.kinds import NO_EXECUTE
from bailiff.worker.execute.outcomes import RETRIES, Outcome, classify
from bailiff.worker.mirror.slices import in_turns
from bailiff.worker.systems.device_taints.devices import Kind
from bailiff.worker.timers.retrying import Again, Retrying

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Counter

    from bailiff.cluster import Resource
    from bailiff.kinds import Condition, DeviceTaintRule
    from bailiff.worker.systems.device_taints.devices import Devices
    from bailiff.worker.systems.system import Parts

_PERIOD = STATUS_PERIOD.total_seconds()
_WRITTEN = "written"

log = structlog.get_logger(__name__)


class _Key(NamedTuple):
    """One rule; one of the same name that comes later is another."""

    name: str
    uid: str


class RuleStatusWriter(Retrying[_Key]):
    """Asks the core what the statuses are to say, and writes that."""

    def __init__(self, parts: Parts, devices: Devices, writes: Counter) -> None:
        """Prepare.

        Args:
            parts: of the worker.
            devices: has the rules, and tells of them.
            writes: where they are counted, by fate.
        """
        super().__init__(parts.clock)
        self._parts = parts
        self._devices = devices
        self._writes = writes
        self._rng = random.Random()  # noqa: S311 - jitter, no secret
        # How the last write for a rule failed, of those only whose last has.
        self._failed: dict[_Key, Outcome] = {}
        devices.tell_of_rules(self)

    def look_now(self, rule: DeviceTaintRule) -> None:
        """The rule is new, or its spec is."""
        if self._is_our_turn():
            self._failed.pop(_key(rule), None)
            self.ask_for(_key(rule))

    def look_later(self, names: Iterable[str]) -> None:
        """Something about these rules' pods has changed."""
        if not self._is_our_turn():
            # Rules come and go, perhaps for weeks. When it is our turn, all are looked at.
            return
        for name in names:
            rule = self._devices.index.rules.get(name)
            if rule is not None:
                self.remind(_key(rule), _PERIOD)

    def look_at_all(self) -> None:
        """At every rule, now: this worker has just learned of them, or has just been elected."""
        for rule in self._devices.index.rules.values():
            self.look_now(rule)

    def look_again(self) -> None:
        """At every rule that evicts: the periodic safety net."""
        self.look_later(
            name
            for name, rule in self._devices.index.rules.items()
            if rule.spec.taint.effect == NO_EXECUTE
        )

    async def attempt(self, key: _Key, failures: int) -> Again | None:
        """See Retrying."""
        rule = self._devices.index.rules.get(key.name)
        if rule is None or rule.metadata.uid != key.uid or not self._is_our_turn():
            self._failed.pop(key, None)
            return None
        evicted, options = self._devices.evicted.of(key.uid), self._parts.settings.options
        now = self._clock.now()
        found = await in_turns(self._devices.index.counting_status(rule, evicted, now, options))
        if found.condition is not None:
            return await self._write(rule, found.condition, failures)
        if found.requeue_after_seconds > 0:
            # Bounded, for the last writer's clock may have been far ahead of ours.
            return Again(min(found.requeue_after_seconds, _PERIOD), failed=False)
        return None

    async def drain(self) -> None:
        """See Writer. At its end a worker waits for no status: whoever comes next writes it."""

    async def forget(self) -> None:
        """See Retrying."""
        await super().forget()
        self._failed.clear()

    def _is_our_turn(self) -> bool:
        devices, parts = self._devices, self._parts
        follows = devices.ready and Kind.RULES in devices.served
        return parts.held_shard.is_first and follows and parts.election.may_act()

    async def _write(
        self, rule: DeviceTaintRule, condition: Condition, failures: int
    ) -> Again | None:
        resource = self._devices.served[Kind.RULES]
        try:
            async with asyncio.timeout(self._parts.settings.attempt_timeout):
                await self._parts.actions.write(
                    resource,
                    _status_body(resource, rule, condition),
                    field_manager=TERMS.controller,
                    apply=True,
                    subresource="status",
                )
        except ClusterError as error:
            outcome = classify(error, resource, rule.metadata.name)
            return self._failure(rule, outcome, error, failures)
        except TimeoutError as error:
            return self._failure(rule, Outcome.UNREACHABLE, error, failures)
        self._failed.pop(_key(rule), None)
        self._writes.labels(_WRITTEN).inc()
        return None

    def _failure(
        self, rule: DeviceTaintRule, outcome: Outcome, error: Exception, failures: int
    ) -> Again | None:
        """Where the rule is gone or another, the watch will tell; else with a backoff."""
        self._writes.labels(outcome.value).inc()
        key = _key(rule)
        if outcome is not self._failed.get(key):
            # Once, not with every try.
            log.warning(
                "rule status not written",
                rule=key.name,
                uid=key.uid,
                outcome=outcome.value,
                error=str(error) or type(error).__name__,
            )
        retry = RETRIES.get(outcome)
        if retry is None:
            self._failed.pop(key, None)
            return None
        self._failed[key] = outcome
        asked = error.retry_after if isinstance(error, ClusterError) else None
        return Again(retry.delay(failures + 1, asked, self._rng))


def _key(rule: DeviceTaintRule) -> _Key:
    return _Key(rule.metadata.name, rule.metadata.uid)


def _status_body(
    resource: Resource[Any], rule: DeviceTaintRule, condition: Condition
) -> dict[str, Any]:
    """The condition into the status of the rule of this UID; a wrong one is a conflict."""
    return {
        "apiVersion": f"{resource.group}/{resource.version}",
        "kind": "DeviceTaintRule",
        "metadata": {"name": rule.metadata.name, "uid": rule.metadata.uid},
        "status": {"conditions": [_condition_body(condition)]},
    }


def _condition_body(condition: Condition) -> dict[str, Any]:
    at = condition.last_transition_time
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "observedGeneration": condition.observed_generation,
        "lastTransitionTime": None if at is None else describe_time(at.replace(microsecond=0)),
    }
