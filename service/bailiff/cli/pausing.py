"""`bailiff pause`, `resume` and `paused`: the ConfigMap that stops all evictions."""

from __future__ import annotations

import getpass
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bailiff.cli.errors import ExitCode, InputError, fail, told
from bailiff.cli.options import CONTEXT, IN_CLUSTER, KUBECONFIG, usual_cluster
from bailiff.cli.output import OUTPUT, Output, pretty, say

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.decisions.policies import PauseNotice
    from bailiff.worker import PauseSwitch

T = TypeVar("T")

_MAX_TEXT = 500
_LENGTH = re.compile(r"(?:(\d{1,3})d)?(?:(\d{1,4})h)?(?:(\d{1,5})m)?(?:(\d{1,7})s)?")
LONGEST = timedelta(days=365)

NAMESPACE = typer.Option(
    "--namespace",
    "-n",
    help="Namespace of the ConfigMap, as the policy pause.namespace says.",
    envvar="BAILIFF_PAUSE_NAMESPACE",
    show_default=False,
)
NAME = typer.Option(
    "--name", help="Name of the ConfigMap, as pause.name says.", envvar="BAILIFF_PAUSE_NAME"
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
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
) -> None:
    """Stop all evictions of the workers whose policies name this ConfigMap."""
    from bailiff.worker import PausedAlreadyError  # noqa: PLC0415 - loads a client of clusters

    with told():
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        notice = _notice(reason, by, duration)
        try:
            _switch(chosen, namespace, name, lambda to: to.pause(notice, replace=replace))
        except PausedAlreadyError as error:
            fail(f"{error}; --replace takes its place", ExitCode.FAILED)
    typer.echo(notice.describe())
    say(_who_obeys(namespace, name))


def resume(
    namespace: Annotated[str, NAMESPACE],
    name: Annotated[str, NAME] = _DEFAULT_NAME,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
) -> None:
    """Let evictions go on; those that fell due meanwhile begin at once."""
    with told():
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        ended, place = _switch(chosen, namespace, name, _with_place(lambda to: to.resume()))
    typer.echo(f"resumed; was {ended.describe()}" if ended else "was not paused")
    say(f"looked at: {place}")


def paused(
    namespace: Annotated[str, NAMESPACE],
    name: Annotated[str, NAME] = _DEFAULT_NAME,
    output: Annotated[Output, OUTPUT] = Output.TEXT,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
) -> None:
    """Tell whether evictions are paused, by whom and why."""
    with told():
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        found, place = _switch(chosen, namespace, name, _with_place(lambda to: to.read()))
    if output is Output.JSON:
        import msgspec  # noqa: PLC0415 - here and below: only where it is needed

        facts = msgspec.to_builtins(found) if found else {}
        typer.echo(pretty({"paused": found is not None} | facts))
    else:
        typer.echo(found.describe() if found else "not paused")
        if found:
            say(_who_obeys(namespace, name))
    say(f"looked at: {place}")


def _who_obeys(namespace: str, name: str) -> str:
    """That a pause stops nobody by itself.

    Whether any policies name it stands in no object that these commands could read.
    """
    return (
        f"workers and the gate obey it only if their policies name {namespace}/{name}: "
        "see GET /v1/policies of each worker"
    )


def _with_place(
    act: Callable[[PauseSwitch], Awaitable[T]],
) -> Callable[[PauseSwitch], Awaitable[tuple[T, str]]]:
    """The same, and which ConfigMap it was about: a misspelt name is not paused either."""

    async def both(switch: PauseSwitch) -> tuple[T, str]:
        return await act(switch), await switch.where()

    return both


def _switch(
    chosen: ClusterChoice, namespace: str, name: str, act: Callable[[PauseSwitch], Awaitable[T]]
) -> T:
    import msgspec  # noqa: PLC0415 - as above

    from bailiff.bootstrap import pausing as bootstrap  # noqa: PLC0415
    from bailiff.decisions.policies import Pause  # noqa: PLC0415

    try:
        place = msgspec.convert({"namespace": namespace, "name": name}, Pause)
    except msgspec.ValidationError as error:
        raise InputError(f"--namespace, --name: {error}") from error
    return bootstrap.use_switch(chosen, place, act)


def _notice(reason: str, by: str | None, duration: str | None) -> PauseNotice:
    from bailiff.decisions.policies import PauseNotice  # noqa: PLC0415 - as above

    now = datetime.now(UTC).replace(microsecond=0)
    said = {"--reason": reason, "--by": _login_name() if by is None else by}
    for option, text in said.items():
        if not text.strip() or len(text) > _MAX_TEXT:
            raise InputError(f"{option}: expected 1 to {_MAX_TEXT} characters")
    try:
        until = now + parse_duration(duration) if duration is not None else None
    except ValueError as error:
        raise InputError(f"--for: {error}") from error
    return PauseNotice(by=said["--by"], reason=reason, since=now, until=until)


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise InputError("--by: this user has no name, say who pauses") from None


def parse_duration(text: str) -> timedelta:
    """A length of time as people write it: 90s, 45m, 2h, 1h30m, 3d.

    Raises:
        ValueError: it is none, or not above 0 and at most a year.
    """
    found = _LENGTH.fullmatch(text)
    if found is None or not text:
        raise ValueError(f"expected a length of time as 45m, 2h or 1h30m, got {text!r}")
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    length = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    if not timedelta() < length <= LONGEST:
        raise ValueError(f"expected more than 0 and at most 365d, got {text!r}")
    return length
