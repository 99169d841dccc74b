"""What can go wrong between us and a container runtime.

    CriError                      see bailiff.agent.runtime.RuntimeFailedError
    ├── CriUnreachableError       no socket, nobody listens, or the connection broke
    ├── CriTimeoutError           no whole answer in time
    ├── CriMalformedError         no HTTP/2, no gRPC, or none of the messages that were asked for
    ├── CriTooLongError           the answer is longer than it may be
    └── CriStatusError            the runtime said no

What a runtime says is cut, and quoted.
"""

from __future__ import annotations

from bailiff.agent.runtime import RuntimeFailedError

_MAX_QUOTED = 300


class CriError(RuntimeFailedError):
    """A call that failed."""


class CriUnreachableError(CriError):
    """No socket, nobody listens, or the connection broke."""


class CriTimeoutError(CriError):
    """No whole answer in time."""


class CriMalformedError(CriError):
    """No HTTP/2, no gRPC, or none of the messages that were asked for."""


class CriTooLongError(CriError):
    """The answer is longer than it may be."""


class CriStatusError(CriError):
    """The runtime said no.

    Attributes:
        code: of gRPC, as 5 for NOT_FOUND.
    """

    def __init__(self, method: str, code: int, said: str) -> None:
        """Of a method, as `ListImages`; `said` is quoted."""
        super().__init__(f"{method}: code {code}: {said[:_MAX_QUOTED]!r}")
        self.code = code
