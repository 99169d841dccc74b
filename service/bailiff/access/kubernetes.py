"""TokenReview and SubjectAccessReview: what the API server knows of a token, and of a caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from bailiff.access.callers import Caller
from bailiff.access.reviews import DENIED, Denied
from bailiff.cluster import Resource, ResponseError, UnreachableError

if TYPE_CHECKING:
    from bailiff.access.rights import Right
    from bailiff.cluster import Cluster

R = TypeVar("R")


class _User(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = ()
    extra: Mapping[str, tuple[str, ...]] | None = None


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _User = msgspec.field(default_factory=_User)
    audiences: tuple[str, ...] | None = ()


class _TokenReview(msgspec.Struct):
    status: _TokenStatus = msgspec.field(default_factory=_TokenStatus)


class _AccessStatus(msgspec.Struct):
    allowed: bool = False
    denied: bool = False


class _AccessReview(msgspec.Struct):
    status: _AccessStatus = msgspec.field(default_factory=_AccessStatus)


_AUTHENTICATION = "authentication.k8s.io"
_AUTHORIZATION = "authorization.k8s.io"
_TOKEN_REVIEWS = Resource(_AUTHENTICATION, "v1", "tokenreviews", _TokenReview, namespaced=False)
_ACCESS_REVIEWS = Resource(
    _AUTHORIZATION, "v1", "subjectaccessreviews", _AccessReview, namespaced=False
)


class Reviewer(Protocol):
    """Who knows callers and their rights. Every method raises ClusterError."""

    async def who(self, token: str) -> Caller | Denied:
        """Whose token it is; DENIED: nobody's."""
        ...

    async def may(self, caller: Caller, right: Right) -> bool | Denied:
        """True: the caller has the right; DENIED: it has not."""
        ...


class ClusterReviewer:
    """Asks the API server of a cluster; its account needs the role system:auth-delegator."""

    def __init__(self, cluster: Cluster, audience: str) -> None:
        """Prepare; a token counts that is meant for this audience."""
        self._cluster = cluster
        self._audience = audience

    async def who(self, token: str) -> Caller | Denied:
        """See Reviewer."""
        spec = {"token": token, "audiences": [self._audience]}
        status = (await self._ask(_TOKEN_REVIEWS, _review(_TOKEN_REVIEW, spec))).status
        # An authenticator that knows of no audiences names none: its word is about the API server.
        if not status.authenticated or self._audience not in (status.audiences or ()):
            return DENIED
        return _caller(status.user)

    async def may(self, caller: Caller, right: Right) -> bool | Denied:
        """See Reviewer."""
        spec: dict[str, Any] = {
            "user": caller.name,
            "uid": caller.uid,
            "groups": caller.groups,
            "extra": dict(caller.extra),
            **right.attributes(),
        }
        status = (await self._ask(_ACCESS_REVIEWS, _review(_ACCESS_REVIEW, spec))).status
        return True if status.allowed and not status.denied else DENIED

    async def _ask(self, kind: Resource[R], review: dict[str, Any]) -> R:
        """The review as the API server has filled it in.

        Nothing is written there, so it may be sent twice: where an idle connection turns out to
        have been closed meanwhile, which the client does not try again for a POST.
        """
        try:
            return await self._cluster.create(kind, review)
        except UnreachableError:
            return await self._cluster.create(kind, review)


_TOKEN_REVIEW = (f"{_AUTHENTICATION}/v1", "TokenReview")
_ACCESS_REVIEW = (f"{_AUTHORIZATION}/v1", "SubjectAccessReview")


def _review(kind: tuple[str, str], spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": kind[0], "kind": kind[1], "spec": spec}


def _caller(user: _User) -> Caller:
    if not user.username:
        raise ResponseError("the API server knows a token, and does not say whose it is")
    extra = tuple(sorted((key, values) for key, values in (user.extra or {}).items()))
    return Caller(name=user.username, uid=user.uid, groups=user.groups or (), extra=extra)
