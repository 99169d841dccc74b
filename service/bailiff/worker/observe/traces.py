"""One trace for each eviction: from the instant it falls due, through its attempts, to its end.

An eviction may wait for days between two attempts, and 150,000 may wait at once. So its span is
only reserved when the first attempt begins, and written when it is known how it ended: between the
two nothing is kept but 55 characters (`Eviction.trace`).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bailiff.tracing import Parent
from bailiff.worker.execute.outcomes import RETRIES, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.clock import Clock
    from bailiff.tracing import Attributes, Tracer
    from bailiff.worker.timers.eviction import Eviction

_RETRIED = frozenset(outcome.value for outcome in RETRIES)
# Evicted, or gone, or to stay: none of these is a failure.
_FAILURES = frozenset({Outcome.SURVIVED})


class EvictionTraces:
    """Writes them; there only where the worker traces."""

    def __init__(self, tracer: Tracer, clock: Clock, *, on_paper: bool = False) -> None:
        """Prepare.

        Args:
            tracer: writes the spans.
            clock: tells how long ago an eviction fell due.
            on_paper: nothing is evicted, in a dry run or as a shadow, and each span says so.
        """
        self._tracer = tracer
        self._on_paper: Attributes = {"bailiff.on_paper": True} if on_paper else {}
        self._clock = clock
        # Those that run, and how they have ended, if they have.
        self._running: dict[str, Outcome | None] = {}

    @contextmanager
    def attempt(self, eviction: Eviction) -> Iterator[None]:
        """A span around one try, which nothing holds back any more."""
        if not eviction.trace:
            eviction.trace = self._tracer.reserve()
            late = self._clock.elapsed() - eviction.due
            self._tracer.past("wait", eviction.trace, late, _held_by(eviction))
        self._running[eviction.uid] = None
        about = {"bailiff.attempt": eviction.attempts, **self._on_paper}
        with self._tracer.span("attempt", about, parent=Parent(eviction.trace)) as span:
            try:
                yield
            finally:
                outcome = self._running.pop(eviction.uid)
                ended = eviction.outcome if outcome is None else outcome.value
                span.set({"bailiff.outcome": ended, "bailiff.by": eviction.by.value})
                if outcome is None and ended in _RETRIED:
                    span.fail(ended)
        if outcome is not None:
            self._write(eviction, outcome)

    def over(self, eviction: Eviction, outcome: Outcome) -> None:
        """No attempt is to be made any more; nothing, where none was."""
        if eviction.uid in self._running:
            # Its attempt ends in a moment, and then so does it.
            self._running[eviction.uid] = outcome
        elif eviction.trace:
            self._write(eviction, outcome)

    def _write(self, eviction: Eviction, outcome: Outcome) -> None:
        late = self._clock.elapsed() - eviction.due
        about = {
            **about_pod(eviction),
            **self._on_paper,
            **_held_by(eviction),
            "bailiff.outcome": outcome.value,
        }
        about["bailiff.lateness_seconds"] = max(0.0, late)
        why = outcome.value if outcome in _FAILURES else ""
        self._tracer.write(eviction.trace, "evict", late, about, why)
        eviction.trace = ""


def about_pod(eviction: Eviction) -> dict[str, str | int | float | bool]:
    """Which pod goes, by which system, and how often that was tried."""
    meta = eviction.pod.metadata
    return {
        "bailiff.system": eviction.finding.system,
        "bailiff.attempts": eviction.attempts,
        "bailiff.by": eviction.by.value,
        "k8s.namespace.name": meta.namespace,
        "k8s.pod.name": meta.name,
        "k8s.pod.uid": meta.uid,
        "k8s.node.name": eviction.pod.spec.node_name,
    }


def _held_by(eviction: Eviction) -> Attributes:
    """What has held it back though it was due: causes, and never the words of a policy."""
    waits = eviction.waits
    if waits is None:
        return {}
    causes = [one.cause.value for one in waits.past()]
    if waits.hold is not None:
        causes.append(waits.hold.cause.value)
    return {"bailiff.held_by": ",".join(dict.fromkeys(causes))} if causes else {}
