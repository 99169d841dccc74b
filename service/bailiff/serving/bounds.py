"""What a port bears, and what it calls what is beyond that."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from http import HTTPStatus
from typing import NamedTuple, TypeAlias

# From a status and what happened to the headers and the body of the answer to what never reached
# the application. The status is that of a Reason.
Refuse: TypeAlias = Callable[[HTTPStatus, str], tuple[dict[str, str], bytes]]


class Reason(StrEnum):
    """Why a connection or a request was refused or cut; the label of the metric.

    Attributes:
        status: of the answer, where one can be given.
    """

    status: HTTPStatus

    def __new__(cls, value: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> Reason:
        """With the status of the answer."""
        made = str.__new__(cls, value)
        made._value_, made.status = value, status
        return made

    CONNECTIONS = "connections", HTTPStatus.SERVICE_UNAVAILABLE
    PEER_CONNECTIONS = "peer_connections", HTTPStatus.SERVICE_UNAVAILABLE
    ROOM = "room", HTTPStatus.SERVICE_UNAVAILABLE
    OPEN_FILES = "open_files", HTTPStatus.SERVICE_UNAVAILABLE
    TLS_HANDSHAKE = "tls_handshake"
    MALFORMED = "malformed"
    HEAD_TOO_LARGE = "head_too_large", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    TRAILERS = "trailers"
    HOST = "host", HTTPStatus.MISDIRECTED_REQUEST
    SLOW_HEAD = "slow_head", HTTPStatus.REQUEST_TIMEOUT
    SLOW_BODY = "slow_body", HTTPStatus.REQUEST_TIMEOUT
    SLOW_READER = "slow_reader"
    BYTES = "bytes", HTTPStatus.SERVICE_UNAVAILABLE
    QUEUE_AGE = "queue_age", HTTPStatus.SERVICE_UNAVAILABLE


class OverloadedError(Exception):
    """It could be answered if there were less to do: ask again later."""

    def __init__(self, detail: str = "too many bytes are under way") -> None:
        super().__init__(detail)


class Bounds(NamedTuple):
    """What a port bears before an application answers, and after it has.

    Attributes:
        max_connections: open connections. More are refused with 503 and closed. They count from
            the kernel's accept, so a TLS handshake has its place among them.
        max_connections_per_peer: open connections of one address, or of one IPv6 network of /64.
            Trusted proxies are bounded by `max_connections` only.
        header_timeout_seconds: time for a client to send the head of a request, and as much for a
            TLS handshake.
        max_header_bytes: length of the head of a request; the usual bound of reverse proxies is
            8 to 32 KiB. Trailers, and what frames a chunk, have as much for themselves.
        body_timeout_seconds: time for a client to send a body, whether somebody reads it or not.
            Then the answer is 408. Long enough for 4 MiB over a 4 Mbit/s line.
        answer_timeout_seconds: total time for a client to read a pending answer, so that one byte a
            second is no progress. Enough for the longest answers over a 5 Mbit/s line.
        max_queue_age_seconds: how long a request may have waited for its turn; older ones get 503.
    """

    max_connections: int = 4096
    max_connections_per_peer: int = 256
    header_timeout_seconds: float = 10.0
    max_header_bytes: int = 32 * 1024
    body_timeout_seconds: float = 10.0
    answer_timeout_seconds: float = 60.0
    max_queue_age_seconds: float = math.inf


BOUNDS = Bounds()


def in_words(_status: HTTPStatus, detail: str) -> tuple[dict[str, str], bytes]:
    """A refusal as plain text, for ports that have no form of their own for it."""
    return {"Content-Type": "text/plain; charset=utf-8"}, detail.encode()


def headers_of(reason: Reason, headers: dict[str, str], body: bytes) -> dict[str, str]:
    """All headers of a refusal, in lower case."""
    headers = {**headers, "Content-Length": str(len(body))}
    if reason.status is HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = "1"
    return {name.lower(): value for name, value in headers.items()}


def written(reason: Reason, headers: dict[str, str], body: bytes) -> bytes:
    """A refusal as it goes over the wire; behind it the connection ends."""
    told = {**headers_of(reason, headers, body), "connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    status = reason.status
    return f"HTTP/1.1 {status.value} {status.phrase}\r\n{lines}\r\n".encode() + body
