"""`bailiff up`, `serve` and `worker`: commands that run until they are stopped."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.bootstrap.access import AccessChoice  # noqa: TC001 - as Path
from bailiff.bootstrap.choices import (
    API_HEALTH_PORT,
    CLOCK_SKEW_LIMIT,
    STUCK_AFTER,
    WORKER_HEALTH_PORT,
    AdmissionChoice,
    NodeLossChoice,
    PressureChoice,
    ProbeChoice,
    StartError,
)
from bailiff.cli import election_options
from bailiff.cli.access_options import check_cluster, check_listening, guarded, is_only_here
from bailiff.cli.admission_options import check_hooks, hooking
from bailiff.cli.decision_options import check_look_ups, deciding
from bailiff.cli.errors import ExitCode, InputError, fail, run, told
from bailiff.cli.node_loss_options import losing
from bailiff.cli.options import CONTEXT, IN_CLUSTER, KUBECONFIG, choose_cluster, setting
from bailiff.cli.pressure_options import pressing
from bailiff.cli.tracing_options import tracing

if TYPE_CHECKING:
    from bailiff.decisions import Options
    from bailiff.tracing.settings import TracingSettings

_LISTENING = "Listening"
_ACTING = "Acting"

_HOST = setting("--host", "Address to listen on.", _LISTENING)
_REST_PORT = setting("--rest-port", "0: any free.", _LISTENING, min=0, max=65535)
_GRPC_PORT = setting("--grpc-port", "0: any free.", _LISTENING, min=0, max=65535)
_STATUS_PORT = setting(
    "--status-port",
    "Port of /healthz, /readyz, /metrics and /v1/queue; 0: any free.",
    _LISTENING,
    min=0,
    max=65535,
)
_HEALTH_PORT = setting(
    "--health-port",
    "Port of /healthz and /readyz alone, which no load on the others keeps waiting; 0: any free.",
    _LISTENING,
    min=0,
    max=65535,
)
_STUCK_AFTER = setting(
    "--stuck-after",
    "Seconds for which the main loop may not come round before /healthz fails.",
    _LISTENING,
    min=1.0,
)
_CONCURRENCY = setting("--concurrency", "Evictions at a time.", _ACTING, min=1, max=1000)
_CLOCK_SKEW_LIMIT = setting(
    "--clock-skew-limit",
    "Seconds by which this machine's clock may be wrong, by the API server's, before /readyz "
    "fails.",
    min=1.0,
)
_DRY_RUN = setting(
    "--dry-run",
    "Have the API server check every write (dryRun=All) and keep none: no pod is evicted.",
    _ACTING,
)
_SHADOW = setting(
    "--shadow",
    "Decide, write nothing, and compare with what kube-controller-manager does.",
    _ACTING,
)
_AUDIT_LOG = setting(
    "--audit-log",
    "Append a JSON line for each eviction, with its trace, to this file; -: standard output.",
    _ACTING,
)
_POLICIES = setting(
    "--policies",
    "File of policies, looked at again every few seconds; default: all policies are off.",
    _ACTING,
)
_POLICIES_OF_UP = setting(
    "--policies",
    "File of policies of the worker, which its admission hooks go by, too; looked at again every "
    "few seconds. Default: all policies are off.",
    _ACTING,
)
_CLUSTER_PORT = setting(
    "--cluster-port", "Port of the demo cluster; 0: any free.", _LISTENING, min=0, max=65535
)
_WRITE_KUBECONFIG = setting(
    "--write-kubeconfig",
    "Where to write the demo cluster's kubeconfig; default: bailiff/demo.kubeconfig in "
    "$XDG_CACHE_HOME or ~/.cache.",
)
_FLEET = setting(
    "--fleet",
    "File with the objects to begin with, as kubectl prints them; default: the README's.",
)
# Set by `up` on its children: they end when it does, however it ends.
_PRESSURE_LOOK_UPS = setting(
    "--pressure-look-ups",
    "Answers about live pods and nodes take into account what the node's kubelet measures, read "
    "by way of the API server. That takes the right nodes/proxy, by which one may run commands in "
    "every container.",
)
_NODE_LOSS_LOOK_UPS = setting(
    "--node-loss-look-ups",
    "Answers about live pods and nodes tell what becomes of a node that does not come back. That "
    "takes the rights to read Leases in kube-node-lease, DaemonSets and PersistentVolumeClaims.",
)
_LIFELINE = typer.Option("--lifeline", hidden=True, help="Stop when standard input closes.")


def up(
    host: Annotated[str, _HOST] = "127.0.0.1",
    rest_port: Annotated[int, _REST_PORT] = 8080,
    grpc_port: Annotated[int, _GRPC_PORT] = 9090,
    status_port: Annotated[int, _STATUS_PORT] = 8081,
    cluster_port: Annotated[int, _CLUSTER_PORT] = 6480,
    write_kubeconfig: Annotated[Path | None, _WRITE_KUBECONFIG] = None,
    policies: Annotated[Path | None, _POLICIES_OF_UP] = None,
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
    with told():
        if not is_only_here(host):
            raise InputError(f"--host {host}: the demo is for this machine alone: 127.0.0.1")
    if policies is not None:
        _check_policies(policies)
    ports = (rest_port, grpc_port, status_port, cluster_port)
    settings = demo.UpSettings(host, *ports, write_kubeconfig, policies, fleet)
    try:
        program = demo.up(settings)
    except StartError as error:
        fail(str(error), ExitCode.USAGE)
    run(program)


def _check_policies(path: Path) -> None:
    """Refuse what the worker would refuse, before there is a cluster and a worker."""
    from bailiff.policy_file import interpret, see  # noqa: PLC0415 - only where it is needed

    found = interpret(see(path))
    if isinstance(found, str):
        fail(f"--policies: {path}: {found}", ExitCode.USAGE)


@tracing
@hooking
@guarded
@deciding
def serve(
    options: Options,
    access: AccessChoice,
    admission_choice: AdmissionChoice | None,
    traces: TracingSettings,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    rest_port: Annotated[int, _REST_PORT] = 8080,
    grpc_port: Annotated[int, _GRPC_PORT] = 9090,
    health_port: Annotated[int, _HEALTH_PORT] = API_HEALTH_PORT,
    stuck_after: Annotated[float, _STUCK_AFTER] = STUCK_AFTER,
    pressure_look_ups: Annotated[bool, _PRESSURE_LOOK_UPS] = False,
    node_loss_look_ups: Annotated[bool, _NODE_LOSS_LOOK_UPS] = False,
    lifeline: Annotated[bool, _LIFELINE] = False,
) -> None:
    """Serve the decision API over REST and gRPC. Reads a cluster only if told which."""
    with told():
        chosen = choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=False)
        check_cluster(access, chosen)
        check_listening(host, access)
        check_look_ups(chosen, pressure=pressure_look_ups, node_loss=node_loss_look_ups)
        check_hooks(admission_choice, access, chosen)
    # Imported here, so that no command waits for what another one needs.
    from msgspec.structs import replace  # noqa: PLC0415

    from bailiff.bootstrap import serve as program  # noqa: PLC0415
    from bailiff.bootstrap.guarding import TokensUnusableError  # noqa: PLC0415
    from bailiff.face_settings import SettingsError  # noqa: PLC0415
    from bailiff.serving import TlsUnusableError  # noqa: PLC0415

    settings = program.ServeSettings(
        cluster=chosen,
        host=host,
        rest_port=rest_port,
        grpc_port=grpc_port,
        probes=ProbeChoice(health_port, stuck_after),
        options=replace(options, node_loss=node_loss_look_ups),
        access=access,
        asks_kubelets=pressure_look_ups,
        admission=admission_choice,
        tracing=traces,
    )
    try:
        served = program.serve(settings)
    except (SettingsError, TlsUnusableError, TokensUnusableError) as error:
        fail(str(error), ExitCode.USAGE)
    run(served, lifeline=lifeline)


@tracing
@losing
@pressing
@guarded
@deciding
def worker(
    options: Options,
    access: AccessChoice,
    pressure_mode: PressureChoice | None,
    node_loss_mode: NodeLossChoice | None,
    traces: TracingSettings,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    host: Annotated[str, _HOST] = "127.0.0.1",
    status_port: Annotated[int, _STATUS_PORT] = 8081,
    health_port: Annotated[int, _HEALTH_PORT] = WORKER_HEALTH_PORT,
    stuck_after: Annotated[float, _STUCK_AFTER] = STUCK_AFTER,
    concurrency: Annotated[int, _CONCURRENCY] = 20,
    clock_skew_limit: Annotated[float, _CLOCK_SKEW_LIMIT] = CLOCK_SKEW_LIMIT,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    shadow: Annotated[bool, _SHADOW] = False,
    audit_log: Annotated[Path | None, _AUDIT_LOG] = None,
    policies: Annotated[Path | None, _POLICIES] = None,
    shards: Annotated[int, election_options.SHARDS] = 1,
    shard: Annotated[int | None, election_options.SHARD] = None,
    leader_elect: Annotated[bool | None, election_options.LEADER_ELECT] = None,
    lease_namespace: Annotated[str | None, election_options.LEASE_NAMESPACE] = None,
    lease_name: Annotated[str, election_options.LEASE_NAME] = election_options.DEFAULT_NAME,
    identity: Annotated[str | None, election_options.IDENTITY] = None,
    lease_duration: Annotated[int, election_options.LEASE_DURATION] = 15,
    renew_deadline: Annotated[float, election_options.RENEW_DEADLINE] = 10.0,
    retry_period: Annotated[float, election_options.RETRY_PERIOD] = 2.0,
    longest_lease: Annotated[float, election_options.LONGEST_LEASE] = 3600.0,
    lifeline: Annotated[bool, _LIFELINE] = False,
) -> None:
    """Watch a cluster and evict pods when their time has come."""
    with told():
        chosen = choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=True)
        check_listening(host, access)
        elects = in_cluster if leader_elect is None else leader_elect
        shares = election_options.choose_shards(shards, shard, elects=elects, shadow=shadow)
        times = (lease_duration, renew_deadline, retry_period, longest_lease)
        lease = election_options.choose_lease(lease_namespace, lease_name, identity, *times)
    from bailiff.bootstrap import settings as bootstrap  # noqa: PLC0415 - as in `serve`
    from bailiff.bootstrap import work as program  # noqa: PLC0415
    from bailiff.bootstrap.guarding import TokensUnusableError  # noqa: PLC0415
    from bailiff.bootstrap.node_loss import NodeLossUnusableError  # noqa: PLC0415
    from bailiff.bootstrap.pressure import PressureUnusableError  # noqa: PLC0415
    from bailiff.face_settings import SettingsError  # noqa: PLC0415
    from bailiff.policy_file import PoliciesUnusableError  # noqa: PLC0415
    from bailiff.serving import TlsUnusableError  # noqa: PLC0415

    settings = bootstrap.WorkSettings(
        cluster=chosen,
        host=host,
        status_port=status_port,
        probes=ProbeChoice(health_port, stuck_after),
        shards=shares,
        lease=lease if elects else None,
        concurrency=concurrency,
        clock_skew_limit=clock_skew_limit,
        dry_run=dry_run,
        shadow=shadow,
        audit_log=audit_log,
        policies=policies,
        options=options,
        access=access,
        pressure=pressure_mode,
        node_loss=node_loss_mode,
        tracing=traces,
    )
    try:
        work = program.work(settings)
    except PoliciesUnusableError as error:
        fail(f"--policies: {error}", ExitCode.USAGE)
    except (
        *(PressureUnusableError, NodeLossUnusableError),
        *(SettingsError, TlsUnusableError, TokensUnusableError),
    ) as error:
        fail(str(error), ExitCode.USAGE)
    run(work, lifeline=lifeline)
