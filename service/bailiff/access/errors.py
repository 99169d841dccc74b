"""Why a request is not answered; each face says it in its own way.

AccessError
├── UnauthenticatedError      nothing proves who the caller is
├── DeniedError               the caller is known, and lacks a right
├── UnavailableError          who the caller is, or which rights it has, cannot be found out now
├── QuotaError                the caller has asked for more than its quota
├── MisnamedError             the path names an object as no object can be named
└── UnknownPathError          this port has no rule for the path (access/rules.py)
    └── OtherMethodError      it has one, for another method of HTTP
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
    """The caller has asked for more than the quota of one caller."""

    reason = "too_many_requests"


class MisnamedError(AccessError):
    """The path names an object as no object of Kubernetes can be named.

    Attributes:
        parameter: of the path, in which the name stands, as `namespace`.
    """

    reason = "invalid_field"
    is_told = False

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class UnknownPathError(AccessError):
    """The port has no rule for the path (access/rules.py), so nobody is answered there."""

    reason = "not_found"
    is_told = False


class OtherMethodError(UnknownPathError):
    """The port has a rule for the path, but for other methods of HTTP.

    Attributes:
        allowed: those methods, as `GET`.
    """

    reason = "method_not_allowed"

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed
