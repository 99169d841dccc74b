"""What is told of reviews in the log, at a limited rate: those who ask may try again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bailiff.log_limit import LogLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.kinds.admission_review import AdmissionRequest
    from bailiff.webhooks.hook import Refusal

# Seconds for one more line of a kind, and lines at once after a rest.
_SECONDS, _BURST = 1.0, 20
# Characters of what others chose.
_LONGEST = 256

log = structlog.get_logger(__name__)


class ReviewLog:
    """Writes a line for each refusal, and each failure of a hook, as long as they are few."""

    def __init__(self, now: Callable[[], float]) -> None:
        """Nothing was written yet; `now` tells seconds, and is never stepped."""
        self._limit = LogLimit(now, _SECONDS, _BURST)

    def refused(self, hook: str, request: AdmissionRequest, refusal: Refusal) -> None:
        """Somebody was refused what it asked the API server for."""
        left_out = self._limit.left_out("refused")
        if left_out is None:
            return
        told = {
            "user": request.user_info.username,
            "operation": request.operation,
            "target": request.target,
            "namespace": request.namespace,
            "name": request.name,
            "reason": refusal.reason,
            "message": refusal.message,
        }
        log.info(
            "admission refused",
            hook=hook,
            uid=request.uid,
            dry_run=request.dry_run,
            code=refusal.code,
            left_out=left_out,
            **{name: text[:_LONGEST] for name, text in told.items()},
        )

    def failed(self, hook: str, request: AdmissionRequest, fault: Exception) -> None:
        """A fault of ours."""
        left_out = self._limit.left_out("failed")
        if left_out is not None:
            log.error("hook failed", hook=hook, uid=request.uid, left_out=left_out, exc_info=fault)
