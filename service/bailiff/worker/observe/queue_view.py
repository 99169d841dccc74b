"""What is pending, as /v1/queue tells it: filtered, in the order of the next try, page by page."""

from __future__ import annotations

import base64
import binascii
import heapq
from operator import itemgetter
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import Meta, Struct

from bailiff.decisions.policies import Cause
from bailiff.decisions.text import describe_time
from bailiff.worker.mirror.slices import in_slices
from bailiff.worker.timers.states import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000

# Where a page ends: next try and UID. UIDs break ties, so that no eviction is on two pages.
_Place = tuple[float, str]


class QueueQueryError(ValueError):
    """The query cannot be answered; the message says which parameter and what is allowed."""


class QueueQuery(Struct, frozen=True, forbid_unknown_fields=True, rename={"after": "continue"}):
    """The parameters of /v1/queue.

    Attributes:
        limit: evictions on a page.
        namespace: only pods of this namespace.
        name: only pods of this name.
        node: only pods of this node.
        state: only evictions in this state.
        reason: only those with this reason, as TaintNotTolerated.
        cause: only those that this holds back.
        after: the `continue` of the page before.
    """

    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    namespace: str = ""
    name: str = ""
    node: str = ""
    state: State | None = None
    reason: str = ""
    cause: Cause | None = None
    after: str = ""

    def matches(self, eviction: Eviction, pending: PendingEvictions) -> bool:
        """Whether the filters let it through; one that is settled is pending no more."""
        if eviction.is_settled:
            return False
        return self._matches(eviction) and self.cause in {None, _cause(eviction, pending)}

    def _matches(self, eviction: Eviction) -> bool:
        pod = eviction.pod
        return (
            self.namespace in {"", pod.metadata.namespace}
            and self.name in {"", pod.metadata.name}
            and self.node in {"", pod.spec.node_name}
            and self.state in {None, eviction.state}
            and self.reason in {"", eviction.finding.reason}
        )


def read_query(parameters: Mapping[str, str]) -> QueueQuery:
    """The query of a URL.

    Raises:
        QueueQueryError: an unknown parameter, or a value that it cannot have.
    """
    try:
        query = msgspec.convert(dict(parameters), QueueQuery, strict=False)
    except msgspec.ValidationError as error:
        raise QueueQueryError(str(error)) from error
    _read_place(query.after)
    return query


async def view(pending: PendingEvictions, query: QueueQuery) -> dict[str, Any]:
    """One page: `total` counts all that match, `continue` asks for the next page if there is one.

    Gone through by slices, of those that there are when it is asked. Evictions come and go between
    two pages; one that stays where it is is shown once.
    """
    after = _read_place(query.after)
    total = behind = 0
    page: list[tuple[_Place, Eviction]] = []
    async for part in in_slices(list(pending)):
        found = [(_place(one), one) for one in part if query.matches(one, pending)]
        rest = found if after is None else [one for one in found if one[0] > after]
        total, behind = total + len(found), behind + len(rest)
        page = heapq.nsmallest(query.limit, [*page, *rest], key=itemgetter(0))
    described = [_describe(one) | _describe_hold(one, pending) for _, one in page]
    answer: dict[str, Any] = {"total": total, "evictions": described}
    if behind > len(page):
        answer["continue"] = _write_place(page[-1][0])
    return answer


def _place(eviction: Eviction) -> _Place:
    return eviction.place, eviction.uid


def _write_place(place: _Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode()


def _read_place(token: str) -> _Place | None:
    if not token:
        return None
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(token.encode()), type=tuple[float, str])
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError) as error:
        message = "continue must be what a page before has given - at `$.continue`"
        raise QueueQueryError(message) from error


def _describe(eviction: Eviction) -> dict[str, Any]:
    meta = eviction.pod.metadata
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "node": eviction.pod.spec.node_name,
        "state": eviction.state.value,
        "evictAt": describe_time(eviction.deadline),
        "system": eviction.finding.system,
        "reason": eviction.finding.reason,
        "message": eviction.finding.message,
        "attempts": eviction.attempts,
        "lastOutcome": eviction.outcome,
    }


def _describe_hold(eviction: Eviction, pending: PendingEvictions) -> dict[str, Any]:
    hold = pending.held_by(eviction)
    if hold is None:
        return {}
    told = {"cause": hold.cause.value, "message": hold.message}
    return {"hold": told | ({"until": describe_time(hold.until)} if hold.until else {})}


def _cause(eviction: Eviction, pending: PendingEvictions) -> Cause | None:
    hold = pending.held_by(eviction)
    return None if hold is None else hold.cause
