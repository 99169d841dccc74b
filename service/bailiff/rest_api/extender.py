"""What kube-scheduler asks its extenders, answered by what the core says of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from bailiff.decisions import FactsError
from bailiff.decisions.scheduling import NodePool
from bailiff.decisions.scheduling.extending import closed, failed, points
from bailiff.decisions.scheduling.planning import PoolTerms, is_quickly_planned, plan_one
from bailiff.decisions.scheduling.question import check_nodes
from bailiff.kinds.extender import (
    ExtenderArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    HostPriority,
    MetaPod,
    MetaVictims,
    NodeList,
    NodesAsSent,
)
from bailiff.lookup import LookUpError
from bailiff.rest_api.problems import ProblemCode, Refusal
from bailiff.rest_api.services import NO_CLUSTER
from bailiff.turns import is_long_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from bailiff.decisions import Plan
    from bailiff.decisions.scheduling import JudgeNodesResponse, NodesVerdict
    from bailiff.kinds import Node, Pod
    from bailiff.kinds.extender import Victims
    from bailiff.rest_api.services import Services

T = TypeVar("T")

_ENCODE = msgspec.json.Encoder().encode
_UNKNOWN = "node(s) that Bailiff does not find in its cluster"
_NODES, _NODE_NAMES = "$.Nodes", "$.NodeNames"
_VICTIMS, _META_VICTIMS = "$.NodeNameToVictims", "$.NodeNameToMetaVictims"


class Nodes(Protocol):
    """The nodes of a cluster; see NodePools."""

    async def pool(self, names: Sequence[str] = ()) -> NodePool:
        """All of them; LookUpError: they could not be read."""
        ...


class _Judged(NamedTuple):
    """What is said of the nodes that are asked about.

    Attributes:
        verdicts: the preferred first.
        now: the instant that counts.
        unknown: names that the cluster does not have.
    """

    verdicts: Sequence[NodesVerdict]
    now: datetime
    unknown: Sequence[str] = ()


class _Items(msgspec.Struct):
    items: tuple[Raw, ...] | None = None


class _Body(msgspec.Struct, rename={"nodes": "Nodes"}):
    """The nodes of a body as they are written, which the answer repeats."""

    nodes: _Items | None = None


class Extender:
    """Answers the three verbs; each raises FactsError where its arguments make no question.

    Whole nodes are taken as they come; those that are only named are looked up in the cluster.
    """

    def __init__(self, services: Services, nodes: Nodes | None) -> None:
        """Ask nothing yet.

        Args:
            services: of the application.
            nodes: of the cluster; None: there is none to read.
        """
        self._services = services
        self._systems = services.systems.all
        self._nodes = nodes

    async def filter(self, args: ExtenderArgs, body: bytes) -> bytes:
        """The nodes where the pod may be put: an ExtenderFilterResult, as it is written.

        A cluster that cannot be read is told in the answer, since kube-scheduler shows its users
        that, and of an HTTP error only the status.

        Args:
            args: what is asked.
            body: as it was sent.
        """
        try:
            judged = await self._judge(args, body)
        except (LookUpError, Refusal) as error:
            return _ENCODE(ExtenderFilterResult(error=f"Bailiff: {_words(error)}"))
        return await self._do(body, _filtered, args, body, judged)

    async def prioritize(self, args: ExtenderArgs, body: bytes) -> bytes:
        """How much each node is liked, each a HostPriority; of one that is not known nothing is.

        Raises:
            LookUpError: the cluster could not be read.
            Refusal: there is none.
        """
        judged = await self._judge(args, body)
        return await self._do(body, _prioritized, args, judged)

    async def preempt(self, args: ExtenderPreemptionArgs, body: bytes) -> bytes:
        """The nodes without those where the pod could not stay though others went.

        An ExtenderPreemptionResult, as it is written.

        Raises:
            LookUpError, Refusal: as `prioritize`.
        """
        victims = await self._do(body, victims_of, args)
        judged = _Judged((), self._services.clock.now())
        if victims:
            judged = await self._judge_named(args.pod, tuple(victims), body, _META_VICTIMS)
        return await self._do(body, _preempted, victims, judged)

    async def _do(self, body: bytes, work: Callable[..., T], *arguments: object) -> T:
        """What some work comes to; for a long body, where nobody waits for it."""
        if is_long_json(len(body)):
            return await self._services.threads.run(work, *arguments)
        return work(*arguments)

    async def _judge(self, args: ExtenderArgs, body: bytes) -> _Judged:
        check_args(args)
        if args.nodes is None:
            return await self._judge_named(args.pod, args.node_names or (), body, _NODE_NAMES)
        pool = await self._do(body, NodePool, self._systems, args.nodes.items)
        return await self._judge_all(args.pod, pool, (), body, _NODES)

    async def _judge_named(self, pod: Pod, names: Sequence[str], body: bytes, path: str) -> _Judged:
        if self._nodes is None:
            raise Refusal(ProblemCode.NO_CLUSTER, NO_CLUSTER)
        pool = await self._nodes.pool(names)
        known = [name for name in names if name in pool]
        unknown = tuple(name for name in names if name not in pool)
        if not known:
            return _Judged((), self._services.clock.now(), unknown)
        return (await self._judge_all(pod, pool, known, body, path))._replace(unknown=unknown)

    async def _judge_all(
        self, pod: Pod, pool: NodePool, names: Sequence[str], body: bytes, path: str
    ) -> _Judged:
        if is_quickly_planned(pool, self._services.clock.now()):
            plan = await self._do(body, self._plan, pod, pool, names, path)
        else:
            plan = await self._services.threads.run(self._plan, pod, pool, names, path)
        found = await self._services.do(plan, "judgeNodes")
        return _Judged(found.verdicts, found.judged_at)

    def _plan(
        self, pod: Pod, pool: NodePool, names: Sequence[str], path: str
    ) -> Plan[JudgeNodesResponse]:
        terms = PoolTerms(self._services.clock.now(), self._services.options, path, names)
        return plan_one(pool, pod, terms)


def _filtered(args: ExtenderArgs, body: bytes, judged: _Judged) -> bytes:
    refused = failed(judged.verdicts)
    failures = dict.fromkeys(judged.unknown, _UNKNOWN)
    result = ExtenderFilterResult(failed_nodes=failures, failed_and_unresolvable_nodes=refused)
    if args.nodes is not None:
        left = _as_sent(args.nodes, body, without=refused)
        return _ENCODE(replace(result, nodes=left))
    out = failures.keys() | refused.keys()
    names = tuple(name for name in args.node_names or () if name not in out)
    return _ENCODE(replace(result, node_names=names))


def _prioritized(args: ExtenderArgs, judged: _Judged) -> bytes:
    given = points(judged.verdicts)
    return _ENCODE([HostPriority(host=one, score=given.get(one, 0)) for one in _names_of(args)])


def _preempted(victims: Mapping[str, MetaVictims], judged: _Judged) -> bytes:
    out = closed(judged.verdicts, judged.now)
    left = {name: told for name, told in victims.items() if name not in out}
    return _ENCODE(ExtenderPreemptionResult(node_name_to_meta_victims=left))


def check_args(args: ExtenderArgs) -> None:
    """Refuse arguments that tell of nodes in both forms or in none, or of nodes without a name.

    Raises:
        FactsError: as said.
    """
    if (args.nodes is None) == (args.node_names is None):
        raise FactsError(_NODES, "either Nodes or NodeNames is to be given, and not both")
    if args.nodes is not None:
        check_nodes(args.nodes.items, f"{_NODES}.items")


def _names_of(args: ExtenderArgs) -> Iterable[str]:
    if args.nodes is not None:
        return map(_name, args.nodes.items)
    return args.node_names or ()


def _as_sent(asked: NodeList, body: bytes, without: Mapping[str, str]) -> NodesAsSent:
    """Some of the nodes of a body, each as it is written there."""
    told = msgspec.json.decode(body, type=_Body).nodes
    written = () if told is None or told.items is None else told.items
    # As many: of a key that stands twice both readings take the last.
    pairs = zip(asked.items, written, strict=True)
    return NodesAsSent(items=tuple(sent for node, sent in pairs if _name(node) not in without))


def victims_of(args: ExtenderPreemptionArgs) -> Mapping[str, MetaVictims]:
    """Who would go, by node, in the form that is answered whichever was asked in.

    Raises:
        FactsError: it was asked in both forms, or in none.
    """
    whole, named = args.node_name_to_victims, args.node_name_to_meta_victims
    if (whole is None) == (named is None):
        forms = "NodeNameToVictims or NodeNameToMetaVictims"
        raise FactsError(_VICTIMS, f"either {forms} is to be given, and not both")
    return named or {name: _by_identity(victims) for name, victims in (whole or {}).items()}


def _by_identity(victims: Victims) -> MetaVictims:
    pods = tuple(MetaPod(uid=pod.metadata.uid) for pod in victims.pods)
    return MetaVictims(pods=pods, num_pdb_violations=victims.num_pdb_violations)


def _name(node: Node) -> str:
    return node.metadata.name


def _words(error: Exception) -> str:
    return error.detail if isinstance(error, Refusal) else str(error)
