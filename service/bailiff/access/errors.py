"""Why a caller is not answered; each face says it in its own way.

AccessError
├── UnauthenticatedError  nobody knows who asks
├── DeniedError           known, and may not ask this
├── UnavailableError      who it is, or what it may, cannot be found out now
├── QuotaError            asks more than one caller may
├── MisnamedError         asks about an object of a name that no object has
└── UnknownPathError      asks what nobody is answered
└── OtherMethodError  the path is answered to other methods
"""

from __future__ import annotations

from typing import ClassVar

_CHALLENGE = 'Bearer realm="bailiff"'


class AccessError(Exception):
    """A request that is not let in; the message is for the caller, and holds no secret.

    Attributes:
        reason: in a word, for metrics and logs.
        is_told: whether operators want to read of it in the log.
        retry_after: whole seconds after which it is worth trying again; 0: it is not.
    """

    reason: ClassVar[str] = ""
    is_told: ClassVar[bool] = True

    def __init__(self, message: str, retry_after: int = 0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnauthenticatedError(AccessError):
    """Nothing that was sent proves who asks.

    Attributes:
        challenge: what to answer in WWW-Authenticate (RFC 6750, 3).
    """

    reason = "unauthenticated"

    def __init__(self, message: str, error: str = "") -> None:
        """`error` is RFC 6750's word for what is wrong with what was sent, if anything was."""
        super().__init__(message)
        self.challenge = f'{_CHALLENGE}, error="{error}"' if error else _CHALLENGE


class DeniedError(AccessError):
    """The caller is known, and may not ask this; the message names the right that it lacks."""

    reason = "forbidden"


class UnavailableError(AccessError):
    """The API server did not say who it is or what it may: nobody is let in unseen."""

    reason = "authentication_unavailable"


class QuotaError(AccessError):
    """More than one caller may ask."""

    reason = "too_many_requests"


class MisnamedError(AccessError):
    """About an object of a name that no object can have.

    Attributes:
        parameter: of the path, as `name`.
    """

    reason = "invalid_field"
    is_told = False

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class UnknownPathError(AccessError):
    """What is in no table is answered to nobody."""

    reason = "not_found"
    is_told = False


class OtherMethodError(UnknownPathError):
    """The path is answered to other methods.

    Attributes:
        allowed: these, as `GET`.
    """

    reason = "method_not_allowed"

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed
