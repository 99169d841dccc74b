"""Whether a node is lost, since when, and when its pods go.

Source: monitorNodeHealth and tryUpdateNodeHealth in
pkg/controller/nodelifecycle/node_lifecycle_controller.go, and the gate
NodeControllerLeaseCircuitBreaker there, by which a Lease that is renewed speaks for the node.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from bailiff.decisions.instants import in_utc, later_by
from bailiff.decisions.node_loss.settings import DEFAULTS
from bailiff.kinds import Time
from bailiff.kinds.meta import Value

if TYPE_CHECKING:
    from datetime import datetime

    from bailiff.decisions.node_loss.facts import NodeLossFacts
    from bailiff.decisions.node_loss.settings import NodeLossSettings
    from bailiff.kinds import Node
    from bailiff.kinds.node_status import NodeCondition


class NodeState(StrEnum):
    """How a node stands.

    READY: its Ready condition is True. NOT_READY: False, so that its kubelet has said itself, or
    had. UNKNOWN: Unknown, or it has none. SILENT: Ready is True still, but its Lease is not
    renewed, as where no controller sets the condition. LEASE_RENEWED: Unknown, but its Lease is
    renewed: it lives.
    """

    READY = "Ready"
    NOT_READY = "NotReady"
    UNKNOWN = "Unknown"
    SILENT = "Silent"
    LEASE_RENEWED = "LeaseRenewed"

    @property
    def is_lost(self) -> bool:
        """Whether its pods are to go, once that has lasted."""
        return self in LOST


# A set, since all nodes of a cluster are looked at every five seconds.
LOST = frozenset({NodeState.NOT_READY, NodeState.UNKNOWN, NodeState.SILENT})


class Standing(Value, frozen=True):
    """How a node stands, and what comes of it.

    Attributes:
        state: see there.
        lost_since: where it is lost: since when.
        deadline: where it is lost: when its pods may go.
        holds_until: the state may be another from this instant on even if no object changes.
        counted_from_now: nothing tells since when it is lost, so it counts from the question.
    """

    state: NodeState
    lost_since: Time | None = None
    deadline: Time | None = None
    holds_until: Time | None = None
    counted_from_now: bool = False


def ready_condition(node: Node) -> NodeCondition | None:
    """The first condition Ready of a node."""
    # A loop: with 5,000 nodes looked at every five seconds a generator is a fifth of it.
    for one in node.status.conditions:
        if one.type == "Ready":
            return one
    return None


def standing_of(node: Node, facts: NodeLossFacts, now: datetime) -> Standing:
    """How a node stands at `now`.

    Whether it lives is told by whoever watches it, and else by its Lease; since when it is lost, by
    whoever watches it, and else by the node's own times and the clock of the node controller. Those
    are compared with `now`, which is good enough to answer, and not to evict.

    Args:
        node: as the API server has it.
        facts: what else is known.
        now: in UTC.
    """
    settings = facts.settings or DEFAULTS
    condition = ready_condition(node)
    status = "Unknown" if condition is None else condition.status
    alive, silent_at = lives(facts, now), _silent_at(facts)
    until = silent_at if alive and facts.lives is None else None
    changed = condition.last_transition_time if condition is not None else None
    if status == "True":
        if alive or (silent_at is None and facts.lives is None and facts.lost_since is None):
            return Standing(state=NodeState.READY, holds_until=until)
        return _lost(NodeState.SILENT, facts.lost_since or silent_at, settings, now)
    if status == "False":
        return _lost(NodeState.NOT_READY, facts.lost_since or changed, settings, now)
    if alive:
        return Standing(state=NodeState.LEASE_RENEWED, holds_until=until)
    since = changed or node.metadata.creation_timestamp
    return _lost(NodeState.UNKNOWN, facts.lost_since or since, settings, now)


def lives(facts: NodeLossFacts, now: datetime) -> bool:
    """Whether the kubelet lives, as far as that is known: as it is told, or as its Lease shows."""
    if facts.lives is not None:
        return facts.lives
    silent_at = _silent_at(facts)
    return silent_at is not None and silent_at > now


def _silent_at(facts: NodeLossFacts) -> datetime | None:
    """When the node is silent by its Lease; None: no Lease tells."""
    renewed = None if facts.lease is None else facts.lease.spec.renew_time
    settings = facts.settings or DEFAULTS
    return None if renewed is None else later_by(renewed, timedelta(0, settings.silent_after))


def _lost(
    state: NodeState, since: datetime | None, settings: NodeLossSettings, now: datetime
) -> Standing:
    """That it is lost, since when, and until when its pods have."""
    start = now if since is None else in_utc(since)
    deadline = later_by(start, timedelta(0, settings.after))
    return Standing(
        state=state,
        lost_since=start,
        deadline=deadline,
        holds_until=deadline if deadline > now and since is not None else None,
        counted_from_now=since is None,
    )
