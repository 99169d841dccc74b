"""`bailiff preview`: its options; `previewing` answers."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.cli.decision_options import deciding
from bailiff.cli.errors import told
from bailiff.cli.help import Command
from bailiff.cli.options import CONTEXT, FILES, IN_CLUSTER, KUBECONFIG, NOW, usual_cluster
from bailiff.cli.output import LINES, Lines

if TYPE_CHECKING:
    from bailiff.decisions import Options

app = typer.Typer(
    help="What a taint or a rule would do: which pods go, now or when, and why. Changes nothing. "
    "Policies of a worker, and a pause, are not looked at.",
    no_args_is_help=True,
)


@app.command(cls=Command)
@deciding
def taint(
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The node's name.")],
    taints: Annotated[
        list[str],
        typer.Argument(
            metavar="TAINT...",
            help="As kubectl takes them: KEY=VALUE:EFFECT or KEY:EFFECT to add, "
            "with a - behind it to remove.",
        ),
    ],
    options: Options,
    files: Annotated[list[Path] | None, FILES] = None,
    now: Annotated[str | None, NOW] = None,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    output: Annotated[Lines, LINES] = Lines.TABLE,
) -> None:
    """What would adding or removing taints of a node do? Looks at the taints of the node alone."""
    from bailiff.cli import previewing  # noqa: PLC0415 - loads the core, which help needs not

    with told():
        asking = previewing.asking_of(options, now, ctx.find_root().obj)
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        previewing.taint(asking, node, taints, files, chosen, output)


@app.command(cls=Command)
@deciding
def rule(
    ctx: typer.Context,
    rule_file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The DeviceTaintRule; - reads standard input.")
    ],
    options: Options,
    files: Annotated[list[Path] | None, FILES] = None,
    now: Annotated[str | None, NOW] = None,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
    output: Annotated[Lines, LINES] = Lines.TABLE,
) -> None:
    """What would a DeviceTaintRule do, whatever its effect is now?"""
    from bailiff.cli import previewing  # noqa: PLC0415 - as above

    with told():
        asking = previewing.asking_of(options, now, ctx.find_root().obj)
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        previewing.rule(asking, rule_file, files, chosen, output)
