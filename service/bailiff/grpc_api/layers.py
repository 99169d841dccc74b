"""Which layers surround which methods, and the places that their calls take."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bailiff.grpc_api.access import Access
from bailiff.grpc_api.admission import Admission, Beginning, Waiting, too_idle, too_slow
from bailiff.grpc_api.interceptors import Observation, Statuses
from bailiff.grpc_api.places import Places
from bailiff.grpc_api.services import FULL_NAMES, STREAMS
from bailiff.grpc_api.tracing import Spans
from bailiff.tracing import NO_TRACER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.access import Guard, Rules
    from bailiff.clock import Clock
    from bailiff.grpc_api.doorman import Doorman
    from bailiff.grpc_api.errors import RefusedError
    from bailiff.grpc_api.interceptors import Layer
    from bailiff.grpc_api.metrics import GrpcMetrics
    from bailiff.grpc_api.settings import GrpcSettings
    from bailiff.serving import Gate
    from bailiff.tracing import Tracer

# Seconds that a call may wait for its message, and a stream rest, before it makes room for others.
_CALL_GRACE = 0.1
_STREAM_GRACE = 1.0

_CHECK = "Check"


class Rooms:
    """The places of all kinds of calls.

    Calls, streams of requests, and those that follow something for as long as they like have places
    apart, and so have questions about the health: none of them takes another's.
    """

    def __init__(
        self,
        settings: GrpcSettings,
        doorman: Doorman,
        metrics: GrpcMetrics,
        clock: Clock,
        gate: Gate,
        rules: Rules,
        guard: Guard | None = None,
        tracer: Tracer = NO_TRACER,
    ) -> None:
        """Prepare; the doorman's rounds end those that wait for too long.

        The guard stands before all places: who is not let in by its rules takes none.
        """
        self._guard, self._rules, self._tracer = guard, rules, tracer
        self._doorman, self._gate = doorman, gate
        self._queue_age = settings.max_queue_age_seconds
        self._calls_begin = Beginning(doorman, self._queue_age)
        # What costs next to nothing to answer is answered however late.
        self._others_begin = Beginning(doorman, math.inf)
        self._observation = Observation(metrics, clock, STREAMS)
        message, idle = settings.message_timeout_seconds, settings.stream_idle_seconds
        calls, streams = settings.max_concurrent_rpcs, settings.max_streams
        one, many = Waiting(message), Waiting(message, idle)
        slow, rested = too_slow(message), too_idle(idle)
        self._calls = self._room(calls, "calls", _CALL_GRACE, one, slow)
        self._streams = self._room(streams, "streams", _STREAM_GRACE, many, rested)
        # Whoever asks for the health gets in: one who waits goes, however short.
        self._checks = self._room(calls, "checks", 0.0, one, slow)
        self._watches = self._room(
            settings.max_watches, "watches", 0.0, Waiting(message, follow=True), slow
        )
        self._readers = self._room(settings.max_watches, "readers", 0.0, many, rested)

    def layers_of(self, service: str, method: str) -> Sequence[Layer]:
        """What surrounds a method, from the outside in."""
        if service in FULL_NAMES:
            room = self._streams if method in STREAMS else self._calls
            inner = (self._observation, Statuses(), self._calls_begin)
            return (*self._spans(service), *inner, *self._access(service), room)
        if service == "grpc.health.v1.Health":
            room = self._watches if method == "Watch" else self._checks
            return (Statuses(), self._others_begin, *self._access(service), room)
        return (Statuses(), self._others_begin, *self._access(service), self._readers)

    def _spans(self, service: str) -> Sequence[Layer]:
        return (Spans(self._tracer, service, STREAMS),) if self._tracer.enabled else ()

    def _access(self, service: str) -> Sequence[Layer]:
        if self._guard is None:
            return ()
        return (Access(self._guard, self._rules, self._doorman, service),)

    def _room(
        self,
        most: int,
        what: str,
        grace: float,
        waiting: Waiting,
        error: Callable[[], RefusedError],
    ) -> Admission:
        places = Places(most, what, grace, self._doorman.now)
        self._doorman.rounds.append(lambda: places.expire(error))
        # What has no grace costs next to nothing to answer, and is answered at once.
        if not grace:
            return Admission(places, self._doorman, waiting)
        return Admission(places, self._doorman, waiting, self._queue_age, self._gate)
