"""The question that schedulers ask: where could this pod go, and until when could it stay there?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from bailiff.decisions.cost import FactsError, check_number
from bailiff.decisions.question import Asked, Undecided
from bailiff.decisions.scheduling.filters import NODE_UNSCHEDULABLE, TAINT_TOLERATION
from bailiff.decisions.scheduling.maintenance import (
    MAINTENANCE,
    MAX_MAINTENANCES,
    Maintenance,
)
from bailiff.decisions.scheduling.verdicts import NodesVerdict
from bailiff.kinds import Node, Pod, Time
from bailiff.kinds.node import MAX_NODES, Nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bailiff.decisions.options import Options
    from bailiff.decisions.scheduling.judging import Judging
    from bailiff.decisions.system import System
    from bailiff.kinds.meta import Value

V = TypeVar("V", bound="Value")

# Of one node. Far more than fit into one: to tell nodes apart must cost no time that others notice.
MAX_TAINTS = 10_000
Maintenances = Annotated[tuple[Maintenance, ...], Meta(max_length=MAX_MAINTENANCES)]
# What else kube-scheduler goes by (its default plugins), and what nobody can know beforehand.
NOT_JUDGED = (
    "NodeName",
    "NodePorts",
    "NodeAffinity",
    "InterPodAffinity",
    "PodTopologySpread",
    "NodeResourcesFit",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeRestrictions",
    "VolumeZone",
    "DynamicResources",
    "ImageLocality",
)


class JudgeNodesRequest(Asked, frozen=True, kw_only=True):
    """One pod and many nodes: which would take it, and until when could it stay there?

    Attributes:
        pod: the pod. It is judged as if it came now, wherever it runs.
        nodes: each with a name, at most 20,000; of nodes of one name the last counts.
        maintenance: that is known, besides what the annotation `bailiff.dev/maintenance` of a node
            tells; at most 1,000.
    """

    pod: Pod
    nodes: Nodes = ()
    maintenance: Maintenances = ()


class JudgeNodesResponse(Undecided, frozen=True, kw_only=True):
    """What is said of the nodes.

    Attributes:
        verdicts: the preferred first: those that are feasible, by score, then those where the pod
            could stay longest. Each node is in one of them, alike ones together.
        judged_at: the `now` that was used.
        judged: which plugins of kube-scheduler were judged by, and by which of Bailiff's systems
            the pod's residency was.
        not_judged: what else decides whether a pod can be put on a node, and by which systems
            nothing was judged, since nothing was told for them.
    """

    verdicts: tuple[NodesVerdict, ...]
    judged_at: Time
    judged: tuple[str, ...]
    not_judged: tuple[str, ...]


class SharedFacts:
    """What is told besides nodes for systems for which the node plays no part: their sections."""

    def __init__(self, systems: Sequence[System[Any]]) -> None:
        """Look at which systems have any."""
        told = [one for one in systems if not one.by_node and one.facts.__struct_fields__]
        self._told = {one.name: one.section for one in told}
        self._fields = [(one.section, one.facts) for one in told]

    def type_of(self, base: type[V], *, optional: bool = False) -> type[V]:
        """A type with the systems' sections besides its own fields, by the same name.

        Args:
            base: has the other fields.
            optional: None stands for a section that is not there.
        """
        fields = [
            (name, kind | None, None) if optional else (name, kind, kind())
            for name, kind in self._fields
        ]
        made: Any = msgspec.defstruct(
            base.__name__,
            fields,
            bases=(base,),
            frozen=True,
            kw_only=True,
            namespace={"__doc__": base.__doc__},
        )
        told: type[V] = made
        return told

    def of(self, told: Value) -> Mapping[str, Value]:
        """What a value of such a type tells, by the systems' names."""
        found = {name: getattr(told, section) for name, section in self._told.items()}
        return {name: facts for name, facts in found.items() if facts is not None}


def without_trace(options: Options) -> Options:
    """The same options; verdicts have no trace, which would be made for nobody."""
    return replace(options, explain=False) if options.explain else options


def respond(judging: Judging, pod: Pod, systems: Iterable[System[Any]]) -> JudgeNodesResponse:
    """The answer for one pod."""
    asked, others = asked_of(judging, systems)
    return JudgeNodesResponse(
        verdicts=judging.of(pod),
        judged_at=judging.now,
        judged=(NODE_UNSCHEDULABLE, TAINT_TOLERATION, *asked, MAINTENANCE),
        not_judged=(*NOT_JUDGED, *others),
    )


def asked_of(
    judging: Judging, systems: Iterable[System[Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the systems by which is judged, and of the others."""
    reached = judging.shared_names
    asked = [one.name for one in systems if one.by_node or one.name in reached]
    return tuple(asked), tuple(one.name for one in systems if one.name not in asked)


def check_nodes(nodes: Sequence[Node], path: str) -> None:
    """Refuse nodes without a name, with taints that nobody can have, or too many.

    Raises:
        FactsError: as said, with the path of the field.
    """
    check_number(path, len(nodes), MAX_NODES)
    for index, node in enumerate(nodes):
        if not node.metadata.name:
            raise FactsError(f"{path}[{index}].metadata.name", "required")
        check_number(f"{path}[{index}].spec.taints", len(node.spec.taints), MAX_TAINTS)
