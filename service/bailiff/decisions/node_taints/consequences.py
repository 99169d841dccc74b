"""What a change of a node's taints evicts, on that node; and what the same taints evict elsewhere.

Only what the change brings counts: a taint that was there evicts whom it evicts without it.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bailiff.decisions.asking import Asking, Named
from bailiff.decisions.changes import (
    MAX_CHANGED_PODS,
    Consequences,
    nothing_seen,
    weighing,
    worse,
)
from bailiff.decisions.cost import Cost, check_cost
from bailiff.decisions.decision import Verdict
from bailiff.decisions.node_taints.change import (
    PreviewTaintChangeRequest,
    before_and_after,
)
from bailiff.decisions.node_taints.findings import SYSTEM
from bailiff.decisions.node_taints.observations import as_served
from bailiff.decisions.node_taints.taints import NodeTaints
from bailiff.decisions.node_taints.weighing import weigh
from bailiff.decisions.policies.blast import unacknowledged
from bailiff.decisions.question import Plan, QuestionTerms
from bailiff.decisions.seen import NotRead, Wanted
from bailiff.decisions.system import Scene
from bailiff.decisions.text import describe_taint
from bailiff.kinds import NO_EXECUTE, NewTaint, Node, Pod, Taint
from bailiff.kinds.meta import Value
from bailiff.kinds.taint import FAILING_NODE

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Sequence

    from bailiff.decisions.changes import ChangeLookUp, ObjectChange
    from bailiff.decisions.options import Options
    from bailiff.decisions.seen import Seen

    _Looking = Generator[tuple[Wanted, ...], tuple[Seen, ...], "_Seen"]

# Other nodes with the same taint whose pods are counted: as many small lists.
MAX_PEERS = 100


class _Seen(Value, frozen=True):
    """What was read of the cluster.

    Attributes:
        pods: of the node.
        peers: other nodes that carry one of the taints, each with its pods.
        not_seen: see Consequences.
        too_many: see there.
        uncounted: see there.
    """

    pods: tuple[Pod, ...] = ()
    peers: tuple[tuple[Node, tuple[Pod, ...]], ...] = ()
    not_seen: tuple[str, ...] = ()
    too_many: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()


def look_at_change(change: ObjectChange, options: Options) -> ChangeLookUp:
    """The pods of the node; and, where asked for, other nodes with the same taint, and their pods.

    Nothing is to be seen where the change brings no NoExecute taint, or Kubernetes itself makes it
    and brings none but those by which its node lifecycle controller marks nodes that fail: it
    taints as many as do, nobody reads what it is told, and it must not wait for an answer. Those
    two are no causes that may be refused, whoever sets them. No controller of Kubernetes sets
    another of its keys with NoExecute (`built_in`): people do, and are asked as of any taint.

    Raises:
        TooMuchError: it would take too long to decide for that much.
    """
    old, new = change.old, change.new
    if not isinstance(new, Node) or not isinstance(old, Node | None):
        return None
    old = replace(new, spec=replace(new.spec, taints=())) if old is None else old
    brought = _brought(old, new)
    causes = tuple(sorted({describe_taint(one) for one in brought if one.key not in FAILING_NODE}))
    if not brought or (change.by_kubernetes and not causes):
        return None
    (pods,) = yield (_pods_on(new),)
    if isinstance(pods, NotRead):
        return nothing_seen(causes, pods)
    seen = _on_node(pods)
    counted = unacknowledged(new, causes)
    if change.everywhere and counted:
        seen = yield from _look_elsewhere(seen, new, counted)
    with weighing(causes):
        return _plan(old, new, causes, seen, QuestionTerms(change.now, options))


def _brought(old: Node, new: Node) -> list[Taint]:
    known = set(old.spec.taints)
    return [one for one in new.spec.taints if one.effect == NO_EXECUTE and one not in known]


def _pods_on(node: Node) -> Wanted:
    fields = (("spec.nodeName", node.metadata.name),)
    return Wanted(Pod, fields=fields, most=MAX_CHANGED_PODS + 1)


def _on_node(seen: Sequence[Value]) -> _Seen:
    pods = tuple(one for one in seen if isinstance(one, Pod))
    if len(pods) <= MAX_CHANGED_PODS:
        return _Seen(pods=pods)
    told = f"pods of the node beyond the first {MAX_CHANGED_PODS}"
    return _Seen(pods=pods[:MAX_CHANGED_PODS], too_many=(told,))


def _look_elsewhere(seen: _Seen, node: Node, causes: Collection[str]) -> _Looking:
    (nodes,) = yield (Wanted(Node),)
    if isinstance(nodes, NotRead):
        seen = replace(seen, not_seen=(f"other nodes with the taint: {nodes.detail}",))
        nodes = nodes.known
    name = node.metadata.name
    peers = [
        one
        for one in nodes
        if isinstance(one, Node) and one.metadata.name != name and _carries(one, causes)
    ]
    if len(peers) > MAX_PEERS:
        told = f"{len(peers) - MAX_PEERS} of {len(peers)} other nodes with the taint"
        seen = replace(seen, uncounted=(told,))
    peers = peers[:MAX_PEERS]
    found = yield tuple(map(_pods_on, peers))
    return _with_peers(seen, peers, found)


def _carries(node: Node, causes: Collection[str]) -> bool:
    return any(
        one.effect == NO_EXECUTE and describe_taint(one) in causes for one in node.spec.taints
    )


def _with_peers(seen: _Seen, peers: Sequence[Node], found: Sequence[Seen]) -> _Seen:
    read = []
    unread = 0
    for node, pods in zip(peers, found, strict=True):
        if isinstance(pods, NotRead):
            unread += 1
        else:
            read.append((node, tuple(one for one in pods if isinstance(one, Pod))))
    told = (f"pods of {unread} other nodes with the taint",) if unread else ()
    return replace(seen, peers=tuple(read), not_seen=seen.not_seen + told)


def _plan(
    old: Node, new: Node, causes: tuple[str, ...], seen: _Seen, terms: QuestionTerms
) -> Plan[Consequences]:
    asked = PreviewTaintChangeRequest(
        node=as_served(old),
        pods=seen.pods,
        # In their order, since the first that is not tolerated is the cause. That some are taken
        # away evicts nobody any sooner.
        add_taints=tuple(map(_added, new.spec.taints)),
    )
    taints = old.spec.taints + new.spec.taints
    merging = len(taints) * len(asked.add_taints)
    costs = [weigh(taints, seen.pods, explain=False)] * 2 + [Cost(merging)]
    costs += [weigh(node.spec.taints, pods, explain=False) for node, pods in seen.peers]
    # Nobody is told all of it.
    found = check_cost([replace(one, told=0) for one in costs])
    terms = replace(terms, options=replace(terms.options, explain=False))
    return Plan(found.steps, 0, partial(_consequences, asked, causes, seen, terms))


def _consequences(
    asked: PreviewTaintChangeRequest,
    causes: tuple[str, ...],
    seen: _Seen,
    terms: QuestionTerms,
) -> Consequences:
    changed = (worse(*one) for one in before_and_after(asked, terms))
    return Consequences(
        pods=tuple(one for one in changed if one is not None),
        causes=causes,
        elsewhere=_elsewhere(causes, seen, terms),
        not_seen=seen.not_seen,
        too_many=seen.too_many,
        uncounted=seen.uncounted,
    )


def _added(taint: Taint) -> NewTaint:
    return NewTaint(
        key=taint.key, value=taint.value, effect=taint.effect, time_added=taint.time_added
    )


def _elsewhere(
    causes: Collection[str], seen: _Seen, terms: QuestionTerms
) -> Counter[tuple[str, str]]:
    """A pod counts for the taint that evicts it, as with the worker's blast radius."""
    counted: Counter[tuple[str, str]] = Counter()
    for node, pods in seen.peers:
        taints = NodeTaints(as_served(node), terms.now, options=terms.options)
        asking = Asking([(Named(SYSTEM), taints)], Scene(pods, terms.now, node), terms.options)
        for pod in pods:
            (found,) = asking.findings(pod)
            if found.verdict is not Verdict.KEEP and found.cause in causes:
                counted[found.cause, pod.metadata.namespace] += 1
    return counted
