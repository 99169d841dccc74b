"""What the rules of the policies look at, read from the cluster for one eviction of anybody's.

Of the worker's facts two are not there: what evicts the pod, and so how much the same cause evicts
besides, and the ResourceSlice that it may go for. Who asks for an eviction does not tell them. So
the blast radius and `ownSlicesOnly` hold nobody here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.decisions import Wanted
from bailiff.decisions.policies import (
    CLUSTER,
    EMPTY_BOOK,
    NO_BLAST,
    BreakerState,
    Circumstances,
    Gang,
    Per,
    group_of,
    is_failing,
    judge_all,
    read_pause,
    zone_of,
)
from bailiff.kinds import ConfigMap, Namespace, Node, Pod, PodDisruptionBudget
from bailiff.kinds.pod import PodSpec
from bailiff.lookup import Age, Kept, MissingError, in_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bailiff.clock import Clock
    from bailiff.decisions.policies import Breakers, Pause, PauseNotice, Policies
    from bailiff.lookup import AllNodes, PodGroups, Source
    from bailiff.lookup.nodes import Listed

# For how long is believed what was read: who pauses is to be obeyed at once; labels of namespaces
# and zones of nodes hardly ever change, and taints of failing nodes come one by one.
_PAUSE, _NAMESPACE, _NODE = Age(1.0), Age(5.0), Age(5.0)
# A list of 5,000 nodes takes seconds: meanwhile the last one holds, and it is made a tenth of the
# time at most.
_NODES = Age(5.0, times_as_long=9.0, stale=30.0)
# The pods of a namespace, while a gang is evicted one by one. A list of thousands takes longer than
# the gate has: it is there for whoever asks again, and is then made a quarter of the time at most.
_PODS = Age(1.0, times_as_long=3.0, ungiven=30.0)
_MOST_NAMESPACES = 100
# Seconds that a list of pods may take.
_LISTED = 10.0

_NORMAL = BreakerState()


class _NodeFacts(NamedTuple):
    """What of a node decides: its zone, and whether it fails."""

    zone: str
    fails: bool


class GateFacts:
    """The cluster around an eviction. Reads, and keeps what it reads for seconds.

    Every method raises LookUpError.
    """

    def __init__(
        self, source: Source, nodes: AllNodes, pod_groups: PodGroups, clock: Clock
    ) -> None:
        """Read nothing yet.

        Args:
            source: of all objects but PodGroups.
            nodes: all of them.
            pod_groups: those.
            clock: for the age of what was read.
        """
        self._source = source
        self._pod_groups = pod_groups
        self._nodes = nodes
        # Asked about the same list again and again.
        self._facts_of = lru_cache(maxsize=1)(_facts_of)
        self._pauses: Kept[PauseNotice | None] = Kept(clock)
        self._namespaces: Kept[Mapping[str, str]] = Kept(clock)
        # Those that the list of all nodes had not, as they came later.
        self._new_nodes: Kept[_NodeFacts] = Kept(clock)
        self._pods: Kept[tuple[Pod, ...]] = Kept(clock, most=_MOST_NAMESPACES)

    async def pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as it is now; None: there is none."""
        try:
            return await self._source.get(Pod, name, namespace)
        except MissingError:
            return None

    async def goes_whole(self, pod: Pod, policies: Policies) -> bool:
        """Whether it goes with its gang only."""
        group, namespace = pod.spec.scheduling_group, pod.metadata.namespace
        name = "" if group is None or policies.gangs is None else group.pod_group_name
        return await self._pod_groups.goes_whole(namespace, name) if name else False

    async def around(
        self, pod: Pod, policies: Policies, *, with_gang: bool = False
    ) -> Circumstances:
        """All that these policies look at, but for the book of budgets over time.

        Args:
            pod: to be evicted.
            policies: those in force.
            with_gang: it goes whole, and the others are to be known.
        """
        namespace = pod.metadata.namespace
        shared = Circumstances(
            pod=pod,
            pause=await self._pause(policies.pause),
            namespace_labels=await self._labels(namespace, policies),
            blast=NO_BLAST,
            gang=None,
            book=EMPTY_BOOK,
        )
        others = await self._gang(pod) if with_gang else ()
        listed, nodes = await self._nodes_of((pod, *others), policies)
        states = _judge(listed, policies.breakers)

        def one(pod: Pod) -> Circumstances:
            node = nodes.get(pod.spec.node_name)
            zone = "" if node is None else node.zone
            return replace(
                shared,
                pod=pod,
                zone=zone,
                zone_breaker=states.get(zone, _NORMAL),
                cluster_breaker=states.get(CLUSTER, _NORMAL),
            )

        if not with_gang:
            return one(pod)
        gang = Gang(name=group_of(pod), others=tuple(map(one, others)))
        return replace(one(pod), gang=gang)

    async def budgets(self, namespace: str) -> tuple[PodDisruptionBudget, ...]:
        """The PodDisruptionBudgets of a namespace as they are now."""
        found = await self._source.see(Wanted(PodDisruptionBudget, namespace))
        return tuple(one for one in found if isinstance(one, PodDisruptionBudget))

    async def _pause(self, pause: Pause | None) -> PauseNotice | None:
        if pause is None:
            return None
        key = pause.namespace, pause.name

        async def read() -> PauseNotice | None:
            try:
                found = await self._source.get(ConfigMap, pause.name, pause.namespace)
            except MissingError:
                return None
            return read_pause(found.data)

        return await self._pauses.get(key, read, _PAUSE)

    async def _labels(self, namespace: str, policies: Policies) -> Mapping[str, str]:
        if policies.exclude.namespace_selector is None:
            return {}

        async def read() -> Mapping[str, str]:
            return (await self._source.get(Namespace, namespace)).metadata.labels

        return await self._namespaces.get(namespace, read, _NAMESPACE)

    async def _nodes_of(
        self, pods: Iterable[Pod], policies: Policies
    ) -> tuple[Mapping[str, _NodeFacts], Mapping[str, _NodeFacts]]:
        """All nodes as they were listed; and those of the pods, some of which came since."""
        if not _needs_zones(policies):
            return {}, {}
        listed = self._facts_of(await self._nodes.get(_NODES))
        names = {one.spec.node_name for one in pods} - {""}
        return listed, {one: listed.get(one) or await self._new_node(one) for one in names}

    async def _new_node(self, name: str) -> _NodeFacts:
        async def read() -> _NodeFacts:
            return _facts(await self._source.get(Node, name))

        return await self._new_nodes.get(name, read, _NODE)

    async def _gang(self, pod: Pod) -> tuple[Pod, ...]:
        """The other pods of its gang that are still there."""
        namespace, group = pod.metadata.namespace, group_of(pod)

        async def read() -> tuple[Pod, ...]:
            # One that hangs is not to keep the gangs of a namespace waiting for as long as it does.
            async with in_time(_LISTED):
                found = await self._source.see(Wanted(Pod, namespace))
            return tuple(slim(one) for one in found if isinstance(one, Pod) and group_of(one))

        return tuple(
            one
            for one in await self._pods.get(namespace, read, _PODS)
            if group_of(one) == group and one.metadata.uid != pod.metadata.uid and not one.has_ended
        )


def slim(pod: Pod) -> Pod:
    """The same without what no rule looks at: thousands of them are kept."""
    bare = PodSpec(
        node_name=pod.spec.node_name,
        priority=pod.spec.priority,
        priority_class_name=pod.spec.priority_class_name,
        scheduling_group=pod.spec.scheduling_group,
    )
    return replace(pod, spec=bare)


def _facts_of(listed: Listed) -> Mapping[str, _NodeFacts]:
    return {one.metadata.name: _facts(one) for one in listed.value}


def _facts(node: Node) -> _NodeFacts:
    return _NodeFacts(zone_of(node), is_failing(node))


def _needs_zones(policies: Policies) -> bool:
    """Whether a policy asks for the zone of a node, or how many fail there."""
    budgets = policies.over_time.budgets if policies.over_time else ()
    breakers = policies.breakers.zone or policies.breakers.cluster
    return breakers is not None or any(one.per is Per.ZONE for one in budgets)


def _judge(nodes: Mapping[str, _NodeFacts], breakers: Breakers) -> Mapping[str, BreakerState]:
    if breakers.zone is None and breakers.cluster is None:
        return {}
    return judge_all(((one.zone, one.fails) for one in nodes.values()), breakers)
