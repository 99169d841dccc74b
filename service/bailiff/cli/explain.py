"""`bailiff explain`: its options; `explaining` answers."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiff.cli.decision_options import deciding
from bailiff.cli.errors import ExitCode, InputError, told
from bailiff.cli.options import (
    BOUND_AT,
    CONTEXT,
    FILES,
    IN_CLUSTER,
    KUBECONFIG,
    NAMESPACE,
    NOW,
    usual_cluster,
)
from bailiff.cli.output import FORMAT, Format

if TYPE_CHECKING:
    from bailiff.bootstrap.choices import ClusterChoice
    from bailiff.decisions import Options

_TARGET = typer.Argument(
    help="The object, as pod/web or node/node-a; of a node, its pods. pressure: who would go from "
    "a node that runs out of memory, disk or processes.",
    metavar="TYPE/NAME",
    show_default=False,
)
# What is said of further words is ours to say: kubectl takes pod NAME.
SETTINGS = {"allow_extra_args": True}
_SUMMARY = typer.Option(
    "--summary",
    help="For pressure: what the node's kubelet answers to GET /stats/summary; - reads standard "
    "input.",
    metavar="FILE",
    show_default=False,
)
_PODS = typer.Option(
    "--pods",
    help="For pressure: the pods of the node, as kubectl get pods -o yaml prints them, and the "
    "node itself, where its kubelet's version counts.",
    metavar="FILE",
    show_default=False,
)
_CONFIG = typer.Option(
    "--config",
    help="For pressure: the KubeletConfiguration, or what the kubelet answers to GET /configz. "
    "Default: the kubelet's defaults.",
    metavar="FILE",
    show_default=False,
)
_EXTENSIONS = typer.Option(
    "--extensions",
    help="For pressure: settings that no kubelet has, see docs/pressure/extensions.md.",
    metavar="FILE",
    show_default=False,
)
_STATE = typer.Option(
    "--state",
    help="For pressure: what the last round has left (-o json), so that grace periods go on; or a "
    "worker's, from the node's annotation bailiff.dev/pressure-state.",
    metavar="FILE",
    show_default=False,
)
_SIGNAL = typer.Option(
    "--signal",
    help="For pressure: rank for this signal, as memory.available, whether it is low or not.",
    metavar="SIGNAL",
    show_default=False,
)
_PRESSURE = typer.Option(
    "--pressure",
    help="For a node: who would go if it ran out of memory, disk or processes, by what its kubelet "
    "measures now; takes the right nodes/proxy.",
)
_NODE_LOSS = typer.Option(
    "--node-loss",
    help="For a node or pod of a cluster: what becomes of it if the node does not come back, by "
    "its Lease and Ready condition.",
)
_EXIT_CODE = typer.Option(
    "--exit-code",
    help="Exit 0 for keep, 10 for evict at, 11 for evict now; of several pods the worst counts. Of "
    "pressure: 11 where anybody goes in this round.",
)


# The word that stands in place of an object.
PRESSURE = "pressure"
_OF_PRESSURE = ("--summary", "--pods", "--config", "--extensions", "--state", "--signal")


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
    summary: Annotated[Path | None, _SUMMARY] = None,
    pods: Annotated[list[Path] | None, _PODS] = None,
    config: Annotated[Path | None, _CONFIG] = None,
    extensions: Annotated[Path | None, _EXTENSIONS] = None,
    state: Annotated[Path | None, _STATE] = None,
    signal: Annotated[str | None, _SIGNAL] = None,
    pressure: Annotated[bool, _PRESSURE] = False,
    node_loss: Annotated[bool, _NODE_LOSS] = False,
    output: Annotated[Format | None, FORMAT] = None,
    exit_code: Annotated[bool, _EXIT_CODE] = False,
) -> None:
    """Tell whether pods would be evicted, when, and why: those of a cluster, or of files."""
    said = (summary, config, extensions, pods or files, state, signal, now)
    words = [word for word in (target, *ctx.args) if word is not None]
    if words == [PRESSURE] or pressure:
        live = None
        if words != [PRESSURE]:
            with told():
                live = words, usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        goes = _explain_pressure(said, options, output, ctx.find_root().obj, live)
        if exit_code and goes:
            raise typer.Exit(ExitCode.EVICT_NOW)
        return
    from msgspec.structs import replace  # noqa: PLC0415 - as below

    from bailiff.cli import explaining  # noqa: PLC0415 - loads the core, which help needs not

    if node_loss:
        options = replace(options, node_loss=True)
    with told():
        if node_loss and files:
            why = "files do not tell whether its kubelet lives"
            raise InputError(f"--node-loss is of a node or pod of a cluster: {why}")
        of_pressure = (summary, pods, config, extensions, state, signal)
        _refuse(dict(zip(_OF_PRESSURE, of_pressure, strict=True)))
        asked = explaining.ExplainArguments(words, files, namespace, now, bound_at)
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        answer = explaining.explain(asked, chosen, options, output, ctx.find_root().obj)
    typer.echo(explaining.shown(answer, output))
    explaining.tell_reports(answer, output)
    if exit_code:
        raise typer.Exit(explaining.exit_code_of(answer))


def _refuse(of_pressure: dict[str, object]) -> None:
    """What is of pressure would change nothing about an answer of which pressure is no part."""
    for option, value in of_pressure.items():
        if value:
            raise InputError(f"{option} is of pressure: add --pressure, or explain pressure")


def _explain_pressure(
    said: tuple[Any, ...],
    options: Options,
    output: Format | None,
    systems: object,
    live: tuple[list[str], ClusterChoice] | None = None,
) -> bool:
    """Print the answer; whether somebody goes."""
    from bailiff.cli import pressure  # noqa: PLC0415 - as above

    with told():
        asked = pressure.PressureArguments(*said)
        if live is None:
            answer = pressure.explain_pressure(asked, options, output, systems)
        else:
            answer = pressure.explain_node(*live, asked, options, output, systems)
    typer.echo(answer.text)
    return answer.goes
