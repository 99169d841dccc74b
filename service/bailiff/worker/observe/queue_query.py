"""What is asked of /v1/queue: filters, a page's length, and where it begins."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Annotated, TypeAlias

import msgspec
from msgspec import Meta, Struct

from bailiff.decisions.policies import Cause
from bailiff.worker.observe.listing import MAX_ROWS
from bailiff.worker.timers.states import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bailiff.worker.timers.eviction import Eviction
    from bailiff.worker.timers.pending import PendingEvictions

DEFAULT_LIMIT = 100

# Where a page ends: next try and UID. UIDs break ties, so that no eviction is on two pages.
Place: TypeAlias = tuple[float, str]


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

    limit: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = DEFAULT_LIMIT
    namespace: str = ""
    name: str = ""
    node: str = ""
    state: State | None = None
    reason: str = ""
    cause: Cause | None = None
    after: str = ""

    @property
    def place(self) -> Place | None:
        """Behind which it begins; None: at the beginning.

        Raises:
            QueueQueryError: it is none.
        """
        return _read_place(self.after)

    @property
    def is_for_all(self) -> bool:
        """Whether nothing is filtered out."""
        return msgspec.structs.replace(self, limit=DEFAULT_LIMIT, after="") == _ALL

    def those_of(self, part: list[Eviction], pending: PendingEvictions) -> list[Eviction]:
        """Those that the filters let through."""
        found = [one for one in part if self._matches(one)]
        if self.cause is None:
            return found
        return [one for one in found if _cause(one, pending) is self.cause]

    def _matches(self, eviction: Eviction) -> bool:
        pod = eviction.pod
        return (
            self.namespace in {"", pod.metadata.namespace}
            and self.name in {"", pod.metadata.name}
            and self.node in {"", pod.spec.node_name}
            and self.state in {None, eviction.state}
            and self.reason in {"", eviction.finding.reason}
        )


_ALL = QueueQuery()


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


def write_place(place: Place) -> str:
    """As `continue`."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode()


def _read_place(token: str) -> Place | None:
    if not token:
        return None
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(token.encode()), type=tuple[float, str])
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError) as error:
        message = "continue must be what a page before has given - at `$.continue`"
        raise QueueQueryError(message) from error


def _cause(eviction: Eviction, pending: PendingEvictions) -> Cause | None:
    hold = pending.held_by(eviction)
    return None if hold is None else hold.cause
