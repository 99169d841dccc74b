"""`bailiff explain`: the decision API's answer for objects in files, for people and programs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.cli.decision_options import deciding
from bailiff.cli.describing import shown
from bailiff.cli.errors import ExitCode, InputError, told
from bailiff.cli.objects import DEFAULT_NAMESPACE, FILES, NAMESPACE, Objects
from bailiff.cli.output import FORMAT, Format
from bailiff.cli.targets import BOUND_AT, NODE, NOW, Target, parse_instant
from bailiff.decisions import Decision, Facts, FactsError, Options, Verdict, decide
from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    options: Options,
    target: Annotated[str | None, _TARGET] = None,
    files: Annotated[list[Path] | None, FILES] = None,
    namespace: Annotated[str | None, NAMESPACE] = None,
    now: Annotated[str | None, NOW] = None,
    bound_at: Annotated[str | None, BOUND_AT] = None,
    output: Annotated[Format | None, FORMAT] = None,
    exit_code: Annotated[bool, _EXIT_CODE] = False,
) -> None:
    """Tell whether pods would be evicted, when, and why."""
    with told():
        if not files:
            raise InputError("say what to explain: -f FILE")
        wanted = Target.parse(target) if target is not None else None
        objects = Objects(files, namespace or DEFAULT_NAMESPACE)
        pods = _chosen(objects, wanted, namespace or DEFAULT_NAMESPACE)
        at = parse_instant(now, "--now") or datetime.now(UTC)
        bound = parse_instant(bound_at, "--bound-at")
        decisions = tuple(_decide(pod, objects, at, bound, options) for pod in pods)
    typer.echo(shown(decisions, output))
    if exit_code:
        raise typer.Exit(max(_EXIT_BY_VERDICT[one.verdict] for one in decisions))


def _chosen(objects: Objects, wanted: Target | None, namespace: str) -> tuple[Pod, ...]:
    """The pods that are meant, at least one."""
    pods = objects.of(Pod)
    if wanted is not None:
        pods = tuple(pod for pod in pods if _is_meant(pod, wanted, namespace))
    if not pods:
        raise InputError(
            f"-f: no pod to explain{f' for {wanted.type}/{wanted.name}' if wanted else ''}"
        )
    return pods


def _is_meant(pod: Pod, wanted: Target, namespace: str) -> bool:
    if wanted.type == NODE:
        return pod.spec.node_name in ("", wanted.name)
    return (pod.metadata.namespace, pod.metadata.name) == (namespace, wanted.name)


def _node_of(pod: Pod, nodes: Iterable[Node]) -> Node | None:
    """The pod's node, or the one that it might come to; None where the files have no nodes.

    Raises:
        InputError: it is not among those in the files, or there are several to come to.
    """
    nodes = tuple(nodes)
    name = pod.spec.node_name
    found = [node for node in nodes if not name or node.metadata.name in (name, "")]
    if nodes and len(found) != 1:
        place = f"is on node {name}" if name else "is bound to no node"
        raise InputError(
            f"-f: pod {pod.key} {place}, and of those there are {len(found)}: give one"
        )
    return found[0] if found else None


def _decide(
    pod: Pod, objects: Objects, now: datetime, bound_at: datetime | None, options: Options
) -> Decision:
    facts = Facts(
        pod=pod,
        node=_node_of(pod, objects.of(Node)),
        resource_claims=objects.of(ResourceClaim),
        resource_slices=objects.of(ResourceSlice),
        device_taint_rules=objects.of(DeviceTaintRule),
        bound_at=bound_at,
    )
    try:
        return decide(facts, now, options)
    except FactsError as error:
        raise InputError(f"-f: pod {pod.key}: {error}") from error
