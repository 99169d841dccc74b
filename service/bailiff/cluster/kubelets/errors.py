"""What can go wrong between us and a kubelet; each concerns one node alone.

    KubeletError
    ├── KubeletAddressError          the node's status names no address that may be asked
    ├── KubeletUnreachableError      no connection, or it broke
    ├── KubeletTimeoutError          connected, but no whole answer in time
    ├── KubeletTlsError              its certificate is not trusted, or ours is not
    ├── KubeletUnauthenticatedError  401: it does not know who asks
    ├── KubeletForbiddenError        403: who asks lacks the right, `nodes/stats`
    ├── KubeletStatusError           any other answer that is not 200
    ├── KubeletTooLongError          the answer is longer than the settings allow
    └── KubeletMalformedError        no HTTP, no summary, or that of another node

No message carries a token. What a kubelet says is cut, and quoted, since it may be hostile.
"""

from __future__ import annotations

from typing import ClassVar


class KubeletError(Exception):
    """A node that could not be asked.

    Attributes:
        reason: in one word, for metrics.
        message: what happened, for people.
    """

    reason: ClassVar[str] = "other"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class KubeletAddressError(KubeletError):
    """The node's status names no address that may be asked."""

    reason = "no_address"


class KubeletUnreachableError(KubeletError):
    """No connection: refused, no route, not within the time for it; or it broke."""

    reason = "unreachable"


class KubeletTimeoutError(KubeletError):
    """No whole answer in time."""

    reason = "timed_out"


class KubeletTlsError(KubeletError):
    """The kubelet's certificate is not trusted, or is another host's, or it refuses ours."""

    reason = "tls"


class KubeletUnauthenticatedError(KubeletError):
    """401: the kubelet does not know who asks."""

    reason = "unauthenticated"


class KubeletForbiddenError(KubeletError):
    """403: who asks lacks the right."""

    reason = "forbidden"


class KubeletStatusError(KubeletError):
    """Any other answer that is not 200, redirects included: none is followed."""

    reason = "status"


class KubeletTooLongError(KubeletError):
    """The answer is longer than the settings allow."""

    reason = "too_long"


class KubeletMalformedError(KubeletError):
    """The answer is no HTTP, no summary, or that of another node."""

    reason = "malformed"
