"""`bailiff up`, `serve` and `worker`: commands that run until they are stopped."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import Annotated

import typer

from bailiff import bootstrap
from bailiff.cli import availability, cluster
from bailiff.cli.deciding import DEVICE_TAINT_EVICTION, deciding
from bailiff.cli.ending import fail, run
from bailiff.cli.exit_codes import ExitCode
from bailiff.decisions import Options  # noqa: TC001 - as Path
from bailiff.worker import PoliciesUnusableError

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
_CLOCK_SKEW_LIMIT = typer.Option(
    "--clock-skew-limit",
    min=1.0,
    help="Seconds by which this machine's clock may be wrong, by the API server's, before /readyz "
    "fails.",
    envvar="BAILIFF_CLOCK_SKEW_LIMIT",
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
_CLUSTER_PORT = typer.Option(
    "--cluster-port",
    min=0,
    max=65535,
    help="Port of the demo cluster; 0: any free.",
    envvar="BAILIFF_CLUSTER_PORT",
)
_WRITE_KUBECONFIG = typer.Option(
    "--write-kubeconfig",
    help="Where to write the demo cluster's kubeconfig; default: bailiff/demo.kubeconfig in "
    "$XDG_CACHE_HOME or ~/.cache.",
    envvar="BAILIFF_WRITE_KUBECONFIG",
)
_FLEET = typer.Option(
    "--fleet",
    help="File with the objects to begin with, as kubectl prints them; default: the README's.",
    envvar="BAILIFF_FLEET",
)
# Set by `up` on its children: they end when it does, however it ends.
_LIFELINE = typer.Option("--lifeline", hidden=True, help="Stop when standard input closes.")


def up(
    host: Annotated[str, _HOST] = "127.0.0.1",
    rest_port: Annotated[int, _REST_PORT] = 8080,
    grpc_port: Annotated[int, _GRPC_PORT] = 9090,
    status_port: Annotated[int, _STATUS_PORT] = 8081,
    cluster_port: Annotated[int, _CLUSTER_PORT] = 6480,
    write_kubeconfig: Annotated[Path | None, _WRITE_KUBECONFIG] = None,
    policies: Annotated[Path | None, _POLICIES] = None,
    fleet: Annotated[Path | None, _FLEET] = None,
) -> None:
    """Start a demo cluster, the decision API and the worker, to try things out."""
    try:
        # The container image has no demo cluster.
        from bailiff_demo import up as demo  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "bailiff_demo":
            raise
        fail("the demo cluster is not part of this installation: see README.md", ExitCode.FAILED)
    ports = (rest_port, grpc_port, status_port, cluster_port)
    settings = demo.UpSettings(host, *ports, write_kubeconfig, policies, fleet)
    try:
        program = demo.up(settings)
    except bootstrap.StartError as error:
        fail(str(error), ExitCode.USAGE)
    run(program)


@deciding
def serve(
    options: Options,
    kubeconfig: Annotated[Path | None, cluster.KUBECONFIG] = None,
    context: Annotated[str | None, cluster.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster.IN_CLUSTER] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    rest_port: Annotated[int, _REST_PORT] = 8080,
    grpc_port: Annotated[int, _GRPC_PORT] = 9090,
    device_taint_eviction: Annotated[bool, DEVICE_TAINT_EVICTION] = True,
    lifeline: Annotated[bool, _LIFELINE] = False,
) -> None:
    """Serve the decision API over REST and gRPC. Reads a cluster only if told which."""
    settings = bootstrap.ServeSettings(
        cluster=cluster.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=False),
        host=host,
        rest_port=rest_port,
        grpc_port=grpc_port,
        device_taint_eviction=device_taint_eviction,
        options=options,
    )
    run(bootstrap.serve(settings), lifeline=lifeline)


@deciding
def worker(
    options: Options,
    kubeconfig: Annotated[Path | None, cluster.KUBECONFIG] = None,
    context: Annotated[str | None, cluster.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster.IN_CLUSTER] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    status_port: Annotated[int, _STATUS_PORT] = 8081,
    concurrency: Annotated[int, _CONCURRENCY] = 20,
    clock_skew_limit: Annotated[float, _CLOCK_SKEW_LIMIT] = bootstrap.CLOCK_SKEW_LIMIT,
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
    device_taint_eviction: Annotated[bool, DEVICE_TAINT_EVICTION] = True,
    lifeline: Annotated[bool, _LIFELINE] = False,
) -> None:
    """Watch a cluster and evict pods when their time has come."""
    chosen = cluster.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=True)
    elects = in_cluster if leader_elect is None else leader_elect
    try:
        shares = availability.choose_shards(shards, shard, elects=elects, shadow=shadow)
        times = (lease_duration, renew_deadline, retry_period)
        lease = availability.choose_lease(lease_namespace, lease_name, identity, *times)
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    settings = bootstrap.WorkSettings(
        cluster=chosen,
        host=host,
        status_port=status_port,
        shards=shares,
        lease=lease if elects else None,
        concurrency=concurrency,
        clock_skew_limit=clock_skew_limit,
        dry_run=dry_run,
        shadow=shadow,
        audit_log=audit_log,
        policies=policies,
        device_taint_eviction=device_taint_eviction,
        options=options,
    )
    try:
        program = bootstrap.work(settings)
    except PoliciesUnusableError as error:
        fail(f"policies: {error}", ExitCode.USAGE)
    run(program, lifeline=lifeline)
