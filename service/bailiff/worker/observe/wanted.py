"""What observers may want to see, and by which line they are served."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from bailiff.worker.observe.listing import MAX_ROWS
from bailiff.worker.observe.queue_query import QueueQuery

if TYPE_CHECKING:
    from datetime import datetime


class Report(Enum):
    """What is told of the worker as a whole."""

    METRICS = "metrics"
    POLICIES = "policies"
    SHADOW = "shadow"


# A query stands for the first MAX_ROWS evictions that match it.
Wanted: TypeAlias = "Report | QueueQuery"


class Taken(NamedTuple):
    """A snapshot: nothing in it changes any more.

    Attributes:
        what: the families of the metrics, or what a report says, or the head and the listing of a
            page; None: there is none.
        at: when it was taken, in the monotonic seconds of the worker's clock.
        instant: the same by its wall clock.
    """

    what: Any
    at: float
    instant: datetime


class Line(Enum):
    """Who waits in the same line waits for each other, and for nobody else.

    USUAL: what is asked for always, the beginning of the queue and the reports. NAMED: one pod, by
    its name. OTHER: everything that takes a walk through all that is pending.
    """

    USUAL = "usual"
    NAMED = "named"
    OTHER = "other"


_BEGINNING = QueueQuery(limit=MAX_ROWS)


def beginning(query: QueueQuery) -> QueueQuery:
    """The listing of the same filters from the beginning."""
    return replace(query, limit=MAX_ROWS, after="")


def listing_of(query: QueueQuery) -> QueueQuery:
    """The listing in which a page is, whatever its length."""
    return replace(query, limit=MAX_ROWS)


def line_of(wanted: Wanted) -> Line:
    """By which it is served."""
    if isinstance(wanted, Report) or wanted == _BEGINNING:
        return Line.USUAL
    return Line.NAMED if wanted.namespace and wanted.name else Line.OTHER
