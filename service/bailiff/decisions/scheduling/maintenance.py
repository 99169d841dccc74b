"""Known maintenance: from when on the pods of a node will be asked to leave."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from bailiff.decisions.cost import FactsError
from bailiff.decisions.decision import Finding, Verdict
from bailiff.decisions.instants import in_utc
from bailiff.decisions.text import describe_time
from bailiff.kinds import Time
from bailiff.kinds.meta import Value
from bailiff.kinds.texts import ObjectName
from bailiff.kinds.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.kinds import Node

MAINTENANCE = "maintenance"
MAX_MAINTENANCES = 1000
# Nodes that all of them may name together.
MAX_NAMED = 200_000
# Bytes that a node's maintenances hold besides its name, one of them in its list, and by itself;
# and a character of a text at most.
_OF_NODE, _LISTED, _PERIOD, _OF_NAME = 250, 8, 300, 4


class Maintenance(Value, frozen=True, forbid_unknown_fields=True):
    """That some nodes are to be worked on.

    Attributes:
        nodes: their names; those that nobody asks about are passed over.
        starts_at: from when on their pods are asked to leave.
        ends_at: when it is over; absent: nobody knows.
        reason: for people, at most 253 characters.
    """

    nodes: tuple[ObjectName, ...]
    starts_at: Time
    ends_at: Time | None = None
    reason: Annotated[str, Meta(max_length=253)] = ""


class Period(Struct, frozen=True, gc=False):
    """Maintenance of one node.

    Attributes:
        starts_at: in UTC.
        ends_at: in UTC; None: nobody knows.
        reason: for people; may be empty.
    """

    starts_at: datetime
    ends_at: datetime | None = None
    reason: str = ""

    def leave_by(self, now: datetime) -> datetime | None:
        """When a pod that comes now has to leave; None: it is over."""
        if self.ends_at is not None and self.ends_at <= now:
            return None
        return max(self.starts_at, now)


def periods_by_node(told: Iterable[Maintenance]) -> dict[str, tuple[Period, ...]]:
    """The maintenances of each node, in the order told, each once."""
    found: defaultdict[str, dict[Period, None]] = defaultdict(dict)
    for one in told:
        end = None if one.ends_at is None else in_utc(one.ends_at)
        period = Period(in_utc(one.starts_at), end, one.reason)
        for name in one.nodes:
            found[name][period] = None
    return {name: tuple(periods) for name, periods in found.items()}


def held_by(periods: Mapping[str, Sequence[Period]]) -> int:
    """Bytes that the maintenances of nodes hold, about."""
    told = {one for some in periods.values() for one in some}
    named = sum([_OF_NODE + _OF_NAME * len(name) for name in periods])
    listed = _LISTED * sum(map(len, periods.values()))
    return named + listed + sum([_PERIOD + _OF_NAME * len(one.reason) for one in told])


def annotated(node: Node) -> tuple[Period, ...]:
    """What the node's annotation tells; a spoilt one tells nothing."""
    text = node.metadata.annotations.maintenance
    if not text:
        return ()
    try:
        return (Period(in_utc(parse_time(text)), reason="told by the node's annotation"),)
    except ValueError:
        return ()


def check_maintenances(told: Sequence[Maintenance], path: str) -> None:
    """Refuse what ends before it starts, has a node without a name, or names too many.

    Raises:
        FactsError: as said, with the path of the field.
    """
    named = 0
    for index, one in enumerate(told):
        named += len(one.nodes)
        if "" in one.nodes:
            raise FactsError(f"{path}[{index}].nodes[{one.nodes.index('')}]", "must be a name")
        if one.ends_at is not None and one.ends_at < one.starts_at:
            raise FactsError(f"{path}[{index}].endsAt", "is before startsAt")
    if named > MAX_NAMED:
        raise FactsError(path, f"at most {MAX_NAMED} nodes may be named, there are {named}")


def leaving(periods: Iterable[Period], now: datetime) -> Finding | None:
    """When a pod that comes now has to leave for maintenance; None: never, as far as is known."""
    first: tuple[datetime, Period] | None = None
    for one in periods:
        at = one.leave_by(now)
        if at is not None and (first is None or at < first[0]):
            first = at, one
    return None if first is None else _finding(*first, now)


def _finding(at: datetime, period: Period, now: datetime) -> Finding:
    waits = at > now
    message = f"maintenance from {describe_time(period.starts_at)} on"
    if period.ends_at is not None:
        message += f", until {describe_time(period.ends_at)}"
    if period.reason:
        message += f": {period.reason}"
    return Finding(
        system=MAINTENANCE,
        verdict=Verdict.EVICT_AT if waits else Verdict.EVICT_NOW,
        reason="MaintenanceAhead" if waits else "UnderMaintenance",
        message=message,
        evict_at=at,
    )
