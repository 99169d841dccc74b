"""One pod's eviction, as the table of pending ones holds it."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

from msgspec import Struct

from bailiff.decisions import EvictionTerms, Finding
from bailiff.kinds import Pod
from bailiff.worker.timers.states import State
from bailiff.worker.timers.waits import Waits


class By(Enum):
    """How a pod is evicted. OVERRIDE: deleted though its budget has not allowed it."""

    DELETE = "delete"
    EVICTION_API = "evictionApi"
    OVERRIDE = "override"


class Trace(Struct, frozen=True, eq=False, gc=False):
    """Of one eviction, see bailiff.worker.observe.traces.

    Attributes:
        reserved: the traceparent of its span, which is written at its end; empty: the last one was
            written, and the next attempt, of a pod that lives on, reserves another.
        since: the second of elapsed time at which that span begins. `due` may move meanwhile.
        before: the trace that told of the attempt before, which the pod has survived; empty: none.
    """

    reserved: str
    since: float
    before: str = ""


class Eviction(Struct, eq=False, gc=False):
    """One pod's eviction.

    Nothing that it refers to refers to it, so the garbage collector need not track it (gc=False):
    with 150,000 of them that is the difference between pauses and none.

    Attributes:
        pod: as last seen.
        finding: why it goes.
        deadline: the wall-clock instant it falls due.
        due: the same in elapsed time, in seconds; an estimate until it has fallen due.
        next_try: instant of the next attempt in elapsed time; None: its deadline.
        state: see the table in bailiff.worker.timers.states.
        attempts: how often it has been tried.
        outcome: what the last attempt came to; empty before the first.
        failures: how many attempts have failed, by what they came to; None: none.
        begun_by: the system that was told that an attempt is under way; empty: none is.
        marked: its pod may carry the condition that announces the eviction, written for it.
        revoked: why it is no longer wanted, though it runs; empty while it is.
        gone: the pod has left the mirror, or has finished, while the eviction ran.
        leaving: the pod was seen to be terminating, and is not to be evicted for that.
        until_news: the next attempt may be made as soon as the pod is seen to have changed.
        by: how it is done, or was.
        waits: what has kept it from happening though it was due; None: nothing so far.
        trace: what is known of its span; None: no attempt has begun, or nothing is traced.
    """

    pod: Pod
    finding: Finding
    deadline: datetime
    due: float
    next_try: float | None = None
    state: State = State.WAITING
    attempts: int = 0
    outcome: str = ""
    failures: dict[str, int] | None = None
    begun_by: str = ""
    marked: bool = False
    revoked: str = ""
    gone: bool = False
    leaving: bool = False
    until_news: bool = False
    by: By = By.DELETE
    waits: Waits | None = None
    trace: Trace | None = None

    @property
    def uid(self) -> str:
        """The pod's."""
        return self.pod.metadata.uid

    @property
    def place(self) -> float:
        """When its turn comes, in elapsed time: its next attempt, or its deadline as estimated."""
        return self.due if self.next_try is None else self.next_try

    @property
    def terms(self) -> EvictionTerms:
        """What is written with it, and how it is done.

        Raises:
            ValueError: its system has not said so, which is a fault of the system's.
        """
        terms = self.finding.terms
        if terms is None:
            raise ValueError(f"{self.finding.system} evicts {self.pod.key} and names no terms")
        return terms.filled(self.pod, self.pod.spec.node_name)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to come: the pod was evicted, and is seen to be terminating."""
        return self.state is State.DONE and self.pod.is_terminating

    @property
    def is_off(self) -> bool:
        """Whether one that runs is not to be tried again."""
        return bool(self.gone or self.leaving or self.revoked)

    def count_failure(self, outcome: str) -> int:
        """One more attempt came to this; how many have."""
        if self.failures is None:
            self.failures = {}
        count = self.failures[outcome] = self.failures.get(outcome, 0) + 1
        return count

    def count_of(self, outcome: str) -> int:
        """How many attempts have failed that way."""
        return 0 if self.failures is None else self.failures.get(outcome, 0)

    def is_hastened_by(self, finding: Finding, pod: Pod) -> bool:
        """Whether it was carried out with time to end, and the pod is to be gone at once now."""
        at_once = finding.grace_period_seconds == 0 != self.finding.grace_period_seconds
        return self.state is State.DONE and pod.is_terminating and at_once

    def waits_for_other_than(self, finding: Finding) -> bool:
        """Whether the timer runs for another deadline than this finding names."""
        unbegun = self.state is State.WAITING or self.state is State.HELD
        return unbegun and self.finding.evict_at != finding.evict_at
