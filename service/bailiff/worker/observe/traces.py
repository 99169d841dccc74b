"""One trace for each eviction: from the instant it falls due, through its attempts, to its end.

An eviction may wait for days between two attempts, and 150,000 may wait at once. So its span is
only reserved when the first attempt begins, and written when it is known how it ended: between the
two nothing is kept but 55 characters and an instant (`Eviction.trace`).

A pod may live on though its delete was taken. Its next eviction is a trace of its own, which begins
where the last one ended and names it: the last one was written when nobody knew.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bailiff.tracing import Parent
from bailiff.tracing.pods import about_pod
from bailiff.worker.execute.outcomes import RETRIES
from bailiff.worker.timers.eviction import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.clock import Clock
    from bailiff.tracing import Attributes, Tracer
    from bailiff.worker.execute.outcomes import Outcome
    from bailiff.worker.timers.eviction import Eviction

_RETRIED = frozenset(outcome.value for outcome in RETRIES)


class _Try:
    """An attempt that runs.

    Attributes:
        outcome: what it has come to; empty: that is not known yet.
        ended: how the eviction has ended with it; None: it has not.
    """

    __slots__ = ("ended", "outcome")

    def __init__(self) -> None:
        self.outcome = ""
        self.ended: Outcome | None = None


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
        # Those that run.
        self._running: dict[str, _Try] = {}

    @contextmanager
    def attempt(self, eviction: Eviction) -> Iterator[None]:
        """A span around one try, which nothing holds back any more."""
        trace = eviction.trace
        if trace is None or not trace.reserved:
            trace = eviction.trace = self._begin(eviction, trace)
        this = self._running[eviction.uid] = _Try()
        about = {"bailiff.attempt": eviction.attempts, **self._on_paper}
        with self._tracer.span("attempt", about, parent=Parent(trace.reserved)) as span:
            try:
                yield
            finally:
                del self._running[eviction.uid]
                span.set({"bailiff.outcome": this.outcome, "bailiff.by": eviction.by.value})
                if this.outcome in _RETRIED:
                    span.fail(this.outcome)
        if this.ended is not None:
            self._write(eviction, trace, this.ended)

    def came_to(self, eviction: Eviction, outcome: Outcome) -> None:
        """The attempt that runs has come to this; whether it is the last is not known yet."""
        self._running[eviction.uid].outcome = outcome.value

    def over(self, eviction: Eviction, outcome: Outcome) -> None:
        """No attempt is to be made any more; nothing, where none was."""
        running = self._running.get(eviction.uid)
        if running is not None:
            # It ends in a moment, and then so does the eviction.
            running.ended = outcome
        elif eviction.trace is not None and eviction.trace.reserved:
            self._write(eviction, eviction.trace, outcome)

    def _begin(self, eviction: Eviction, last: Trace | None) -> Trace:
        """Reserve its span, and write how long it has waited: since it fell due, or survived."""
        now = self._clock.elapsed()
        since, before = (eviction.due, "") if last is None else (last.since, last.before)
        trace = Trace(self._tracer.reserve(), min(since, now), before)
        self._tracer.past("wait", trace.reserved, now - trace.since, _held_by(eviction))
        return trace

    def _write(self, eviction: Eviction, trace: Trace, outcome: Outcome) -> None:
        now = self._clock.elapsed()
        pod = about_pod(eviction.pod, eviction.finding.system)
        about = {**pod, **self._on_paper, **_held_by(eviction)}
        about["bailiff.attempts"] = eviction.attempts
        about["bailiff.by"] = eviction.by.value
        about["bailiff.outcome"] = outcome.value
        about["bailiff.lateness_seconds"] = max(0.0, now - eviction.due)
        if trace.before:
            about["bailiff.after_trace"] = trace.before
        self._tracer.write(trace.reserved, "evict", now - trace.since, about)
        # As W3C Trace Context writes it: version, trace, span, flags.
        eviction.trace = Trace("", now, trace.reserved.split("-")[1])


def _held_by(eviction: Eviction) -> Attributes:
    """What has held it back though it was due: causes, and never the words of a policy."""
    waits = eviction.waits
    if waits is None:
        return {}
    causes = [one.cause.value for one in waits.past()]
    if waits.hold is not None:
        causes.append(waits.hold.cause.value)
    return {"bailiff.held_by": ",".join(dict.fromkeys(causes))} if causes else {}
