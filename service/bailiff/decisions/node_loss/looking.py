"""Which objects of a cluster tell what becomes of the pods of a node that may be lost."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from bailiff.decisions.node_loss.facts import NodeLossFacts, OffProof
from bailiff.decisions.node_loss.findings import unheard
from bailiff.decisions.node_loss.memory import memory_of
from bailiff.decisions.node_loss.needs import claim_names, controller_of
from bailiff.decisions.node_loss.proof import is_held_by_distrust
from bailiff.decisions.node_loss.settings import DEFAULTS
from bailiff.decisions.node_loss.standing import lives, ready_condition, standing_of
from bailiff.decisions.node_loss.zones import count_zones
from bailiff.decisions.seen import NotRead, Wanted
from bailiff.decisions.system import Unread
from bailiff.kinds import Node, Pod
from bailiff.kinds.daemon_set import DaemonSet
from bailiff.kinds.lease import NODE_LEASES, Lease
from bailiff.kinds.volume_claim import PersistentVolumeClaim

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from datetime import datetime

    from bailiff.decisions.decision import Finding
    from bailiff.decisions.seen import Seen
    from bailiff.decisions.system import Scene

_Looking: TypeAlias = "Generator[Wanted, Seen, NodeLossFacts | Unheard]"


class Unheard(Unread):
    """The node's Lease could not be read, so nobody knows whether it lives."""

    def __init__(self, why: str) -> None:
        """Say the same of every pod."""
        self._said = unheard(why)

    def of(self, pod: Pod) -> Finding:  # noqa: ARG002 - as of Round
        """See Round."""
        return self._said


def look_up(scene: Scene) -> _Looking:
    """The node's Lease; and where the node is lost all nodes, and what binds its pods.

    Since when it is lost tells the note that a worker has left on it, if there is one. Other nodes
    count by their Ready condition and such a note. What may not be read binds a pod.
    """
    node = scene.node
    if node is None:
        return NodeLossFacts()
    seen = yield Wanted(Lease, NODE_LEASES, (node.metadata.name,))
    if isinstance(seen, NotRead):
        return Unheard(seen.detail)
    lease = next((one for one in seen if isinstance(one, Lease)), None)
    facts = _as_noted(NodeLossFacts(settings=DEFAULTS, lease=lease), node, scene.now)
    if not standing_of(node, facts, scene.now).state.is_lost:
        return facts
    listed = yield Wanted(Node)
    if not isinstance(listed, NotRead):
        others = [one for one in listed if isinstance(one, Node)]
        facts = replace(facts, zones=count_zones((one, _is_ready(one, node)) for one in others))
    return (yield from _look_up_bonds(scene, facts))


def _look_up_bonds(scene: Scene, facts: NodeLossFacts) -> Generator[Wanted, Seen, NodeLossFacts]:
    """What binds the pods of the node to it."""
    daemon_sets: list[DaemonSet] = []
    for namespace in sorted({one.metadata.namespace for one in scene.on_node if _is_free(one)}):
        told = yield Wanted(DaemonSet, namespace)
        if not isinstance(told, NotRead):
            daemon_sets += [one for one in told if isinstance(one, DaemonSet)]
    claims: list[PersistentVolumeClaim] = []
    for namespace, names in _claims(scene.on_node).items():
        found = yield Wanted(PersistentVolumeClaim, namespace, names)
        if not isinstance(found, NotRead):
            claims += [one for one in found if isinstance(one, PersistentVolumeClaim)]
    return replace(facts, daemon_sets=tuple(daemon_sets), claims=tuple(claims))


def _as_noted(facts: NodeLossFacts, node: Node, now: datetime) -> NodeLossFacts:
    """By what the worker that watches the node has written on it, as far as that holds still."""
    memory = memory_of(node.metadata.annotations.node_loss)
    if memory is None:
        return facts
    if memory.condemns(node, facts.lease):
        facts = replace(facts, lives=False)
    state = standing_of(node, facts, now).state
    if not memory.holds_of(node, facts.lease, state, now):
        return facts
    is_released = memory.released is not None
    is_held = memory.distrust and is_held_by_distrust(node, lives=lives(facts, now))
    return replace(
        facts,
        settings=replace(DEFAULTS, after=memory.after),
        lost_since=memory.since,
        # While the time lasts it is told until when; who waits after it waits for a turn.
        released=None if not is_released and memory.lost_for(now) < memory.after else is_released,
        contradiction=memory.distrust if is_held else "",
        proof=OffProof(off=True, by=memory.fenced) if memory.fenced else None,
    )


def _is_ready(one: Node, lost: Node) -> bool:
    """By its condition, unless a worker has noted that it is lost, who takes that away again."""
    condition, memory = ready_condition(one), memory_of(one.metadata.annotations.node_loss)
    is_noted = memory is not None and memory.uid == one.metadata.uid
    is_lost = is_noted or one.metadata.name == lost.metadata.name
    return not is_lost and condition is not None and condition.status == "True"


def _is_free(pod: Pod) -> bool:
    return controller_of(pod) is None


def _claims(pods: Iterable[Pod]) -> dict[str, tuple[str, ...]]:
    """The names of claims by namespace."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pod in pods:
        found[pod.metadata.namespace] |= dict.fromkeys(claim_names(pod))
    return {namespace: tuple(names) for namespace, names in found.items() if names}
