"""The answers that `bailiff preview` gives: what a taint or a rule would do before it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec
import typer

from bailiff.cli.asking import NOT_LOOKED_AT, Asking, systems_of
from bailiff.cli.describing import COLOURS, head, when
from bailiff.cli.errors import InputError, warn
from bailiff.cli.lacking import warn_of_lacking
from bailiff.cli.objects import Objects
from bailiff.cli.output import Lines, dumped, listed, say, table
from bailiff.cli.taints import (
    TaintChange,
    check_removed,
    parse_taints,
    warn_of_effects,
    warn_of_standing,
)
from bailiff.cli.targets import parse_instant, parse_node
from bailiff.decisions import Options, Verdict
from bailiff.decisions.budgets import Violations
from bailiff.kinds import DeviceTaintRule, Node, Pod, PodDisruptionBudget

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.decisions import Decision
    from bailiff.kinds.meta import Value
    from bailiff.lookup import LookUps

T = TypeVar("T", bound="Value")

_TAINT = "previewTaintChange"
_RULE = "previewDeviceTaintRule"
_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "BUDGET", "WHY")
_WIDE_HEADS = ("NAMESPACE", "NAME", "VERDICT", "WHEN", "BUDGET", "NODE", "BEFORE", "REASON", "WHY")


class _Seen:
    """Objects by kind, from files or of a cluster."""

    def __init__(self, found: Mapping[type[Value], tuple[Value, ...]]) -> None:
        self._found = found

    def of(self, kind: type[T]) -> tuple[T, ...]:
        return cast("tuple[T, ...]", self._found.get(kind, ()))

    def having(self, *, pods: tuple[Pod, ...]) -> _Seen:
        """The same with other pods."""
        return _Seen({**self._found, Pod: pods})


def asking_of(options: Options, now: str | None, systems: object) -> Asking:
    """Who is asked; raises InputError where `now` is no instant."""
    return Asking(systems_of(systems), options, parse_instant(now, "--now"))


def taint(
    asking: Asking,
    node: str,
    taints: list[str],
    files: list[Path] | None,
    chosen: ClusterChoice,
    output: Lines,
) -> None:
    """Print what adding or removing taints of a node would do.

    Raises:
        InputError: the taints are none, or the files do not suffice.
        ClusterUnusable, StartError: as Asking.look_up.
    """
    change, name = parse_taints(taints), parse_node(node)
    if files:
        seen = _node_of_files(Objects(files), name)
    else:
        seen = asking.look_up(chosen, lambda to: _node_of_cluster(to, name))
    (there,) = seen.of(Node)
    check_removed(change, there)
    warn_of_effects(change)
    warn_of_standing(change, there)
    _show_change(_taint_change(asking, change, seen), seen, output)
    if not files:
        say(NOT_LOOKED_AT)


def rule(
    asking: Asking,
    rule_file: Path,
    files: list[Path] | None,
    chosen: ClusterChoice,
    output: Lines,
) -> None:
    """Print what a DeviceTaintRule would do; raises as `taint`."""
    if str(rule_file) == "-" and "-" in map(str, files or ()):
        raise InputError("-f -: standard input can be read only once")
    found = Objects([rule_file], option="FILE")
    rules = found.of(DeviceTaintRule)
    if len(rules) != 1:
        raise InputError(f"FILE {rule_file}: expected one DeviceTaintRule, {found.described}")
    kinds: tuple[type[Value], ...] = (*asking.kinds_for(_RULE), PodDisruptionBudget)
    if files:
        objects = Objects(files)
        seen = _Seen({kind: objects.of(kind) for kind in kinds})
    else:
        seen = asking.look_up(chosen, lambda to: _all_of_cluster(to, kinds))
    seen = seen.having(pods=tuple(pod for pod in seen.of(Pod) if _uses_devices(pod)))
    answer = asking.ask(_RULE, seen.of, rule=rules[0])
    if files:
        warn_of_lacking(asking, seen.of(Pod), seen.of)
    _show_rule(answer, seen, output)
    if not files:
        say(NOT_LOOKED_AT)


def _node_of_files(objects: Objects, name: str) -> _Seen:
    nodes = [node for node in objects.of(Node) if node.metadata.name == name]
    if not nodes:
        others = listed(node.metadata.name for node in objects.of(Node))
        but = f"but {others}" if others else "nor any other"
        raise InputError(f"-f: node {name} is not in the files, {but}")
    if len(nodes) > 1:
        raise InputError(f"-f: node {name} is in the files {len(nodes)} times: give it once")
    pods = tuple(pod for pod in objects.of(Pod) if pod.spec.node_name == name)
    budgets = objects.of(PodDisruptionBudget)
    return _Seen({Node: tuple(nodes), Pod: pods, PodDisruptionBudget: budgets})


async def _node_of_cluster(lookups: LookUps, name: str) -> _Seen:
    node, pods = await lookups.node_and_pods(name)
    return _Seen({Node: (node,), Pod: pods, **await _budgets_of_cluster(lookups)})


async def _all_of_cluster(lookups: LookUps, kinds: Iterable[type[Value]]) -> _Seen:
    wanted = [kind for kind in kinds if kind is not PodDisruptionBudget]
    return _Seen({**await lookups.all_of(*wanted), **await _budgets_of_cluster(lookups)})


async def _budgets_of_cluster(lookups: LookUps) -> Mapping[type[Value], tuple[Value, ...]]:
    from bailiff.lookup import ForbiddenError  # noqa: PLC0415 - loads a client of clusters

    try:
        return await lookups.all_of(PodDisruptionBudget)
    except ForbiddenError as error:
        warn(f"budgets are not looked at: {error}")
        return {}


def _taint_change(asking: Asking, change: TaintChange, seen: _Seen) -> Any:  # noqa: ANN401 - the question's own type
    (node,) = seen.of(Node)
    removed = [{"key": one.key, "effect": one.effect} for one in change.removed]
    return asking.ask(_TAINT, seen.of, node=node, add_taints=change.added, remove_taints=removed)


def _show_change(answer: Any, seen: _Seen, how: Lines) -> None:  # noqa: ANN401 - as above
    pods = _by_name(seen.of(Pod))
    going = [
        pods[one.pod.namespace, one.pod.name]
        for one in answer.changes
        if one.before.verdict is not Verdict.EVICT_NOW and one.after.verdict is Verdict.EVICT_NOW
    ]
    violated = Violations(going, seen.of(PodDisruptionBudget))
    rows = [(one.after, _verdict(one.before)) for one in answer.changes]
    _show(answer, rows, violated, how)
    counts = answer.summary
    say(
        f"the answer changes for {len(rows)} of {_many(len(pods), 'pod')} on the node: "
        f"{counts.evict_now} would go now, {counts.evict_at} later, {counts.keep} stay after all"
    )


def _show_rule(answer: Any, seen: _Seen, how: Lines) -> None:  # noqa: ANN401 - as above
    pods = _by_name(seen.of(Pod))
    going = [
        pods[one.pod.namespace, one.pod.name]
        for one in answer.decisions
        if one.verdict is Verdict.EVICT_NOW
    ]
    violated = Violations(going, seen.of(PodDisruptionBudget))
    _show(answer, [(one, "") for one in answer.decisions], violated, how)
    if not answer.published_devices + answer.allocated_devices:
        warn("the rule selects no device that is there: a misspelt driver, pool or device?")
    say(
        f"{answer.published_devices} published and {answer.allocated_devices} allocated devices "
        f"are selected; {_many(len(answer.decisions), 'pod')} would go, {len(going)} of them now"
    )


def _show(
    answer: object, rows: Sequence[tuple[Decision, str]], violated: Violations, how: Lines
) -> None:
    """Print what would happen, and warn of budgets; a row is the answer then, and the one now."""
    match how:
        case Lines.JSON | Lines.YAML:
            told_budgets = [one._asdict() for one in violated.all]
            typer.echo(dumped(msgspec.to_builtins(answer) | {"budgets": told_budgets}, how))
        case Lines.TABLE:
            typer.echo(table(_HEADS, (_row(one, violated) for one, _ in rows), COLOURS))
        case Lines.WIDE:
            wide = (_wide_row(one, before, violated) for one, before in rows)
            typer.echo(table(_WIDE_HEADS, wide, COLOURS))
    for one in violated.all:
        warn(
            f"PodDisruptionBudget {one.namespace}/{one.name} allows "
            f"{_many(one.allowed, 'disruption')} now, {one.going} of its pods would go at once"
        )


def _row(decision: Decision, violated: Violations) -> tuple[str, ...]:
    pod = decision.pod
    return (*head(decision), violated.of(pod.namespace, pod.name), decision.message)


def _wide_row(decision: Decision, before: str, violated: Violations) -> tuple[str, ...]:
    *begin, why = _row(decision, violated)
    return (*begin, decision.node, before, decision.reason, why)


def _verdict(decision: Decision) -> str:
    return f"{decision.verdict} {when(decision)}".strip()


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _by_name(pods: Iterable[Pod]) -> Mapping[tuple[str, str], Pod]:
    return {(pod.metadata.namespace, pod.metadata.name): pod for pod in pods}


def _uses_devices(pod: Pod) -> bool:
    claims = pod.status.extended_resource_claim_status
    return bool(pod.spec.resource_claims) or claims is not None
