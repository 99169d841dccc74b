"""`bailiff agent`: reads the options, and puts a process of its own in its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

from bailiff.cli import agent_options as options
from bailiff.cli.errors import ExitCode, InputError, fail, told
from bailiff.cli.options import CONTEXT, IN_CLUSTER, KUBECONFIG, choose_cluster
from bailiff.cli.tracing_options import tracing

if TYPE_CHECKING:
    from bailiff.agent.settings import AgentSettings
    from bailiff.tracing.settings import TracingSettings

_PROGRAM = "bailiff.bootstrap.agent"


@tracing
def agent(
    traces: TracingSettings,
    node: Annotated[str, options.NODE],
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    kubelet: Annotated[str | None, options.KUBELET] = None,
    kubelet_pods: Annotated[bool, options.KUBELET_PODS] = False,
    own_readings: Annotated[bool, options.OWN_READINGS] = True,
    kubelet_certificate_authority: Annotated[Path | None, options.CA_FILE] = None,
    kubelet_server_name: Annotated[str, options.SERVER_NAME] = "",
    kubelet_insecure_tls: Annotated[bool, options.INSECURE] = False,
    kubelet_token_file: Annotated[Path | None, options.TOKEN_FILE] = None,
    kubelet_client_certificate: Annotated[Path | None, options.CERTIFICATE] = None,
    kubelet_client_key: Annotated[Path | None, options.KEY] = None,
    host_root: Annotated[str, options.HOST_ROOT] = "",
    active_page_cache: Annotated[bool | None, options.ACTIVE_PAGE_CACHE] = None,
    cgroup: Annotated[str, options.CGROUP] = "",
    kubelet_dir: Annotated[str, options.KUBELET_DIR] = "/var/lib/kubelet",
    pod_logs_dir: Annotated[str, options.POD_LOGS_DIR] = "/var/log/pods",
    image_dir: Annotated[str, options.IMAGE_DIR] = "",
    container_dir: Annotated[str, options.CONTAINER_DIR] = "",
    pressure_config: Annotated[Path | None, options.CONFIG] = None,
    pressure_extensions: Annotated[Path | None, options.EXTENSIONS] = None,
    pressure_interval: Annotated[float, options.INTERVAL] = 10.0,
    pressure_stale_after: Annotated[float, options.STALE_AFTER] = 120.0,
    pressure_layout: Annotated[str, options.LAYOUT] = "",
    notices: Annotated[bool, options.NOTICES] = True,
    stall_milliseconds: Annotated[int, options.STALL] = 150,
    memory_high_mark: Annotated[bool, options.MEMORY_HIGH] = False,
    runtime: Annotated[str, options.RUNTIME] = "",
    stop_containers: Annotated[bool, options.STOP_CONTAINERS] = False,
    state_file: Annotated[str, options.STATE_FILE] = "",
    pressure_conditions: Annotated[bool, options.CONDITIONS] = False,
    pressure_keep_pods: Annotated[bool, options.KEEP_PODS] = False,
    dry_run: Annotated[bool, options.DRY_RUN] = False,
    shadow: Annotated[bool, options.SHADOW] = False,
    host: Annotated[str, options.STATUS_HOST] = "127.0.0.1",
    status_port: Annotated[int, options.STATUS_PORT] = 8084,
) -> None:
    """Evict pods of this node as its kubelet would: seen at once, space freed first."""
    # Imported here, so that no command waits for what another one needs.
    from bailiff.agent.readings.places import Places  # noqa: PLC0415
    from bailiff.agent.settings import (  # noqa: PLC0415
        AgentSettings,
        ClusterAccess,
        NoticeSettings,
    )
    from bailiff.bootstrap.agent_files import (  # noqa: PLC0415
        configuration_of,
        extensions_of,
        kubelet_access,
        layout_called,
    )

    with told():
        chosen = choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=False)
        _check(shadow and dry_run, "--shadow and --dry-run exclude each other")
        _check(stop_containers and not runtime, "--stop-containers needs --runtime")
        _check(
            not chosen.chosen and not (kubelet and kubelet_pods),
            "say which cluster: --kubeconfig FILE or --in-cluster; without one --kubelet and "
            "--kubelet-pods tell which pods there are",
        )
        _check(
            not chosen.chosen and not stop_containers and not shadow,
            "nobody can be evicted without a cluster: --stop-containers, or --shadow",
        )
    try:
        settings = AgentSettings(
            node=node,
            cluster=ClusterAccess(
                in_cluster=in_cluster,
                kubeconfig="" if kubeconfig is None else str(kubeconfig.absolute()),
                context=context or "",
            ),
            kubelet=kubelet_access(
                kubelet,
                ca_file=kubelet_certificate_authority,
                server_name=kubelet_server_name,
                insecure=kubelet_insecure_tls,
                token_file=kubelet_token_file,
                certificate_file=kubelet_client_certificate,
                key_file=kubelet_client_key,
            ),
            own_readings=own_readings,
            active_page_cache=active_page_cache,
            host=Places(
                root=host_root.rstrip("/"),
                cgroup=cgroup,
                kubelet_dir=kubelet_dir,
                pod_logs_dir=pod_logs_dir,
                image_dir=image_dir,
                container_dir=container_dir,
            ),
            pods_from_kubelet=kubelet_pods,
            configuration=configuration_of("--pressure-config", pressure_config),
            extensions=extensions_of("--pressure-extensions", pressure_extensions),
            layout=layout_called("--pressure-layout", pressure_layout),
            interval=pressure_interval,
            stale_after=pressure_stale_after,
            notices=NoticeSettings(
                wanted=notices, stall_milliseconds=stall_milliseconds, high_mark=memory_high_mark
            ),
            runtime=runtime,
            stops_containers=stop_containers,
            state_file=state_file,
            publishes=pressure_conditions,
            keeps_pods=pressure_keep_pods,
            dry_run=dry_run,
            shadow=shadow,
            status_host=host,
            status_port=status_port,
            tracing=traces,
        )
    except ValueError as error:
        fail(str(error), ExitCode.USAGE)
    _become(settings)


def _check(wrong: bool, why: str) -> None:
    if wrong:
        raise InputError(why)


def _become(settings: AgentSettings) -> None:
    """A process that has loaded what an agent needs, and nothing else, in place of this one."""
    import msgspec  # noqa: PLC0415 - as above

    sys.stdout.flush()
    sys.stderr.flush()
    try:
        said = msgspec.json.encode(settings).decode()
    except UnicodeEncodeError as error:
        fail(f"a path is no UTF-8: {error}", ExitCode.USAGE)
    # One heap for all threads: glibc gives each its own, and little of it back. Nor is it to keep
    # 128 KiB in hand twice over, for what may come: together 0.4 MiB of the 40 that there are.
    heap = {
        "MALLOC_ARENA_MAX": "1",
        "MALLOC_TOP_PAD_": "0",
        "MALLOC_TRIM_THRESHOLD_": "16384",
    }
    environment = heap | os.environ
    # Variables such as PYTHONPATH add no code to it either, if they add none to this process.
    isolated = ["-I"] if sys.flags.isolated else []
    command = [sys.executable, *isolated, "-m", _PROGRAM, said]
    os.execve(sys.executable, command, environment)  # noqa: S606 - our own program
