"""When a request's span has failed: one rule for both faces.

A caller that goes away is no fault of ours, whichever way it is noticed: the server cancels what
answers it, or the rest of its request does not come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bailiff.tracing.port import Span


def conclude(span: Span, status: str, error: BaseException | None, *, is_fault: bool) -> None:
    """Say that it has failed, if it has.

    Args:
        span: of the request.
        status: of the answer, as the face names it; empty: there was none.
        error: what was raised and is in no status; that a task was cancelled is no Exception.
        is_fault: whether this status is a fault of ours.
    """
    if isinstance(error, Exception):
        span.fail(type(error).__name__)
    elif is_fault:
        span.fail(status)
