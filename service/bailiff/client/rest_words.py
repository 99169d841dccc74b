"""Questions and answers as HTTP has them, with nothing sent: what both REST clients share."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

import httpx2
from google.protobuf import json_format
from google.protobuf.message import Message

from bailiff import __version__
from bailiff.client import given, json_form
from bailiff.client.errors import (
    DEADLINE,
    UNAVAILABLE,
    UNREACHABLE,
    UNREADABLE,
    BailiffError,
    Failure,
    FieldError,
    ForbiddenError,
    InvalidQuestionError,
    NotFoundError,
    OverloadedError,
    ServerError,
    TooLongError,
    UnauthenticatedError,
    UnavailableError,
    error_of,
)
from bailiff.client.json_form.reading import UnreadableError
from bailiff.client.retrying import asked_pause
from bailiff.client.settings import Tls
from bailiff.client.tls import context_of
from bailiff.client.tokens import Bearer, is_this_machine

if TYPE_CHECKING:
    from bailiff.client.settings import ClientSettings

A = TypeVar("A", bound=Message)

_UNWRITABLE = (TypeError, ValueError, KeyError, OverflowError, RecursionError, json_format.Error)
USER_AGENT = f"bailiff-client/{__version__}"
# No answer is longer than 32 MiB (docs/reference/limits.md): who sends more is no Bailiff.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
_LONGEST_TEXT = 500
# What an answer of somebody on the way is, and a code that we do not know.
_BY_STATUS: dict[int, type[BailiffError]] = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: NotFoundError,
    413: TooLongError,
    429: OverloadedError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
}


class Address(NamedTuple):
    """Where a server is.

    Attributes:
        url: `http` or `https`, host, port, and a path before `/v1` where a proxy has one; no slash
            at the end.
        host: of it.
        secure: by TLS.
    """

    url: str
    host: str
    secure: bool

    @classmethod
    def of(cls, url: str) -> Address:
        """The parts of a URL; TypeError, ValueError."""
        try:
            parts = httpx2.URL(given.address(url))
        except (httpx2.InvalidURL, ValueError) as error:
            raise ValueError(f"not the address of a REST API: {url!a}; {error}") from None
        has_port = parts.port is None or 0 < parts.port < 65536
        if parts.scheme not in ("http", "https") or not parts.host or not has_port:
            raise ValueError(
                f"not the address of a REST API: {url!r}; http://HOST:PORT or https://…"
            )
        if parts.userinfo or parts.query or parts.fragment:
            raise ValueError("an address has no user, query or fragment: tokens go by the settings")
        return cls(url.rstrip("/"), parts.host, parts.scheme == "https")


class Words:
    """Makes requests, and reads what comes back."""

    def __init__(self, url: str, settings: ClientSettings) -> None:
        """Check the address and the settings; ValueError, OSError."""
        address = Address.of(url)
        self._url = address.url
        self.bearer = Bearer(settings, host=address.host, secure=address.secure)
        tls = settings.tls or Tls()
        self._server_name = tls.server_name
        self.arguments: dict[str, Any] = {
            "verify": context_of(tls) if address.secure else False,
            "limits": httpx2.Limits(
                max_connections=settings.max_connections,
                max_keepalive_connections=settings.max_connections,
                keepalive_expiry=settings.keepalive,
            ),
            "follow_redirects": False,
            # Proxies: what goes to this machine, or in the clear, is not for others to read.
            "trust_env": address.secure and not is_this_machine(address.host),
        }

    def request(
        self,
        client: httpx2.Client | httpx2.AsyncClient,
        path: str,
        body: bytes | None,
        seconds: float,
    ) -> httpx2.Request:
        """A request to `/v1/` and the path: POST with a body, GET without.

        Raises:
            UnauthenticatedError: there is no token to send.
        """
        headers = {
            "accept": "application/json",
            "user-agent": USER_AGENT,
            "x-request-id": secrets.token_hex(8),
            **({"content-type": "application/json"} if body is not None else {}),
            **self.bearer.headers(),
        }
        named = {"sni_hostname": self._server_name} if self._server_name else {}
        return client.build_request(
            "GET" if body is None else "POST",
            f"{self._url}/v1/{path}",
            content=body,
            headers=headers,
            timeout=seconds,
            extensions=named,
        )


def body_of(facts: Message | Mapping[str, Any], kind: type[Message]) -> bytes:
    """A question as a body.

    Raises:
        InvalidQuestionError: it is none of this kind, or has values that JSON cannot have.
    """
    given.check_question(facts, kind)
    try:
        value = json_form.write(facts) if isinstance(facts, Message) else facts
        text = json.dumps(value, default=_written, allow_nan=False, ensure_ascii=False)
        return text.encode()
    except _UNWRITABLE as error:
        raise _at_fault(facts, kind, error) from None


def _at_fault(
    facts: Message | Mapping[str, Any], kind: type[Message], error: Exception
) -> BailiffError:
    """Where the fault is knows who would read the same into a message, as gRPC's clients do."""
    try:
        json_form.read(facts, kind)
    except UnreadableError as unreadable:
        return given.invalid(unreadable.field.path, unreadable.field.reason)
    return given.invalid("$", str(error))


def _written(value: object) -> Any:  # noqa: ANN401 - as json.dumps wants it
    if isinstance(value, Message):
        return json_form.write(value)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return zoned.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


def answer_of(kind: type[A], response: httpx2.Response, body: bytes) -> A:
    """The answer; BailiffError."""
    if response.status_code != httpx2.codes.OK:
        raise _refusal(response, body)
    try:
        return json_form.read(json.loads(body), kind, strict=False)
    except (ValueError, RecursionError, UnreadableError) as error:
        told = f"an answer that is none of Bailiff's: {error}"
        raise error_of(Failure(UNREADABLE, told, request_id=_id_of(response))) from error


def too_long(response: httpx2.Response) -> BailiffError:
    """More bytes than any answer has."""
    return error_of(Failure(UNREADABLE, "an endless answer", request_id=_id_of(response)))


def unsent(error: Exception, request: httpx2.Request) -> BailiffError:
    """What it is that nothing came back."""
    code = DEADLINE if isinstance(error, httpx2.TimeoutException | TimeoutError) else UNREACHABLE
    told = str(error) or type(error).__name__
    host = request.url.netloc.decode()
    return error_of(Failure(code, f"{host}: {told}", request_id=request.headers["x-request-id"]))


def _refusal(response: httpx2.Response, body: bytes) -> BailiffError:
    problem = _problem_of(body)
    status, otherwise = response.status_code, _by_status(response.status_code)
    code = problem.get("code")
    if not isinstance(code, str) or not code:
        code = UNAVAILABLE if otherwise in (UnavailableError, OverloadedError) else f"http_{status}"
    fields = tuple(
        FieldError(_printable(one.get("path", "")), _printable(one.get("reason", "")))
        for one in _listed(problem.get("errors"))
        if isinstance(one, Mapping)
    )
    failure = Failure(
        _printable(code),
        _printable(
            problem.get("detail") or body[:_LONGEST_TEXT].decode(errors="replace") or status
        ),
        fields,
        _id_of(response),
        _retry_after(response.headers.get("retry-after")),
    )
    return error_of(failure, otherwise)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _printable(value: object) -> str:
    """As text that every stream takes: JSON may have halves of characters."""
    return str(value).encode(errors="replace").decode()


def _problem_of(body: bytes) -> Mapping[str, Any]:
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return problem if isinstance(problem, Mapping) else {}


def _by_status(status: int) -> type[BailiffError]:
    otherwise = InvalidQuestionError if 400 <= status < 500 else ServerError
    return _BY_STATUS.get(status, otherwise)


def _id_of(response: httpx2.Response) -> str | None:
    return response.headers.get("x-request-id")


def _retry_after(text: str | None) -> float | None:
    """Seconds, or until an instant (RFC 9110, 10.2.3); None where it says neither."""
    if text is None:
        return None
    if text.strip().isdecimal():
        return asked_pause(float(text))
    try:
        at = parsedate_to_datetime(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return asked_pause((at - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def pod_path(namespace: str, name: str, explain: bool | None) -> str:
    """Of the look-up of a pod."""
    return f"namespaces/{_quoted(namespace)}/pods/{_quoted(name)}/decision{_query(explain)}"


def node_path(name: str, explain: bool | None) -> str:
    """Of the look-up of a node's pods."""
    return f"nodes/{_quoted(name)}/decisions{_query(explain)}"


def _quoted(name: object) -> str:
    if not isinstance(name, str) or name in ("", ".", "..") or not name.isprintable():
        raise given.invalid("$.name", f"no name of an object: {name!a}")
    return quote(name, safe="")


def _query(explain: bool | None) -> str:
    return "" if explain is None else f"?explain={str(explain).lower()}"
