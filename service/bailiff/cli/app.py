"""Commands and their options. Each reads its options, calls one function, sets the exit code."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import Annotated

import msgspec
import typer

import bailiff
from bailiff import bootstrap
from bailiff.cli import availability, cluster, devices, pausing
from bailiff.cli import policies as policy_files
from bailiff.cli.ending import fail, run
from bailiff.cli.exit_codes import ExitCode
from bailiff.cli.explain import (
    InputError,
    describe,
    explain,
    parse_instant,
    read_object,
    read_objects,
)
from bailiff.cli.output import OUTPUT, Output, pretty
from bailiff.decisions import Facts, Options, Verdict
from bailiff.kinds import DeviceTaintRule, Node, Pod, ResourceClaim, ResourceSlice
from bailiff.worker import PoliciesUnusableError

app = typer.Typer(
    name="bailiff",
    help="The eviction decision service for Kubernetes: should this pod be evicted, and when?",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 cluster not reachable.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


_COMPARISON = typer.Option(
    "--comparison-operators",
    help="Feature gate TaintTolerationComparisonOperators: operators Lt and Gt.",
    envvar="BAILIFF_COMPARISON_OPERATORS",
)
_EVICT_ENDED = typer.Option(
    "--evict-ended-pods",
    help="Evict finished and terminating pods too, as kube-controller-manager does.",
    envvar="BAILIFF_EVICT_ENDED_PODS",
)
_HOST = typer.Option("--host", help="Address to listen on.", envvar="BAILIFF_HOST")
_REST_PORT = typer.Option(
    "--rest-port", min=0, max=65535, help="0: any free.", envvar="BAILIFF_REST_PORT"
)
_GRPC_PORT = typer.Option(
    "--grpc-port", min=0, max=65535, help="0: any free.", envvar="BAILIFF_GRPC_PORT"
)
_STATUS_PORT = typer.Option(
    "--status-port",
    min=0,
    max=65535,
    help="Port of /healthz, /readyz, /metrics and /v1/queue; 0: any free.",
    envvar="BAILIFF_STATUS_PORT",
)
_CONCURRENCY = typer.Option(
    "--concurrency", min=1, max=1000, help="Evictions at a time.", envvar="BAILIFF_CONCURRENCY"
)
_DRY_RUN = typer.Option(
    "--dry-run",
    help="Have the API server check every write (dryRun=All) and keep none: no pod is evicted.",
    envvar="BAILIFF_DRY_RUN",
)
_SHADOW = typer.Option(
    "--shadow",
    help="Decide, write nothing, and compare with what kube-controller-manager does.",
    envvar="BAILIFF_SHADOW",
)
_AUDIT_LOG = typer.Option(
    "--audit-log",
    help="Append a JSON line for each eviction, with its trace, to this file; -: standard output.",
    envvar="BAILIFF_AUDIT_LOG",
)
_POLICIES = typer.Option(
    "--policies",
    help="File of policies, looked at again every few seconds; default: all policies are off.",
    envvar="BAILIFF_POLICIES",
)
# Set by `up` on its children: they end when it does, however it ends.
_LIFELINE = typer.Option("--lifeline", hidden=True, help="Stop when standard input closes.")


@app.command()
def up(
    host: Annotated[str, _HOST] = "127.0.0.1",
    rest_port: Annotated[int, _REST_PORT] = 8080,
    grpc_port: Annotated[int, _GRPC_PORT] = 9090,
    status_port: Annotated[int, _STATUS_PORT] = 8081,
    cluster_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the embedded cluster; 0: any free.")
    ] = 6480,
) -> None:
    """Start an embedded demo cluster, the decision API and the worker, to try things out."""
    run(bootstrap.up(bootstrap.UpSettings(host, rest_port, grpc_port, status_port, cluster_port)))


@app.command()
def serve(
    kubeconfig: Annotated[Path | None, cluster.KUBECONFIG] = None,
    context: Annotated[str | None, cluster.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster.IN_CLUSTER] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    rest_port: Annotated[int, _REST_PORT] = 8080,
    grpc_port: Annotated[int, _GRPC_PORT] = 9090,
    comparison_operators: Annotated[bool, _COMPARISON] = False,
    evict_ended_pods: Annotated[bool, _EVICT_ENDED] = False,
    device_taint_eviction: Annotated[bool, devices.DEVICE_TAINT_EVICTION] = True,
    extended_resource_claims: Annotated[bool, devices.EXTENDED_RESOURCE_CLAIMS] = True,
    pod_group_claims: Annotated[bool, devices.POD_GROUP_CLAIMS] = False,
    lifeline: Annotated[bool, _LIFELINE] = False,
) -> None:
    """Serve the decision API over REST and gRPC. Reads a cluster only if told which."""
    settings = bootstrap.ServeSettings(
        cluster=cluster.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=False),
        host=host,
        rest_port=rest_port,
        grpc_port=grpc_port,
        device_taint_eviction=device_taint_eviction,
        options=Options(
            comparison_operators=comparison_operators,
            evict_ended_pods=evict_ended_pods,
            extended_resource_claims=extended_resource_claims,
            pod_group_claims=pod_group_claims,
        ),
    )
    run(bootstrap.serve(settings), lifeline=lifeline)


@app.command()
def worker(
    kubeconfig: Annotated[Path | None, cluster.KUBECONFIG] = None,
    context: Annotated[str | None, cluster.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster.IN_CLUSTER] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    status_port: Annotated[int, _STATUS_PORT] = 8081,
    concurrency: Annotated[int, _CONCURRENCY] = 20,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    shadow: Annotated[bool, _SHADOW] = False,
    audit_log: Annotated[Path | None, _AUDIT_LOG] = None,
    policies: Annotated[Path | None, _POLICIES] = None,
    shards: Annotated[int, availability.SHARDS] = 1,
    shard: Annotated[int | None, availability.SHARD] = None,
    leader_elect: Annotated[bool | None, availability.LEADER_ELECT] = None,
    lease_namespace: Annotated[str | None, availability.LEASE_NAMESPACE] = None,
    lease_name: Annotated[str, availability.LEASE_NAME] = "bailiff-worker",
    identity: Annotated[str | None, availability.IDENTITY] = None,
    lease_duration: Annotated[int, availability.LEASE_DURATION] = 15,
    renew_deadline: Annotated[float, availability.RENEW_DEADLINE] = 10.0,
    retry_period: Annotated[float, availability.RETRY_PERIOD] = 2.0,
    comparison_operators: Annotated[bool, _COMPARISON] = False,
    evict_ended_pods: Annotated[bool, _EVICT_ENDED] = False,
    device_taint_eviction: Annotated[bool, devices.DEVICE_TAINT_EVICTION] = True,
    extended_resource_claims: Annotated[bool, devices.EXTENDED_RESOURCE_CLAIMS] = True,
    pod_group_claims: Annotated[bool, devices.POD_GROUP_CLAIMS] = False,
    lifeline: Annotated[bool, _LIFELINE] = False,
) -> None:
    """Watch a cluster and evict pods when their time has come."""
    chosen = cluster.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=True)
    try:
        share = availability.choose_shard(shards, shard)
        times = (lease_duration, renew_deadline, retry_period)
        lease = availability.choose_lease(lease_namespace, lease_name, identity, *times)
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    elects = in_cluster if leader_elect is None else leader_elect
    settings = bootstrap.WorkSettings(
        cluster=chosen,
        host=host,
        status_port=status_port,
        shard=share,
        lease=lease if elects else None,
        concurrency=concurrency,
        dry_run=dry_run,
        shadow=shadow,
        audit_log=audit_log,
        policies=policies,
        device_taint_eviction=device_taint_eviction,
        options=Options(
            comparison_operators=comparison_operators,
            evict_ended_pods=evict_ended_pods,
            extended_resource_claims=extended_resource_claims,
            pod_group_claims=pod_group_claims,
        ),
    )
    try:
        program = bootstrap.work(settings)
    except PoliciesUnusableError as error:
        fail(f"policies: {error}", ExitCode.USAGE)
    run(program, lifeline=lifeline)


@app.command("explain")
def explain_command(
    pod: Annotated[Path, typer.Argument(help="The pod, YAML or JSON; - reads standard input.")],
    node: Annotated[
        Path | None,
        typer.Option("--node", help="Its node, YAML or JSON; without, devices alone decide."),
    ] = None,
    claim: Annotated[list[Path] | None, devices.CLAIM] = None,
    slices: Annotated[list[Path] | None, devices.SLICE] = None,
    rule: Annotated[list[Path] | None, devices.RULE] = None,
    output: Annotated[Output, OUTPUT] = Output.TEXT,
    now: Annotated[str | None, typer.Option(help="Decide for this instant (RFC 3339).")] = None,
    bound_at: Annotated[
        str | None, typer.Option(help="When the pod was bound; default: as the pod tells.")
    ] = None,
    exit_code: Annotated[
        bool,
        typer.Option("--exit-code", help="Exit 0 for keep, 10 for evict at, 11 for evict now."),
    ] = False,
    comparison_operators: Annotated[bool, _COMPARISON] = False,
    evict_ended_pods: Annotated[bool, _EVICT_ENDED] = False,
    extended_resource_claims: Annotated[bool, devices.EXTENDED_RESOURCE_CLAIMS] = True,
    pod_group_claims: Annotated[bool, devices.POD_GROUP_CLAIMS] = False,
) -> None:
    """Tell whether a pod would be evicted, when, and why. Needs no cluster."""
    try:
        asked = read_object(pod, Pod, "Pod")
        namespace = asked.metadata.namespace
        facts = Facts(
            pod=asked,
            node=read_object(node, Node, "Node") if node else None,
            resource_claims=read_objects(claim or (), ResourceClaim, "ResourceClaim", namespace),
            resource_slices=read_objects(slices or (), ResourceSlice, "ResourceSlice"),
            device_taint_rules=read_objects(rule or (), DeviceTaintRule, "DeviceTaintRule"),
            now=parse_instant(now, "--now") if now else None,
            bound_at=parse_instant(bound_at, "--bound-at") if bound_at else None,
        )
        options = Options(
            comparison_operators=comparison_operators,
            evict_ended_pods=evict_ended_pods,
            extended_resource_claims=extended_resource_claims,
            pod_group_claims=pod_group_claims,
        )
        decision = explain(facts, datetime.now(UTC), options)
    except InputError as error:
        fail(str(error), ExitCode.USAGE)
    as_json = output is Output.JSON
    typer.echo(pretty(msgspec.to_builtins(decision)) if as_json else describe(decision))
    if exit_code:
        raise typer.Exit(_EXIT_BY_VERDICT[decision.verdict])


app.add_typer(policy_files.app, name="policies")
app.command()(pausing.pause)
app.command()(pausing.resume)
app.command()(pausing.paused)


@app.command()
def version(output: Annotated[Output, OUTPUT] = Output.TEXT) -> None:
    """Tell the versions of Bailiff, Python and the platform."""
    facts = {
        "bailiff": bailiff.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    if output is Output.JSON:
        typer.echo(pretty(facts))
    else:
        typer.echo("\n".join(f"{name} {value}" for name, value in facts.items()))


def main() -> None:
    """Run the command; the entry point of the distribution."""
    app()


_EXIT_BY_VERDICT = {
    Verdict.KEEP: ExitCode.OK,
    Verdict.EVICT_AT: ExitCode.EVICT_AT,
    Verdict.EVICT_NOW: ExitCode.EVICT_NOW,
}
