"""How a question that cannot be answered is told, in google.rpc's terms.

    RefusedError            carries the status of the call
    ├── MalformedError      malformed_body    INVALID_ARGUMENT    no such message
    ├── FieldError          invalid_field     INVALID_ARGUMENT    a field is missing or wrong
    ├── TooLargeError       body_too_large    RESOURCE_EXHAUSTED
    └── OverloadedError     overloaded        RESOURCE_EXHAUSTED  not now

What goes wrong on our side ends as INTERNAL with `internal`, and the reason in the log alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from google.rpc import (  # type: ignore[import-untyped]  # it ships no types
    code_pb2,
    error_details_pb2,
    status_pb2,
)
from grpc_status import rpc_status  # type: ignore[import-untyped]  # it ships no types

if TYPE_CHECKING:
    import grpc

    from bailiff.decisions import FactsError

DOMAIN = "bailiff"
# A client refuses headers beyond 8 KiB, and with them the whole answer.
_MAX_TEXT = 1000


class RefusedError(ValueError):
    """The request cannot be answered.

    Attributes:
        reason: what is wrong and what is allowed.
        path: the field at fault, as `pods[3].metadata.deletion_timestamp`; empty for the whole.
    """

    code: ClassVar[str] = "invalid_field"
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
                field=self.path[:_MAX_TEXT], description=self.reason[:_MAX_TEXT]
            )
            bad = error_details_pb2.BadRequest(field_violations=[violation])
            status.details.add().Pack(bad)
        return status


class MalformedError(RefusedError):
    """The bytes are no such message."""

    code = "malformed_body"


class FieldError(RefusedError):
    """A field is missing, wrong or out of bounds."""


class TooLargeError(RefusedError):
    """The request is longer than the server takes."""

    code = "body_too_large"
    grpc_code = code_pb2.RESOURCE_EXHAUSTED


class OverloadedError(RefusedError):
    """The server has enough to do with requests of this kind."""

    code = "overloaded"
    grpc_code = code_pb2.RESOURCE_EXHAUSTED


def internal_status() -> status_pb2.Status:
    """For what is our own fault; says nothing of it."""
    return _status(code_pb2.INTERNAL, "internal error", "internal")


async def abort(context: grpc.aio.ServicerContext[bytes, bytes], status: status_pb2.Status) -> None:
    """End the call with this status; raises grpc's AbortError."""
    ending = rpc_status.to_status(status)
    await context.abort(ending.code, ending.details, ending.trailing_metadata)


def from_core(error: FactsError) -> FieldError:
    """The core's error, its path (`$.addTaints`) in protobuf's idiom (`add_taints`)."""
    snake = re.sub(r"(?<=[a-z0-9])[A-Z]", lambda m: f"_{m[0].lower()}", error.path)
    return FieldError(error.reason, snake.removeprefix("$").removeprefix("."))


def _status(code: int, text: str, reason: str) -> status_pb2.Status:
    status = status_pb2.Status(code=code, message=text[:_MAX_TEXT])
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN))
    return status
