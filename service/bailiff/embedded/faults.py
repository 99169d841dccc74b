"""Trouble on order: refusals, delays, lost answers, dropped watches, forgotten history."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bailiff.embedded import errors
from bailiff.embedded.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bailiff.embedded.objects import JsonObject
    from bailiff.embedded.storage import Store

# Requests remembered; tests count with them, demos must not fill the memory.
MAX_CALLS = 10_000

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request as the faults see it.

    Attributes:
        verb: as Kubernetes names it; `get` for discovery.
        resource: id, as `pods` or `leases.coordination.k8s.io`; empty for discovery.
        namespace: empty for none.
        name: empty for a collection.
        subresource: empty for none.
        path: of the URL.
    """

    verb: str
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    path: str = ""


@dataclass(slots=True, kw_only=True)
class Fault:
    """What happens to the requests that it is meant for.

    Attributes:
        verb, resource, name, subresource: of the requests; None for any.
        path: a regular expression that the path must contain; None for any.
        times: how many requests are left to be hit; None for all until cleared.
        hits: how many it has hit.
        delay: seconds before anything else happens.
        error: the answer; None for the true one.
        body: the answer's body instead of a Status.
        abort: close the connection instead of answering.
        after: carry the request out first; only the answer is lost or wrong.
    """

    verb: str | None = None
    resource: str | None = None
    name: str | None = None
    subresource: str | None = None
    path: str | None = None
    times: int | None = 1
    delay: float = 0.0
    error: ApiError | None = None
    body: bytes | None = None
    abort: bool = False
    after: bool = False
    hits: int = field(default=0, init=False)

    @property
    def spent(self) -> bool:
        """It has hit as often as it should."""
        return self.times is not None and self.hits >= self.times

    def matches(self, call: Call) -> bool:
        """Whether it is meant for this request."""
        wanted = (self.verb, self.resource, self.name, self.subresource)
        found = (call.verb, call.resource, call.name, call.subresource)
        if any(w is not None and w != f for w, f in zip(wanted, found, strict=True)):
            return False
        return self.path is None or re.search(self.path, call.path) is not None


class Faults:
    """The faults of one cluster.

    Attributes:
        calls: the last requests, oldest first, faulted or not.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._faults: list[Fault] = []
        self._drop: Callable[[str | None], int] = lambda _resource: 0
        self.calls: deque[Call] = deque(maxlen=MAX_CALLS)

    def fail(
        self,
        status: int = 500,
        *,
        reason: str | None = None,
        message: str = "injected fault",
        retry_after: int | None = None,
        details: JsonObject | None = None,
        body: bytes | None = None,
        times: int | None = 1,
        verb: str | None = None,
        resource: str | None = None,
        name: str | None = None,
        subresource: str | None = None,
        path: str | None = None,
        delay: float = 0.0,
        after: bool = False,
    ) -> Fault:
        """Refuse requests.

        Args:
            status: HTTP code.
            reason: of the Status; None for the code's usual one.
            message: of the Status.
            retry_after: seconds; None for no header.
            details: of the Status.
            body: sent as it is instead of a Status.
            times: how many requests; None for all until clear().
            verb: of the requests, as `list` or `deletecollection`; None for any.
            resource: id, as `pods`; None for any.
            name: of the object; None for any.
            subresource: empty for the object itself; None for any.
            path: regular expression that the path must contain.
            delay: seconds before the answer.
            after: carry the request out, then answer this.

        Returns:
            The fault; its `hits` tell how often it struck.
        """
        reason = _REASONS.get(status, "") if reason is None else reason
        error = ApiError(status, reason, message, details, retry_after=retry_after)
        return self.add(
            Fault(
                error=error,
                body=body,
                times=times,
                verb=verb,
                resource=resource,
                name=name,
                subresource=subresource,
                path=path,
                delay=delay,
                after=after,
            )
        )

    def add(self, fault: Fault) -> Fault:
        """Any fault; the first one that matches and is not spent strikes."""
        self._faults.append(fault)
        return fault

    def clear(self) -> None:
        """No more faults."""
        self._faults.clear()

    def strike(self, call: Call) -> Fault | None:
        """The fault for this request, counted; None for none. The application asks."""
        self.calls.append(call)
        for fault in self._faults:
            if fault.matches(call):
                fault.hits += 1
                if fault.spent:
                    self._faults.remove(fault)
                return fault
        return None

    def compact(self) -> None:
        """Forget the history: versions before now answer 410."""
        self._store.compact()

    def end_watches(self, *, expired: bool = False) -> int:
        """End all watches in good order, or with an ERROR 410; how many there were."""
        error = errors.expired("too old resource version: injected fault") if expired else None
        return self._store.end_watches(error)

    def drop_watches(self, resource: str | None = None) -> int:
        """Cut the connections of all watches, or those of one resource; how many there were."""
        return self._drop(resource)

    def connect(self, drop: Callable[[str | None], int]) -> None:
        """Tell how connections are cut. The application calls it."""
        self._drop = drop
