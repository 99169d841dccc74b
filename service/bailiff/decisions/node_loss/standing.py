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
        return self not in (NodeState.READY, NodeState.LEASE_RENEWED)


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

    Without `lost_since` of the facts all is told by the node's own times and by the clock of the
    node controller, which are compared with `now`: that is good enough to answer, and not to evict.

    Args:
        node: as the API server has it.
        facts: what else is known.
        now: in UTC.
    """
    settings = facts.settings or DEFAULTS
    condition = ready_condition(node)
    status = "Unknown" if condition is None else condition.status
    silent_at = _silent_at(facts, settings)
    speaks = silent_at is not None and silent_at > now
    if status == "True":
        if facts.lost_since is None and (silent_at is None or speaks):
            return Standing(state=NodeState.READY, holds_until=silent_at)
        return _lost(NodeState.SILENT, facts.lost_since or silent_at, settings, now)
    if status == "False":
        since = condition.last_transition_time if condition is not None else None
        return _lost(NodeState.NOT_READY, facts.lost_since or since, settings, now)
    if speaks and facts.lost_since is None:
        return Standing(state=NodeState.LEASE_RENEWED, holds_until=silent_at)
    told = condition.last_transition_time if condition is not None else None
    since = told or node.metadata.creation_timestamp
    return _lost(NodeState.UNKNOWN, facts.lost_since or since, settings, now)


def lives(facts: NodeLossFacts, settings: NodeLossSettings, now: datetime) -> bool:
    """Whether the Lease shows that the kubelet lives, as far as whoever asks knows no better."""
    silent_at = _silent_at(facts, settings)
    return facts.lost_since is None and silent_at is not None and silent_at > now


def _silent_at(facts: NodeLossFacts, settings: NodeLossSettings) -> datetime | None:
    """When the node is silent by its Lease; None: no Lease tells."""
    renewed = None if facts.lease is None else facts.lease.spec.renew_time
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
