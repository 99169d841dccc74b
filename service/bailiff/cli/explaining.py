"""The answers that `bailiff explain` gives: for pods of a cluster, or of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from bailiff.cli.asking import NOT_LOOKED_AT, Asking, namespace_of, systems_of
from bailiff.cli.describing import reported, shown, way
from bailiff.cli.errors import ExitCode, InputError, warn
from bailiff.cli.lacking import warn_of_lacking
from bailiff.cli.objects import Objects
from bailiff.cli.output import Format, listed, printable, say
from bailiff.cli.targets import NODE, Target, one_word, parse_instant
from bailiff.decisions import Options, PodAnswer, PodsAnswer, Verdict
from bailiff.kinds import Node, Pod

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.decisions import Plan
    from bailiff.lookup import LookUps

__all__ = ["ExplainArguments", "exit_code_of", "explain", "shown", "tell_reports"]

_EXIT_BY_VERDICT = {
    Verdict.KEEP: ExitCode.OK,
    Verdict.EVICT_AT: ExitCode.EVICT_AT,
    Verdict.EVICT_NOW: ExitCode.EVICT_NOW,
}


_GIVE_A_NODE = "the files have no node: add the pod's, as kubectl get node NAME -o yaml prints it"


class ExplainArguments(NamedTuple):
    """What the user says, as it was typed.

    Attributes:
        target: TYPE/NAME, or nothing; more words are refused.
        files: with the objects; without any a cluster is asked.
        namespace: of the object; in files, of those that name none.
        now: the instant to decide for.
        bound_at: when the pod of a file was bound.
    """

    target: Sequence[str]
    files: list[Path] | None
    namespace: str | None
    now: str | None
    bound_at: str | None


def explain(
    asked: ExplainArguments,
    chosen: ClusterChoice,
    options: Options,
    output: Format | None,
    systems: object,
) -> PodAnswer | PodsAnswer:
    """The answer.

    Args:
        asked: about what.
        chosen: the cluster, where there are no files.
        options: how to decide.
        output: of many only who wants them in full is told each step.
        systems: who decides; whatever is none: all that there are.

    Raises:
        InputError: what is asked makes no sense, or the files do not suffice.
        ClusterUnusable, StartError: as Asking.look_up.
    """
    wanted = Target.parse(one_word(asked.target)) if asked.target else None
    in_full = True if output is Format.TEXT else None
    asking = Asking(systems_of(systems), options, parse_instant(asked.now, "--now"), in_full)
    if asked.files:
        bound = parse_instant(asked.bound_at, "--bound-at")
        return _of_files(asking, Objects(asked.files, asked.namespace), wanted, bound)
    answer = _of_cluster(asking, chosen, _one_of_cluster(asked, wanted), asked.namespace)
    if exit_code_of(answer) is not ExitCode.OK:
        say(NOT_LOOKED_AT)
    return answer


def _one_of_cluster(asked: ExplainArguments, wanted: Target | None) -> Target:
    """What is asked about; raises InputError where a cluster could not be asked that."""
    if wanted is None:
        raise InputError("say what to explain: TYPE/NAME, as pod/web of a cluster, or -f FILE")
    if asked.bound_at is not None:
        raise InputError("--bound-at is of a pod in a file: a cluster tells when it was bound")
    if wanted.type == NODE and asked.namespace:
        raise InputError("--namespace is of a pod, a node has none: all pods on it are explained")
    return wanted


def tell_reports(answer: PodAnswer | PodsAnswer, output: Format | None) -> None:
    """What stands beside a table, which has a line for each pod and no other."""
    if way(answer, output) in (Format.TABLE, Format.WIDE):
        for report in reported(answer):
            say(report)


def exit_code_of(answer: PodAnswer | PodsAnswer) -> ExitCode:
    """What the verdict is as an exit code; of several pods the worst, of none that of keep."""
    codes = (_EXIT_BY_VERDICT[one.verdict] for one in answer.counted())
    return max(codes, default=ExitCode.OK)


def _of_cluster(
    asking: Asking, chosen: ClusterChoice, wanted: Target, namespace: str | None
) -> PodAnswer | PodsAnswer:
    name, terms = wanted.name, (asking.options, asking.explain)
    if wanted.type == NODE:
        return asking.look_up(chosen, lambda to: to.node(name, *terms)).answer()
    place = namespace_of(chosen, namespace)

    async def look(to: LookUps) -> Plan[PodAnswer]:
        from bailiff.lookup import MissingError  # noqa: PLC0415 - loads a client of clusters

        try:
            return await to.pod(place, name, *terms)
        except MissingError as error:
            raise MissingError(f"{error}\n{_where_it_is_told(place, name)}") from error

    return asking.look_up(chosen, look).answer()


def _where_it_is_told(namespace: str, name: str) -> str:
    """Where to look for a pod that is gone, if there was one."""
    return (
        "if it has gone: kubectl "
        f"-n {namespace} get events --field-selector involvedObject.name={name}; "
        "later than an hour: docs/operate/audit.md"
    )


def _of_files(
    asking: Asking, objects: Objects, wanted: Target | None, bound_at: datetime | None
) -> PodAnswer | PodsAnswer:
    """The answer, with a warning of what the pods name and the files lack."""
    try:
        pods = _chosen(objects, wanted)
        answer = _about(pods, asking, objects, bound_at)
    except InputError as error:
        if objects.of(Node) or not objects.of(Pod):
            raise
        raise InputError(f"{error}; {_GIVE_A_NODE}") from error
    warn_of_lacking(asking, pods, objects.of)
    return answer


def _about(
    pods: tuple[Pod, ...], asking: Asking, objects: Objects, bound_at: datetime | None
) -> PodAnswer | PodsAnswer:
    """One pod is asked about alone, more of them node by node."""
    bound = {"bound_at": bound_at}
    if len(pods) == 1:
        node = _node_of(pods[0], objects)
        others = {"pods": _neighbours_of(pods[0], node, objects, asking)}
        around = {"node": node, "neighbours": others}
        alone: PodAnswer = asking.ask("decide", objects.of, bound, pod=pods[0], **around)
        return alone
    answers: list[PodsAnswer] = [
        asking.ask("decideBatch", objects.of, bound, pods=group, node=node)
        for node, group in _by_node(pods, objects)
    ]
    return _together(answers)


def _together(answers: Sequence[PodsAnswer]) -> PodsAnswer:
    """The answers about several nodes as one; a report that is one node's is told of none."""
    first, *others = answers
    alike = all(one.reports == first.reports for one in others)
    if not alike:
        warn("what is reported beside the pods differs by node: explain node/NAME tells it of one")
    decisions = tuple(one for each in answers for one in each.decisions)
    return replace(first, decisions=decisions, reports=first.reports if alike else None)


def _by_node(
    pods: Iterable[Pod], objects: Objects
) -> Iterable[tuple[Node | None, tuple[Pod, ...]]]:
    """The pods that are to be asked about together; nodes come in the order of their first pods."""
    found: dict[str | None, tuple[Node | None, tuple[Pod, ...]]] = {}
    for pod in pods:
        node = _node_of(pod, objects)
        name = None if node is None else node.metadata.name
        _, before = found.get(name, (node, ()))
        found[name] = node, (*before, pod)
    return found.values()


def _chosen(objects: Objects, wanted: Target | None) -> tuple[Pod, ...]:
    """The pods that are meant, at least one."""
    pods = objects.of(Pod)
    if wanted is not None:
        pods = tuple(pod for pod in pods if _is_meant(pod, wanted, objects.namespace))
    if not pods:
        raise InputError(f"-f: there is no pod to explain{_but(wanted, objects)}")
    return pods


def _but(wanted: Target | None, objects: Objects) -> str:
    """Which pod is looked for, and which there are instead."""
    if wanted is None:
        return ""
    if wanted.type == NODE:
        nodes = (pod.spec.node_name for pod in objects.of(Pod))
        return f" for node {wanted.name}{_instead('on', nodes)}"
    pods = (pod.key for pod in objects.of(Pod))
    there = _instead("of", pods) + _elsewhere(wanted.name, objects)
    return f" for pod {objects.namespace}/{wanted.name}{there}"


def _instead(word: str, names: Iterable[str]) -> str:
    there = listed(names)
    return f", only {word} {there}" if there else ""


def _elsewhere(name: str, objects: Objects) -> str:
    """What to write for the pods of this name that are in other namespaces."""
    found = (pod.metadata for pod in objects.of(Pod))
    options = listed((f"-n {one.namespace}" for one in found if one.name == name), " or ")
    return f": write {options}" if options else ""


def _is_meant(pod: Pod, wanted: Target, namespace: str) -> bool:
    if wanted.type == NODE:
        return pod.spec.node_name in ("", wanted.name)
    return (pod.metadata.namespace, pod.metadata.name) == (namespace, wanted.name)


def _neighbours_of(
    pod: Pod, node: Node | None, objects: Objects, asking: Asking
) -> tuple[Pod, ...]:
    """The pods of the same node among those in the files, where any system minds them.

    There are no others: so it is with more pods than one, too.
    """
    place = pod.spec.node_name
    pods = objects.of(Pod) if asking.systems.look_at_neighbours(node) else ()
    return tuple(one for one in pods if one.spec.node_name == place and one is not pod)


def _node_of(pod: Pod, objects: Objects) -> Node | None:
    """The pod's node, or the one that it might come to; None where the files have no nodes.

    Raises:
        InputError: it is not among those in the files, or there are several to come to.
    """
    nodes, name = objects.of(Node), pod.spec.node_name
    found = [node for node in nodes if not name or node.metadata.name in (name, "")]
    if nodes and len(found) != 1:
        place = f"is on node {printable(name)}" if name else "is bound to no node"
        why = (
            _several(name, found) if found else f", which is not in the files, only {_named(nodes)}"
        )
        raise InputError(f"-f: pod {printable(pod.key)} {place}{why}")
    return found[0] if found else None


def _several(name: str, found: Sequence[Node]) -> str:
    """What to say of several nodes for a pod: on one of this name, or on none."""
    first, *others = {node.metadata.name for node in found}
    if first and not others:
        which = "which" if first == name else f"and {_named(found)}"
        return f", {which} is in the files {len(found)} times: give it once"
    may = "that may be it" if name else "that it may come to"
    return f", and the files have {len(found)} {may} ({_named(found)}): give one"


def _named(nodes: Iterable[Node]) -> str:
    return listed(node.metadata.name or "one without a name" for node in nodes)
