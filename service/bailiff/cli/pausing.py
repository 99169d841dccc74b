"""`bailiff pause`, `resume` and `paused`: the ConfigMap that stops all evictions."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
import typer

from bailiff import bootstrap
from bailiff.cli import cluster_options
from bailiff.cli.durations import parse_duration
from bailiff.cli.errors import fail
from bailiff.cli.exit_codes import ExitCode
from bailiff.cli.output import OUTPUT, Output, pretty
from bailiff.decisions.policies import Pause, PauseNotice
from bailiff.worker import PausedAlreadyError, PauseSwitch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

_MAX_TEXT = 500

NAMESPACE = typer.Option(
    "--namespace",
    "-n",
    help="Of the ConfigMap, as the policy pause.namespace says.",
    envvar="BAILIFF_PAUSE_NAMESPACE",
    show_default=False,
)
NAME = typer.Option(
    "--name", help="Of the ConfigMap, as pause.name says.", envvar="BAILIFF_PAUSE_NAME"
)
_DEFAULT_NAME = "bailiff-pause"


def pause(
    namespace: Annotated[str, NAMESPACE],
    reason: Annotated[str, typer.Option(help="Why; workers, metrics and colleagues are told.")],
    name: Annotated[str, NAME] = _DEFAULT_NAME,
    by: Annotated[str | None, typer.Option(help="Who; default: the login name.")] = None,
    duration: Annotated[
        str | None,
        typer.Option("--for", help="Resume by itself after so long, as 45m or 2h; default: never."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of a pause that is in force.")
    ] = False,
    kubeconfig: Annotated[Path | None, cluster_options.KUBECONFIG] = None,
    context: Annotated[str | None, cluster_options.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster_options.IN_CLUSTER] = False,
) -> None:
    """Stop all evictions of the workers whose policies name this ConfigMap."""
    chosen = cluster_options.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=True)
    notice = _notice(reason, by, duration)
    try:
        _switch(chosen, namespace, name, lambda to: to.pause(notice, replace=replace))
    except PausedAlreadyError as error:
        fail(f"{error}; --replace takes its place", ExitCode.FAILED)
    typer.echo(notice.describe())
    # Whether any worker's policies name it stands in no object that this command could read.
    typer.echo(
        f"workers obey it only if their policies name {namespace}/{name}: "
        "see GET /v1/policies of each",
        err=True,
    )


def resume(
    namespace: Annotated[str, NAMESPACE],
    name: Annotated[str, NAME] = _DEFAULT_NAME,
    kubeconfig: Annotated[Path | None, cluster_options.KUBECONFIG] = None,
    context: Annotated[str | None, cluster_options.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster_options.IN_CLUSTER] = False,
) -> None:
    """Let evictions go on; those that fell due meanwhile begin at once."""
    chosen = cluster_options.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=True)
    ended = _switch(chosen, namespace, name, PauseSwitch.resume)
    typer.echo(f"resumed; was {ended.describe()}" if ended else "was not paused")


def paused(
    namespace: Annotated[str, NAMESPACE],
    name: Annotated[str, NAME] = _DEFAULT_NAME,
    output: Annotated[Output, OUTPUT] = Output.TEXT,
    kubeconfig: Annotated[Path | None, cluster_options.KUBECONFIG] = None,
    context: Annotated[str | None, cluster_options.CONTEXT] = None,
    in_cluster: Annotated[bool, cluster_options.IN_CLUSTER] = False,
) -> None:
    """Tell whether evictions are paused, by whom and why."""
    chosen = cluster_options.choose_cluster(kubeconfig, context, in_cluster=in_cluster, needed=True)
    found = _switch(chosen, namespace, name, PauseSwitch.read)
    if output is Output.JSON:
        facts = msgspec.to_builtins(found) if found else {}
        typer.echo(pretty({"paused": found is not None} | facts))
    else:
        typer.echo(found.describe() if found else "not paused")


def _switch(
    chosen: bootstrap.ClusterChoice,
    namespace: str,
    name: str,
    act: Callable[[PauseSwitch], Awaitable[T]],
) -> T:
    try:
        place = msgspec.convert({"namespace": namespace, "name": name}, Pause)
    except msgspec.ValidationError as error:
        fail(f"--namespace, --name: {error}", ExitCode.USAGE)
    try:
        return bootstrap.use_switch(chosen, place, act)
    except bootstrap.ClusterUnusable as error:
        fail(str(error), ExitCode.UNREACHABLE)
    except bootstrap.StartError as error:
        fail(str(error), ExitCode.FAILED)


def _notice(reason: str, by: str | None, duration: str | None) -> PauseNotice:
    now = datetime.now(UTC).replace(microsecond=0)
    said = {"--reason": reason, "--by": _login_name() if by is None else by}
    for option, text in said.items():
        if not text.strip() or len(text) > _MAX_TEXT:
            fail(f"{option}: expected 1 to {_MAX_TEXT} characters", ExitCode.USAGE)
    try:
        until = now + parse_duration(duration) if duration is not None else None
    except ValueError as error:
        fail(f"--for: {error}", ExitCode.USAGE)
    return PauseNotice(by=said["--by"], reason=reason, since=now, until=until)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        fail("--by: this user has no name, say who pauses", ExitCode.USAGE)
