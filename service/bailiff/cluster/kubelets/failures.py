"""From what was raised to the KubeletError that it means."""

from __future__ import annotations

import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from bailiff.cluster.errors import (
    ClusterError,
    ForbiddenError,
    RequestTimeoutError,
    StatusError,
    TooLongError,
    UnauthorizedError,
    UnreachableError,
)
from bailiff.cluster.kubelets.errors import (
    KubeletError,
    KubeletForbiddenError,
    KubeletMalformedError,
    KubeletStatusError,
    KubeletTimeoutError,
    KubeletTlsError,
    KubeletTooLongError,
    KubeletUnauthenticatedError,
    KubeletUnreachableError,
)
from bailiff.cluster.status import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.cluster.kubelets.answers import Answer

_MAX_QUOTED = 300
_OK = 200
_BY_STATUS: dict[int, type[KubeletError]] = {
    401: KubeletUnauthenticatedError,
    403: KubeletForbiddenError,
}
_MEANINGS: tuple[tuple[type[ClusterError], type[KubeletError]], ...] = (
    (UnauthorizedError, KubeletUnauthenticatedError),
    (ForbiddenError, KubeletForbiddenError),
    (RequestTimeoutError, KubeletTimeoutError),
    (TooLongError, KubeletTooLongError),
    (UnreachableError, KubeletUnreachableError),
)
# What the API server's proxy says where it gets no connection, and no answer.
_BY_GATEWAY: dict[int, type[KubeletError]] = {
    502: KubeletUnreachableError,
    503: KubeletUnreachableError,
    504: KubeletTimeoutError,
}


@contextmanager
def told(where: str) -> Iterator[None]:
    """Make every failure inside a KubeletError that says where it happened.

    Args:
        where: as `https://10.0.0.1:10250/stats/summary`.
    """
    try:
        yield
    except KubeletError as error:
        raise type(error)(f"{where}: {error.message}") from error
    except TimeoutError as error:
        raise KubeletTimeoutError(f"{where}: {str(error) or 'no answer'}") from error
    except ssl.SSLError as error:
        raise KubeletTlsError(f"{where}: {_of_tls(error)}") from error
    except OSError as error:
        text = error.strerror or str(error) or type(error).__name__
        raise KubeletUnreachableError(f"{where}: {text}") from error
    except ClusterError as error:
        raise of_cluster(error) from error


def of_cluster(error: ClusterError) -> KubeletError:
    """What a failure between us and the API server means for a node."""
    kind = _BY_GATEWAY.get(error.status)
    if kind is None:
        default = KubeletStatusError if isinstance(error, StatusError) else KubeletError
        kind = next((mine for theirs, mine in _MEANINGS if isinstance(error, theirs)), default)
    return kind(error.message)


def check_status(answer: Answer) -> None:
    """Refuse an answer that is not 200.

    Raises:
        KubeletError: by its status, with what the kubelet says.
    """
    status = answer.status
    if status == _OK:
        return
    kind = _BY_STATUS.get(status, KubeletStatusError)
    raise kind(f"answered {status}: {_words(answer.body)}")


def check_form(answer: Answer) -> None:
    """Refuse an answer of 200 without anything in it.

    Raises:
        KubeletMalformedError: as said.
    """
    if not answer.body:
        raise KubeletMalformedError("the answer is empty")


def _words(body: bytes) -> str:
    """What a refusal says, quoted: a metav1.Status' message, or a line of text."""
    try:
        said = msgspec.json.decode(body, type=Status).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = body.decode("utf-8", "replace")
    return repr(said.strip()[:_MAX_QUOTED])


def _of_tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    return f"no TLS with it: {error.reason or error}"
