"""A listing of what is pending, written down once for all pages that are asked of it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from bailiff.decisions.text import describe_time
from bailiff.worker.mirror.slices import in_slices, slices
from bailiff.worker.observe.queue_query import write_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.worker.observe.listing import Listing, Row
    from bailiff.worker.observe.queue_query import Place

# Rows that are written down in one go, about 0.5 ms; and that are sent in one piece, about 40 kB.
_SLICE = 100


class Page(NamedTuple):
    """The bytes of an answer, in pieces, so that nobody who reads slowly keeps a copy of all.

    Attributes:
        length: of all pieces.
        pieces: one and up, to be sent one after the other; once.
    """

    length: int
    pieces: Iterator[bytes]


class QueuePages:
    """Cuts pages. Immutable."""

    def __init__(self, head: dict[str, Any], listing: Listing, rows: tuple[bytes, ...]) -> None:
        """Prepare.

        Args:
            head: what stands before the evictions.
            listing: which they are.
            rows: each of the listing's, as JSON.
        """
        self._head = msgspec.json.encode(head | {"total": listing.total})[:-1] + b',"evictions":['
        self._rows = rows
        self._places = tuple(row.place for row in listing.rows)
        self._has_more = listing.has_more
        self._ends = (0, *accumulate(map(len, rows)))

    def has(self, after: Place, limit: int) -> bool:
        """Whether the page behind this place is here, in full or as the last one."""
        if not self._has_more:
            return True
        begin = bisect_right(self._places, after)
        return begin > 0 and begin + limit <= len(self._rows)

    def page(self, limit: int, after: Place | None = None) -> Page:
        """At most so many evictions behind this place, and `continue` where there are others."""
        begin = 0 if after is None else bisect_right(self._places, after)
        end = min(begin + limit, len(self._rows))
        tail = b"]}"
        if end > begin and (end < len(self._rows) or self._has_more):
            token = msgspec.json.encode(write_place(self._places[end - 1]))
            tail = b'],"continue":' + token + b"}"
        commas = max(0, end - begin - 1)
        rows = self._ends[end] - self._ends[begin] + commas
        pieces = _joined(self._head, self._rows[begin:end], tail)
        return Page(len(self._head) + rows + len(tail), pieces)


async def write_down(head: dict[str, Any], listing: Listing) -> QueuePages:
    """The pages of a listing; others have their turn meanwhile."""
    rows: list[bytes] = []
    async for part in in_slices(listing.rows, _SLICE):
        rows += [msgspec.json.encode(_describe(row) | _describe_hold(row)) for row in part]
    return QueuePages(head, listing, tuple(rows))


def _joined(head: bytes, rows: tuple[bytes, ...], tail: bytes) -> Iterator[bytes]:
    piece = head
    for number, part in enumerate(slices(rows, _SLICE)):
        if number:
            yield piece
            piece = b","
        piece += b",".join(part)
    yield piece + tail


def _describe(row: Row) -> dict[str, Any]:
    meta = row.pod.metadata
    return {
        "namespace": meta.namespace,
        "name": meta.name,
        "uid": meta.uid,
        "node": row.pod.spec.node_name,
        "state": row.state.value,
        "evictAt": describe_time(row.deadline),
        "system": row.finding.system,
        "reason": row.finding.reason,
        "message": row.finding.message,
        "attempts": row.attempts,
        "lastOutcome": row.outcome,
    }


def _describe_hold(row: Row) -> dict[str, Any]:
    hold = row.hold
    if hold is None:
        return {}
    told = {"cause": hold.cause.value, "message": hold.message}
    return {"hold": told | ({"until": describe_time(hold.until)} if hold.until else {})}
