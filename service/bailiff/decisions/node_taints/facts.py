"""What a question tells of the taints of nodes besides the node itself."""

from __future__ import annotations

from bailiff.kinds import Time
from bailiff.kinds.meta import Value


class TaintObservation(Value, frozen=True, forbid_unknown_fields=True):
    """When a taint that carries no timeAdded was first seen on the node.

    Attributes:
        key: of the taint.
        effect: of the taint.
        time: when it was first seen.
        value: of the taint.
    """

    key: str
    effect: str
    time: Time
    value: str = ""


class NodeTaintFacts(Value, frozen=True, forbid_unknown_fields=True):
    """What is known of the node's taints that the node does not tell.

    Attributes:
        bound_at: when the pod was bound; absent: read from the pod. Of one pod only.
        first_observed: when taints without timeAdded were first seen; one that is not told
            is read from the node (annotation, managedFields), and else counts as added now.
    """

    bound_at: Time | None = None
    first_observed: tuple[TaintObservation, ...] = ()
