"""`bailiff explain`: the decision API's answer for objects in files, for people and programs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from bailiff.cli.deciding import deciding
from bailiff.cli.ending import fail
from bailiff.cli.exit_codes import ExitCode
from bailiff.cli.objects import InputError, check_standard_input, read_object, read_objects
from bailiff.cli.output import OUTPUT, Output, pretty
from bailiff.decisions import Decision, Facts, FactsError, Options, Verdict, decide
from bailiff.decisions.instants import in_utc
from bailiff.decisions.text import describe_time
from bailiff.kinds import (
    DeviceTaintRule,
    Node,
    Pod,
    ResourceClaim,
    ResourceSlice,
    parse_time,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bailiff.decisions import TraceStep

_POD = typer.Argument(help="The pod, YAML or JSON; - reads standard input.")
_NODE = typer.Option("--node", help="Its node, YAML or JSON; without, devices alone decide.")
_CLAIM = typer.Option(
    "--claim", help="ResourceClaims, YAML or JSON: documents or lists; may be given several times."
)
_SLICE = typer.Option("--slice", help="ResourceSlices, as --claim.")
_RULE = typer.Option("--rule", help="DeviceTaintRules, as --claim.")
_NOW = typer.Option(help="Decide for this instant (RFC 3339).")
_BOUND_AT = typer.Option(help="When the pod was bound; default: as the pod tells.")
_EXIT_CODE = typer.Option("--exit-code", help="Exit 0 for keep, 10 for evict at, 11 for evict now.")
# Kubectl's, too: a pod that names none meets claims that come from there.
_USUAL_NAMESPACE = "default"
_EXIT_BY_VERDICT = {
    Verdict.KEEP: ExitCode.OK,
    Verdict.EVICT_AT: ExitCode.EVICT_AT,
    Verdict.EVICT_NOW: ExitCode.EVICT_NOW,
}


@deciding
def explain(
    pod: Annotated[Path, _POD],
    options: Options,
    node: Annotated[Path | None, _NODE] = None,
    claim: Annotated[list[Path] | None, _CLAIM] = None,
    slices: Annotated[list[Path] | None, _SLICE] = None,
    rule: Annotated[list[Path] | None, _RULE] = None,
    output: Annotated[Output, OUTPUT] = Output.TEXT,
    now: Annotated[str | None, _NOW] = None,
    bound_at: Annotated[str | None, _BOUND_AT] = None,
    exit_code: Annotated[bool, _EXIT_CODE] = False,
) -> None:
    """Tell whether a pod would be evicted, when, and why. Needs no cluster."""
    claims, slices, rules = claim or [], slices or [], rule or []
    try:
        check_standard_input((pod, *([node] if node else ()), *claims, *slices, *rules))
        facts = msgspec.structs.replace(
            _facts(pod, node, claims, slices, rules),
            now=parse_instant(now, "--now") if now else None,
            bound_at=parse_instant(bound_at, "--bound-at") if bound_at else None,
        )
        decision = decide(facts, datetime.now(UTC), options)
    except (InputError, FactsError) as error:
        fail(str(error), ExitCode.USAGE)
    as_json = output is Output.JSON
    typer.echo(pretty(msgspec.to_builtins(decision)) if as_json else describe(decision))
    if exit_code:
        raise typer.Exit(_EXIT_BY_VERDICT[decision.verdict])


def _facts(
    pod: Path,
    node: Path | None,
    claims: Sequence[Path],
    slices: Sequence[Path],
    rules: Sequence[Path],
) -> Facts:
    asked = read_object(pod, Pod, "Pod", _USUAL_NAMESPACE)
    namespace = asked.metadata.namespace
    return Facts(
        pod=asked,
        node=read_object(node, Node, "Node") if node else None,
        resource_claims=read_objects(claims, ResourceClaim, "ResourceClaim", namespace),
        resource_slices=read_objects(slices, ResourceSlice, "ResourceSlice"),
        device_taint_rules=read_objects(rules, DeviceTaintRule, "DeviceTaintRule"),
    )


def parse_instant(text: str, name: str) -> datetime:
    """An RFC 3339 instant.

    Raises:
        InputError: it is none, or has no offset.
    """
    try:
        return in_utc(parse_time(text))
    except ValueError as error:
        raise InputError(
            f"{name}: expected RFC 3339 with an offset, as 2026-01-31T12:00:00Z, got {text[:50]!a}"
        ) from error


def describe(decision: Decision) -> str:
    """The decision and its trace as text for a terminal."""
    name = f"{decision.pod.namespace}/{decision.pod.name}"
    lines = [f"Pod {name} on node {decision.node or '(unnamed)'}: {_verdict(decision)}"]
    lines.append(f"  {decision.reason}: {decision.message}")
    for finding in decision.findings:
        lines.append(f"{finding.system}: {finding.verdict} ({finding.reason})")
        lines += [f"  {line}" for step in finding.trace for line in _step(step)]
    return "\n".join(lines)


def _verdict(decision: Decision) -> str:
    match decision.verdict:
        case Verdict.KEEP:
            return "keep"
        case Verdict.EVICT_NOW:
            return "evict now"
        case Verdict.EVICT_AT:
            assert decision.evict_at is not None  # noqa: S101 - EVICT_AT always names its instant
            return f"evict at {describe_time(decision.evict_at)}"


def _step(step: TraceStep) -> list[str]:
    lines = [f"{step.rule} {step.outcome}: {step.message}"]
    if step.added_at is not None:
        lines.append(f"  added {describe_time(step.added_at)} ({step.added_from})")
    if step.deadline is not None:
        lines.append(f"  deadline {describe_time(step.deadline)}")
    return lines
