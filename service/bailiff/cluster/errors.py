"""What can go wrong between us and the API server.

    ClusterError
    ├── ConfigError               no usable kubeconfig, service account or login
    ├── UnreachableError          no connection: refused, reset, DNS, TLS, proxy
    ├── RequestTimeoutError       connected perhaps, but not answered in time
    ├── ResponseError             an answer that is not what was asked for
    │   └── TooLongError          longer than the settings allow
    ├── FencedError               not sent: this process is not the one to write now
    └── StatusError               the API server said no
        ├── BadRequestError       400
        │   └── DryRunUnsupportedError    an admission webhook cannot be asked by a dry run
        ├── UnauthorizedError     401
        ├── ForbiddenError        403 by RBAC or by an admission plugin
        │   └── AdmissionDeniedError  any code; an admission webhook or policy says no
        ├── NotFoundError         404
        ├── ConflictError         409; somebody else changed the object: read it again
        │   ├── AlreadyExistsError    there is one of that name
        │   └── UidMismatchError      409, or 422 to a patch; the name is another object's by now
        ├── ExpiredError          410; the resource version or continue token is too old
        ├── InvalidError          422; the object breaks a rule of its kind
        ├── TooManyRequestsError  429; retry_after says how long to stay away
        │   └── DisruptionBudgetError 429, 403 or 500; a PodDisruptionBudget forbids an eviction
        └── ServerError           5xx

Causes are chained. No message and no repr carries a header, a token or a body of a request.
"""

from __future__ import annotations

from typing import Any


class ClusterError(Exception):
    """Any failure of a request.

    Attributes:
        message: what happened, for people.
        status: HTTP status, 0 where there was none.
        reason: Kubernetes' machine-readable reason (metav1.Status.reason), or "".
        details: metav1.Status.details as it came, or {}.
        retry_after: seconds to wait before trying again, or None if the server did not say.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        reason: str = "",
        details: dict[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.reason = reason
        self.details = details or {}
        self.retry_after = retry_after


class ConfigError(ClusterError):
    """No usable kubeconfig, service account or login."""


class UnreachableError(ClusterError):
    """No connection: refused, reset, DNS, TLS or proxy. The request may have been carried out."""


class RequestTimeoutError(ClusterError):
    """Not answered in time. The request may have been carried out."""


class ResponseError(ClusterError):
    """The answer is longer than the settings allow, or does not decode."""


class TooLongError(ResponseError):
    """The answer is longer than the settings allow; of a list, fewer objects may be had."""


class FencedError(ClusterError):
    """A write that was not sent, because its sender must not write at the moment."""


class StatusError(ClusterError):
    """The API server answered with a failure."""


class BadRequestError(StatusError):
    """400: the request itself is malformed."""


class DryRunUnsupportedError(BadRequestError):
    """400: a webhook that would be called has side effects, so that a dry run is refused."""


class UnauthorizedError(StatusError):
    """401: the credentials are missing, wrong or expired, after one try to renew them."""


class ForbiddenError(StatusError):
    """403: not allowed by RBAC, or refused by admission."""


class AdmissionDeniedError(ForbiddenError):
    """An admission webhook or a ValidatingAdmissionPolicy refused the request.

    `status`, `reason` and `details` are what its author chose, any code from 400 on: a 404 from
    there says nothing about the object, a 409 nothing about its version.
    """


class NotFoundError(StatusError):
    """404: no such object, or no such resource."""

    def is_about(self, group: str, resource: str, name: str) -> bool:
        """Whether it says of this object that there is none (apimachinery, errors.NewNotFound).

        Args:
            group: of the resource; "" is the core group.
            resource: plural, as `pods`.
            name: of the object.
        """
        details = self.details
        about = (details.get("group", ""), details.get("kind"), details.get("name"))
        return self.reason == "NotFound" and about == (group, resource, name)


class ConflictError(StatusError):
    """409: the object changed since it was read, or a precondition failed."""


class AlreadyExistsError(ConflictError):
    """409 to a create: there is an object of that name."""


class UidMismatchError(ConflictError):
    """The request named a UID, and the name belongs to another object by now.

    `status` is 409 to a delete and 422 to a patch, where `metadata.uid` is an immutable field.
    """


class ExpiredError(StatusError):
    """410: the resource version or the continue token is too old; list again."""


class InvalidError(StatusError):
    """422: the object or the options break a rule; details name the fields."""


class TooManyRequestsError(StatusError):
    """429: the server is busy, or an eviction would break a PodDisruptionBudget."""


class DisruptionBudgetError(TooManyRequestsError):
    """An eviction that the pod's PodDisruptionBudget does not allow at the moment.

    `status` is 429; 403 where the budget's own status cannot be counted on, because too many
    evictions are not confirmed yet; or 500 where several budgets cover the pod, which the Eviction
    API does not support. `budget` is what the budget says, for people.
    """

    @property
    def budget(self) -> str:
        """The words of the budget: how many healthy pods it needs, and how many there are."""
        causes = self.details.get("causes") or []
        said = [str(one.get("message", "")) for one in causes if isinstance(one, dict)]
        return "; ".join(filter(None, said)) or self.message


class ServerError(StatusError):
    """5xx: the server, or something before it, failed."""
