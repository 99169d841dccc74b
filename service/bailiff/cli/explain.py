"""`bailiff explain`: should these pods be evicted, when, and why? For people and programs."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import replace

from bailiff.cli.asking import Asking, namespace_of, systems_of
from bailiff.cli.decision_options import deciding
from bailiff.cli.describing import shown
from bailiff.cli.errors import ExitCode, InputError, told
from bailiff.cli.objects import FILES, NAMESPACE, Objects
from bailiff.cli.options import CONTEXT, IN_CLUSTER, KUBECONFIG, usual_cluster
from bailiff.cli.output import FORMAT, Format
from bailiff.cli.targets import BOUND_AT, NODE, NOW, Target, parse_instant
from bailiff.decisions import Options, PodAnswer, PodsAnswer, Verdict
from bailiff.kinds import Node, Pod

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from bailiff.bootstrap.choices import ClusterChoice

_TARGET = typer.Argument(
    help="The object, as pod/web or node/node-a; of a node, its pods.",
    metavar="TYPE/NAME",
    show_default=False,
)
_EXIT_CODE = typer.Option(
    "--exit-code",
    help="Exit 0 for keep, 10 for evict at, 11 for evict now; of several pods the worst counts.",
)
_EXIT_BY_VERDICT = {
    Verdict.KEEP: ExitCode.OK,
    Verdict.EVICT_AT: ExitCode.EVICT_AT,
    Verdict.EVICT_NOW: ExitCode.EVICT_NOW,
}


@deciding
def explain(
    ctx: typer.Context,
    options: Options,
    target: Annotated[str | None, _TARGET] = None,
    files: Annotated[list[Path] | None, FILES] = None,
    namespace: Annotated[str | None, NAMESPACE] = None,
    now: Annotated[str | None, NOW] = None,
    bound_at: Annotated[str | None, BOUND_AT] = None,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    output: Annotated[Format | None, FORMAT] = None,
    exit_code: Annotated[bool, _EXIT_CODE] = False,
) -> None:
    """Tell whether pods would be evicted, when, and why: those of a cluster, or of files."""
    with told():
        wanted = Target.parse(target) if target is not None else None
        # Of many only who wants them in full is told each step.
        in_full = True if output is Format.TEXT else None
        asking = Asking(systems_of(ctx), options, parse_instant(now, "--now"), in_full)
        if files:
            bound = parse_instant(bound_at, "--bound-at")
            answer = _of_files(asking, Objects(files, namespace), wanted, bound)
        elif wanted is None:
            raise InputError("say what to explain: TYPE/NAME, as pod/web of a cluster, or -f FILE")
        elif bound_at is not None:
            raise InputError("--bound-at is of a pod in a file: a cluster tells when it was bound")
        else:
            chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
            answer = _of_cluster(asking, chosen, wanted, namespace)
    typer.echo(shown(answer, output))
    if exit_code:
        raise typer.Exit(max(_EXIT_BY_VERDICT[one.verdict] for one in answer.counted()))


def _of_cluster(
    asking: Asking, chosen: ClusterChoice, wanted: Target, namespace: str | None
) -> PodAnswer | PodsAnswer:
    name, terms = wanted.name, (asking.options, asking.explain)
    if wanted.type == NODE:
        return asking.look_up(chosen, lambda to: to.node(name, *terms)).answer()
    place = namespace_of(chosen, namespace)
    return asking.look_up(chosen, lambda to: to.pod(place, name, *terms)).answer()


def _of_files(
    asking: Asking, objects: Objects, wanted: Target | None, bound_at: datetime | None
) -> PodAnswer | PodsAnswer:
    """One pod is asked about alone, more of them node by node."""
    pods = _chosen(objects, wanted)
    if len(pods) == 1:
        node = _node_of(pods[0], objects)
        alone: PodAnswer = asking.ask(
            "decide", objects.of, pod=pods[0], node=node, bound_at=bound_at
        )
        return alone
    answers: list[PodsAnswer] = [
        asking.ask("decideBatch", objects.of, pods=group, node=node, bound_at=bound_at)
        for node, group in _by_node(pods, objects)
    ]
    # What is said of anything but pods is the same in all: each was told of all objects.
    return replace(answers[0], decisions=tuple(one for each in answers for one in each.decisions))


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
        of_it = "" if wanted is None else f" for {wanted.type}/{wanted.name}"
        raise InputError(f"-f: there is no pod to explain{of_it}")
    return pods


def _is_meant(pod: Pod, wanted: Target, namespace: str) -> bool:
    if wanted.type == NODE:
        return pod.spec.node_name in ("", wanted.name)
    return (pod.metadata.namespace, pod.metadata.name) == (namespace, wanted.name)


def _node_of(pod: Pod, objects: Objects) -> Node | None:
    """The pod's node, or the one that it might come to; None where the files have no nodes.

    Raises:
        InputError: it is not among those in the files, or there are several to come to.
    """
    nodes, name = objects.of(Node), pod.spec.node_name
    found = [node for node in nodes if not name or node.metadata.name in (name, "")]
    if nodes and len(found) != 1:
        place = f"is on node {name}" if name else "is bound to no node"
        raise InputError(
            f"-f: pod {pod.key} {place}, and the files have {len(found)} that this may be: give one"
        )
    return found[0] if found else None
