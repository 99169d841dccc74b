"""Questions and errors as gRPC has them, with nothing sent: what both gRPC clients share."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import (  # type: ignore[import-untyped]  # it ships no types
    error_details_pb2,
    status_pb2,
)

from bailiff import __version__
from bailiff.client import given, json_form
from bailiff.client.errors import (
    DEADLINE,
    UNREACHABLE,
    UNREADABLE,
    DeadlineError,
    Failure,
    FieldError,
    ForbiddenError,
    InvalidQuestionError,
    NotFoundError,
    ServerError,
    TooLongError,
    UnauthenticatedError,
    UnavailableError,
    error_of,
)
from bailiff.client.json_form.reading import UnreadableError
from bailiff.client.retrying import asked_pause
from bailiff.client.tls import credentials_of
from bailiff.client.tokens import Bearer, host_of, is_this_machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bailiff.client.errors import BailiffError
    from bailiff.client.questions import Json
    from bailiff.client.settings import ClientSettings

Q = TypeVar("Q", bound=Message)
M = TypeVar("M", bound=Message)
T = TypeVar("T")

DOMAIN = "bailiff.dev"
_DETAILS = "grpc-status-details-bin"
# Longest answer of one message: those above 4 MiB come in parts, which are shorter.
_MAX_ANSWER_BYTES = 4 * 1024 * 1024
# Milliseconds. While gRPC itself waits before it connects again, every attempt fails at once: so
# that a server that comes back is found by one of a call's attempts these waits are shorter than
# the pauses in between, where gRPC's own grow to minutes.
_FIRST_BACKOFF, _LONGEST_BACKOFF = 100, 250
# For one attempt to connect, handshakes included.
_CONNECTING = 2_000

# What a status without words of Bailiff's own is, and its code where the same question may be asked
# again.
_BY_STATUS: dict[grpc.StatusCode, tuple[str, type[BailiffError]]] = {
    grpc.StatusCode.UNAVAILABLE: (UNREACHABLE, UnavailableError),
    grpc.StatusCode.DEADLINE_EXCEEDED: (DEADLINE, DeadlineError),
    grpc.StatusCode.INVALID_ARGUMENT: ("invalid_argument", InvalidQuestionError),
    grpc.StatusCode.UNIMPLEMENTED: ("unimplemented", NotFoundError),
    grpc.StatusCode.UNAUTHENTICATED: ("unauthenticated", UnauthenticatedError),
    grpc.StatusCode.PERMISSION_DENIED: ("forbidden", ForbiddenError),
    # The transport's own refusal: a message or headers that are too long.
    grpc.StatusCode.RESOURCE_EXHAUSTED: ("body_too_large", TooLongError),
}


class Words(NamedTuple):
    """How to reach a server, and who asks.

    Attributes:
        target: as gRPC has it, `HOST:PORT`.
        credentials: of TLS; None: without.
        options: of the channel.
        bearer: makes the header of each call.
    """

    target: str
    credentials: grpc.ChannelCredentials | None
    options: tuple[tuple[str, str | int], ...]
    bearer: Bearer

    @classmethod
    def of(cls, target: str, settings: ClientSettings) -> Words:
        """Check target and settings; TypeError, ValueError."""
        try:
            host = host_of(given.address(target))
        except ValueError as error:
            raise ValueError(f"not the address of a gRPC API: {target!a}; {error}") from None
        bearer = Bearer(settings, host=host, secure=settings.tls is not None)
        credentials = credentials_of(settings.tls) if settings.tls else None
        return cls(target, credentials, tuple(options_of(settings, host)), bearer)

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Of the next call; UnauthenticatedError."""
        return tuple(self.bearer.headers().items())


def options_of(settings: ClientSettings, host: str) -> Iterable[tuple[str, str | int]]:
    """Of gRPC, for a channel to this host."""
    # Proxies: what goes to this machine, or in the clear, is not for others to read.
    by_proxy = settings.tls is not None and not is_this_machine(host)
    yield "grpc.enable_http_proxy", int(by_proxy)
    yield "grpc.primary_user_agent", f"bailiff-client/{__version__}"
    yield "grpc.keepalive_time_ms", round(settings.keepalive * 1000)
    yield "grpc.keepalive_timeout_ms", round(settings.keepalive_timeout * 1000)
    # An idle connection is kept warm, too: the server takes a ping each 10 s.
    yield "grpc.keepalive_permit_without_calls", 1
    yield "grpc.http2.max_pings_without_data", 0
    yield "grpc.initial_reconnect_backoff_ms", _FIRST_BACKOFF
    yield "grpc.min_reconnect_backoff_ms", _CONNECTING
    yield "grpc.max_reconnect_backoff_ms", _LONGEST_BACKOFF
    yield "grpc.max_receive_message_length", _MAX_ANSWER_BYTES
    # Calls go to all replicas that a name has, such as that of a headless Service.
    yield "grpc.service_config", '{"loadBalancingConfig": [{"round_robin": {}}]}'
    if settings.tls and settings.tls.server_name:
        yield "grpc.ssl_target_name_override", settings.tls.server_name


def message_of(facts: Q | Json, kind: type[Q]) -> Q:
    """A question as its message.

    Raises:
        InvalidQuestionError: the message cannot hold it.
    """
    given.check_question(facts, kind)
    if isinstance(facts, kind):
        return facts
    try:
        return json_form.read(facts, kind)
    except UnreadableError as error:
        raise given.invalid(error.field.path, error.field.reason) from None


def as_it_came(data: bytes) -> bytes:
    """For grpcio to read nothing: what it cannot read it tells as a fault of its own."""
    return data


def there(answer: T | None) -> T:
    """An answer, or its first part; ServerError: the server said that all is well, and no more."""
    if answer is None:
        raise error_of(Failure(UNREADABLE, "the call has ended without an answer"))
    return answer


def answer_of(kind: type[M], data: bytes) -> M:
    """An answer's message; ServerError."""
    try:
        return kind.FromString(data)
    except DecodeError as error:
        told = f"an answer that is none of Bailiff's: {error}"
        raise error_of(Failure(UNREADABLE, told)) from error


@contextmanager
def failing_as_ours() -> Iterator[None]:
    """Raise a BailiffError where a call ended badly."""
    try:
        yield
    except grpc.RpcError as error:
        raise error_of_call(error) from error


def error_of_call(error: grpc.RpcError) -> BailiffError:
    """What a call that ended badly says."""
    code: grpc.StatusCode = error.code()
    details = dict(_pairs(error.trailing_metadata())).get(_DETAILS)
    told = error_of_status(_parsed(status_pb2.Status, details)) if details else None
    if told is not None:
        return told
    return _without_details(code, error.details() or code.name)


def _pairs(metadata: Any) -> Iterable[tuple[str, str | bytes]]:  # noqa: ANN401 - two types of grpcio
    return metadata or ()


def _without_details(code: grpc.StatusCode, message: str) -> BailiffError:
    known, otherwise = _BY_STATUS.get(code, (code.name.lower(), ServerError))
    return error_of(Failure(known, message), otherwise)


def error_of_status(status: status_pb2.Status) -> BailiffError | None:
    """What a google.rpc.Status says; None where it is not one of Bailiff's."""
    info, bad, retry = _details(status)
    if info.domain != DOMAIN or not info.reason:
        return None
    fields = tuple(FieldError(_in_json(one.field), one.description) for one in bad.field_violations)
    after = None
    if retry.HasField("retry_delay"):
        after = asked_pause(retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9)
    failure = Failure(info.reason.lower(), status.message, fields, retry_after=after)
    known = (kind for code, (_, kind) in _BY_STATUS.items() if code.value[0] == status.code)
    return error_of(failure, next(known, ServerError))


def _details(
    status: status_pb2.Status,
) -> tuple[error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo]:
    return (
        _detail(error_details_pb2.ErrorInfo, status),
        _detail(error_details_pb2.BadRequest, status),
        _detail(error_details_pb2.RetryInfo, status),
    )


def _detail(kind: type[M], status: status_pb2.Status) -> M:
    told = (detail.value for detail in status.details if detail.Is(kind.DESCRIPTOR))
    return _parsed(kind, next(told, b""))


def _parsed(kind: type[M], data: object) -> M:
    message = kind()
    try:
        message.MergeFromString(data if isinstance(data, bytes) else b"")
    except DecodeError:
        return kind()
    return message


def _in_json(field: str) -> str:
    """A path in protobuf's spelling in JSON's, so that it is the same over both transports."""
    # What protobuf has no field for is a field like any other in JSON.
    section = re.sub(r"^others\['([^']*)'\]", r"\1", field)
    path = re.sub(r"_([a-z])", lambda found: found[1].upper(), section)
    return f"$.{path}" if path else "$"
