"""`bailiff explain`: its options; `explaining` answers."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import TYPE_CHECKING, Annotated

import typer

from bailiff.cli.decision_options import deciding
from bailiff.cli.errors import told
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
    from bailiff.decisions import Options

_TARGET = typer.Argument(
    help="The object, as pod/web or node/node-a; of a node, its pods.",
    metavar="TYPE/NAME",
    show_default=False,
)
# What is said of further words is ours to say: kubectl takes pod NAME.
SETTINGS = {"allow_extra_args": True}
_EXIT_CODE = typer.Option(
    "--exit-code",
    help="Exit 0 for keep, 10 for evict at, 11 for evict now; of several pods the worst counts.",
)


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
    output: Annotated[Format | None, FORMAT] = None,
    exit_code: Annotated[bool, _EXIT_CODE] = False,
) -> None:
    """Tell whether pods would be evicted, when, and why: those of a cluster, or of files."""
    from bailiff.cli import explaining  # noqa: PLC0415 - loads the core, which help needs not

    with told():
        words = [word for word in (target, *ctx.args) if word is not None]
        asked = explaining.ExplainArguments(words, files, namespace, now, bound_at)
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        answer = explaining.explain(asked, chosen, options, output, ctx.find_root().obj)
    typer.echo(explaining.shown(answer, output))
    explaining.tell_reports(answer, output)
    if exit_code:
        raise typer.Exit(explaining.exit_code_of(answer))
