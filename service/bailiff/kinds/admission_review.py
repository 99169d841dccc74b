"""AdmissionReviews (k8s.io/api/admission/v1/types.go): what kube-apiserver asks a webhook."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Raw, field

from bailiff.kinds.meta import Int32, Value
from bailiff.kinds.names import MAX_SUBDOMAIN

# kube-apiserver makes a UUID for each call; without one no answer is the right one.
CallUid = Annotated[str, Meta(min_length=1, max_length=MAX_SUBDOMAIN)]

# As kube-apiserver writes an object that a request has not, such as the new one of a DELETE.
_ABSENT = (b"", b"null")


class GroupVersionKind(Value, frozen=True):
    """What an object is.

    Attributes:
        group: of its API; empty for the core group.
        version: as `v1`.
        kind: as `Pod`.
    """

    group: str = ""
    version: str = ""
    kind: str = ""


class GroupVersionResource(Value, frozen=True):
    """Where objects are served.

    Attributes:
        group: of their API; empty for the core group.
        version: as `v1`.
        resource: their plural, as `pods`.
    """

    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(Value, frozen=True):
    """Who asks the API server for it (k8s.io/api/authentication/v1/types.go).

    Attributes:
        username: as `system:serviceaccount:kube-system:daemon-set-controller`.
        uid: tells users of one name apart.
        groups: that the user belongs to.
    """

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()


class AdmissionRequest(Value, frozen=True):
    """What somebody asks the API server for; objects are kept as they came until they are read.

    It comes before the API server validates, so that no text is refused here for its length.

    Attributes:
        uid: of this call; the answer carries the same.
        operation: `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
        kind: of `object`, in the version that the webhook is registered for.
        resource: likewise where it is served, as `pods`.
        sub_resource: as `eviction` or `binding`; empty for the object itself.
        request_kind: what was asked for, where that is another version than the webhook's.
        request_resource: likewise.
        request_sub_resource: likewise.
        name: of the object; empty where the API server is yet to make one.
        namespace: of the object; empty for kinds without one.
        user_info: who asks.
        object: as it is to be; null in a DELETE.
        old_object: as it is; null in a CREATE.
        dry_run: whatever comes of it, nothing will be kept.
        options: of the operation, as DeleteOptions.
    """

    uid: CallUid
    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
    kind: GroupVersionKind = GroupVersionKind()
    resource: GroupVersionResource = GroupVersionResource()
    sub_resource: str = ""
    request_kind: GroupVersionKind | None = None
    request_resource: GroupVersionResource | None = None
    request_sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    user_info: UserInfo = UserInfo()
    object: Raw = field(default_factory=Raw)
    old_object: Raw = field(default_factory=Raw)
    dry_run: bool = False
    options: Raw = field(default_factory=Raw)

    @property
    def target(self) -> str:
        """What it is about, as kubectl names it.

        As `pods`, `pods/eviction` or `resourceslices.resource.k8s.io`.
        """
        group, sub = self.resource.group, self.sub_resource
        whole = f"{self.resource.resource}.{group}" if group else self.resource.resource
        return f"{whole}/{sub}" if sub else whole


class AdmissionReview(Value, frozen=True):
    """A call of kube-apiserver's.

    Attributes:
        api_version: `admission.k8s.io/v1`, the only version that is spoken.
        kind: `AdmissionReview`.
        request: what somebody asks the API server for.
    """

    api_version: Literal["admission.k8s.io/v1"]
    kind: Literal["AdmissionReview"]
    request: AdmissionRequest


class StatusCause(Value, frozen=True):
    """One thing that stands in the way (metav1.StatusCause).

    Attributes:
        reason: for programs, as `DisruptionBudget`.
        message: for people.
        field: of the object, where one is at fault.
    """

    reason: str = ""
    message: str = ""
    field: str = ""


class StatusDetails(Value, frozen=True):
    """More about a refusal (metav1.StatusDetails).

    Attributes:
        causes: what stands in the way.
        retry_after_seconds: after which it is worth trying again; the API server hands them on as
            the header Retry-After.
    """

    causes: tuple[StatusCause, ...] = ()
    retry_after_seconds: Int32 = 0


class RefusalStatus(Value, frozen=True):
    """Why a request is refused (metav1.Status); it is handed on to whoever made it.

    Attributes:
        status: `Failure`.
        code: of HTTP, 400 and more.
        reason: for programs, as `Forbidden`, `TooManyRequests` or `BadRequest`.
        message: for people.
        details: more about it.
    """

    status: Literal["Failure"] | None = None
    code: Int32 = 0
    reason: str = ""
    message: str = ""
    details: StatusDetails | None = None


class AdmissionResponse(Value, frozen=True):
    """The answer to a request.

    Attributes:
        uid: of the request.
        allowed: whether the API server may go on with it.
        status: why not.
        patch: of the object, as a JSON Patch (RFC 6902), in Base64.
        patch_type: `JSONPatch` where there is one.
        warnings: shown to whoever asked, each of 120 characters at most.
    """

    uid: CallUid
    allowed: bool
    status: RefusalStatus | None = None
    patch: bytes = b""
    patch_type: Literal["JSONPatch"] | None = None
    warnings: tuple[str, ...] = ()


class ReviewedAdmission(Value, frozen=True):
    """An AdmissionReview that has been answered.

    Attributes:
        api_version: as asked.
        kind: as asked.
        response: the answer.
    """

    api_version: Literal["admission.k8s.io/v1"]
    kind: Literal["AdmissionReview"]
    response: AdmissionResponse


def is_absent(given: Raw) -> bool:
    """Whether a request has no such object."""
    return bytes(memoryview(given)[:5]) in _ABSENT
