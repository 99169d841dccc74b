"""How a question that cannot be answered is told, in google.rpc's terms.

    RefusedError            carries the status of the call
    ├── MalformedError      MALFORMED_BODY    INVALID_ARGUMENT    no such message
    ├── FieldError          INVALID_FIELD     INVALID_ARGUMENT    a field is missing or wrong
    ├── TooLargeError       BODY_TOO_LARGE    RESOURCE_EXHAUSTED  as gRPC itself says of messages
    ├── AnswerTooLargeError ANSWER_TOO_LARGE  RESOURCE_EXHAUSTED  the same of the answer
    ├── SlowBodyError       SLOW_BODY         DEADLINE_EXCEEDED   the message did not come in time
    ├── NotLetInError       UNAUTHENTICATED   UNAUTHENTICATED     nobody knows who asks
    │                       FORBIDDEN         PERMISSION_DENIED   or it may not
    │                       TOO_MANY_REQUESTS RESOURCE_EXHAUSTED  or asks too much
    │                       AUTHENTICATION_UNAVAILABLE UNAVAILABLE  or the cluster does not say who
    └── OverloadedError     OVERLOADED        UNAVAILABLE         the server, not the caller: retry
        └── IdleError       IDLE              UNAVAILABLE         a stream that rests: open it anew

What goes wrong on our side ends as INTERNAL with `INTERNAL`, and the cause in the log alone. The
reasons and the domain are spelled as AIP-193 (google.aip.dev) wants them of google.rpc.ErrorInfo.
RESOURCE_EXHAUSTED is left to what a caller has used up of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from google.rpc import (  # type: ignore[import-untyped]  # it ships no types
    code_pb2,
    error_details_pb2,
    status_pb2,
)

from bailiff.access import (
    AccessError,
    DeniedError,
    QuotaError,
    UnauthenticatedError,
    UnavailableError,
    UnknownPathError,
)

if TYPE_CHECKING:
    from bailiff.decisions import FactsError

DOMAIN = "bailiff.dev"
# Seconds after which a refused caller may try again, told to it as google.rpc.RetryInfo.
RETRY_SECONDS = 1
# Bytes. A client refuses headers beyond 8 KiB, and with them the whole answer; a text stands in
# them twice as it is, and once with three bytes for each that is not ASCII.
_MAX_TEXT = 1000


class RefusedError(ValueError):
    """The request cannot be answered.

    Attributes:
        reason: what is wrong and what is allowed.
        path: the field at fault, as `pods[3].metadata.deletion_timestamp`; empty for the whole.
        code: stable, for programs.
        grpc_code: the status code of the call.
    """

    code: ClassVar[str] = "INVALID_FIELD"
    grpc_code: ClassVar[int] = code_pb2.INVALID_ARGUMENT

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def move_under(self, parent: str) -> None:
        """Tell the path as seen from the message that holds the field."""
        self.path = f"{parent}.{self.path}" if self.path else parent

    def status(self) -> status_pb2.Status:
        """The error as google.rpc.Status, with its details."""
        text = f"{self.path}: {self.reason}" if self.path else self.reason
        status = _status(self.grpc_code, text, self.code)
        if self.grpc_code == code_pb2.INVALID_ARGUMENT:
            violation = error_details_pb2.BadRequest.FieldViolation(
                field=_cut(self.path), description=_cut(self.reason)
            )
            bad = error_details_pb2.BadRequest(field_violations=[violation])
            status.details.add().Pack(bad)
        return status


class MalformedError(RefusedError):
    """The bytes are no such message."""

    code = "MALFORMED_BODY"


class FieldError(RefusedError):
    """A field is missing, wrong or out of bounds."""


class TooLargeError(RefusedError):
    """The request is longer than the server takes."""

    code = "BODY_TOO_LARGE"
    grpc_code = code_pb2.RESOURCE_EXHAUSTED


class AnswerTooLargeError(RefusedError):
    """The answer is longer than a message may be."""

    code = "ANSWER_TOO_LARGE"
    grpc_code = code_pb2.RESOURCE_EXHAUSTED


class SlowBodyError(RefusedError):
    """The caller has not sent its message in the time that it has."""

    code = "SLOW_BODY"
    grpc_code = code_pb2.DEADLINE_EXCEEDED


class OverloadedError(RefusedError):
    """The server has enough to do; asked a little later, or of another replica, it may answer."""

    code = "OVERLOADED"
    grpc_code = code_pb2.UNAVAILABLE

    def status(self) -> status_pb2.Status:
        """The error as google.rpc.Status, with the time to wait."""
        return _to_be_retried(super().status(), RETRY_SECONDS)


class IdleError(OverloadedError):
    """A stream has rested for so long that its place goes to others."""

    code = "IDLE"


# UNAVAILABLE where another replica, or the same a little later, may answer; and never NOT_FOUND or
# UNIMPLEMENTED: what is in no table is forbidden to everybody.
ACCESS: dict[type[AccessError], tuple[Any, str]] = {
    UnauthenticatedError: (code_pb2.UNAUTHENTICATED, "UNAUTHENTICATED"),
    DeniedError: (code_pb2.PERMISSION_DENIED, "FORBIDDEN"),
    UnknownPathError: (code_pb2.PERMISSION_DENIED, "FORBIDDEN"),
    UnavailableError: (code_pb2.UNAVAILABLE, "AUTHENTICATION_UNAVAILABLE"),
    QuotaError: (code_pb2.RESOURCE_EXHAUSTED, "TOO_MANY_REQUESTS"),
}


class NotLetInError(RefusedError):
    """The guard does not let the call in; its status tells why, by several codes."""

    def __init__(self, error: AccessError) -> None:
        super().__init__(str(error))
        self._error = error

    def status(self) -> status_pb2.Status:
        """The error as google.rpc.Status, with the time to wait where that helps."""
        code, reason = ACCESS[type(self._error)]
        status, seconds = _status(code, self.reason, reason), self._error.retry_after
        return _to_be_retried(status, seconds) if seconds else status


def internal_status() -> status_pb2.Status:
    """For what is our own fault; says nothing of it."""
    return _status(code_pb2.INTERNAL, "internal error", "INTERNAL")


def from_core(error: FactsError) -> FieldError:
    """The core's error, its path (`$.addTaints`) in protobuf's idiom (`add_taints`)."""
    return FieldError(error.reason, snake(error.path).removeprefix("$").removeprefix("."))


def snake(path: str) -> str:
    """A path in JSON's spelling (`$.addTaints`) in protobuf's (`$.add_taints`)."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]", lambda m: f"_{m[0].lower()}", path)


def _to_be_retried(status: status_pb2.Status, seconds: int) -> status_pb2.Status:
    """With the time to wait."""
    wait = error_details_pb2.RetryInfo()
    wait.retry_delay.seconds = seconds
    status.details.add().Pack(wait)
    return status


def _cut(text: str) -> str:
    """As much of it as may be told."""
    return text.encode(errors="replace")[:_MAX_TEXT].decode(errors="ignore")


def _status(code: int, text: str, reason: str) -> status_pb2.Status:
    status = status_pb2.Status(code=code, message=_cut(text))
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN))
    return status
