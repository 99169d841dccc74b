"""From a request to what becomes of it, whatever becomes of the hook that is asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.admission import cut_warnings
from bailiff.serving import OverloadedError
from bailiff.webhooks.hook import ALLOWED, EVICTION, RETRY_SECONDS, HookError, Outcome, refused
from bailiff.webhooks.log import ReviewLog
from bailiff.webhooks.metrics import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bailiff.clock import Clock
    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.hook import Hook
    from bailiff.webhooks.metrics import AdmissionMetrics
    from bailiff.webhooks.settings import AdmissionSettings


class Admission:
    """The hooks of a process. Always answers: a hook that is late or fails is answered for.

    Attributes:
        hooks: all that may be asked.
        paths: theirs, below `/admission/v1/`.
    """

    def __init__(
        self,
        hooks: Iterable[Hook],
        settings: AdmissionSettings,
        clock: Clock,
        metrics: AdmissionMetrics,
    ) -> None:
        """Prepare.

        Args:
            hooks: all that may be asked.
            settings: whose requests are allowed unseen.
            clock: by which deadlines and durations are.
            metrics: where reviews are counted.
        """
        self.hooks = tuple(hooks)
        self.paths = tuple(hook.path for hook in self.hooks)
        self._settings = settings
        self._clock = clock
        self._metrics = metrics
        self._log = ReviewLog(clock.monotonic)

    async def review(self, hook: Hook, request: AdmissionRequest, deadline: float) -> Outcome:
        """What becomes of a request, with warnings within their bounds.

        Args:
            hook: that is asked.
            request: see there.
            deadline: the instant of the clock by which there is an answer.
        """
        started = self._clock.monotonic()
        result, outcome = await self._outcome(hook, request, deadline)
        self._metrics.observe(hook.path, result, self._clock.monotonic() - started)
        if outcome.refusal is not None:
            self._log.refused(hook.path, request, outcome.refusal)
        return replace(outcome, warnings=cut_warnings(outcome.warnings))

    async def _outcome(
        self, hook: Hook, request: AdmissionRequest, deadline: float
    ) -> tuple[Result, Outcome]:
        if hook.exempts and self._is_exempt(request):
            return Result.EXEMPT, ALLOWED
        if request.target not in hook.targets:
            return Result.OTHER, _other_target(hook, request)
        try:
            async with asyncio.timeout(max(0.0, deadline - self._clock.monotonic())):
                outcome = await hook.review(request, deadline)
        except HookError as error:
            return Result.DENIED, refused(400, "BadRequest", str(error))
        except (TimeoutError, OverloadedError):
            return Result.LATE, _unanswered(hook, "had no answer in time")
        except Exception as error:  # noqa: BLE001 - whatever a hook does, the review is answered
            self._log.failed(hook.path, request, error)
            return Result.FAILED, _unanswered(hook, "failed, its log has more")
        return _result(outcome), outcome

    def _is_exempt(self, request: AdmissionRequest) -> bool:
        given = self._settings
        return (
            request.user_info.username in given.exempt_users
            or request.namespace in given.exempt_namespaces
        )


def _result(outcome: Outcome) -> Result:
    if not outcome.allowed:
        return Result.DENIED
    return Result.PATCHED if outcome.patch else Result.ALLOWED


def _unanswered(hook: Hook, what: str) -> Outcome:
    said = f"bailiff {hook.path} {what}"
    if hook.allows_unanswered:
        return Outcome(warnings=(f"{said}: allowed unseen",))
    return refused(503, "ServiceUnavailable", f"{said}: try again", RETRY_SECONDS)


def _other_target(hook: Hook, request: AdmissionRequest) -> Outcome:
    targets = ", ".join(sorted(hook.targets))
    said = f"bailiff {hook.path} looks at {targets}, not at {request.target}"
    if request.target == EVICTION:
        # A slip in a path would leave the gate open, and nobody would see it.
        which = "which validate/evictions looks at: mend the path of the webhook, or its rules"
        return refused(403, "Forbidden", f"{said}, {which}")
    return Outcome(warnings=(f"{said}: allowed",))
