"""Options that say which cluster; a real one is touched only if the user names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from bailiff import bootstrap
from bailiff.cli.errors import fail
from bailiff.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

KUBECONFIG = typer.Option(
    "--kubeconfig", help="Use the cluster of this kubeconfig.", envvar="BAILIFF_KUBECONFIG"
)
CONTEXT = typer.Option(
    "--context",
    help="A context of the kubeconfig; default: its current one.",
    envvar="BAILIFF_CONTEXT",
)
IN_CLUSTER = typer.Option(
    "--in-cluster", help="Use the cluster this runs in.", envvar="BAILIFF_IN_CLUSTER"
)


def choose_cluster(
    kubeconfig: Path | None, context: str | None, *, in_cluster: bool, needed: bool
) -> bootstrap.ClusterChoice:
    """The cluster that the options name; ends the process where they make no sense."""
    if kubeconfig and in_cluster:
        fail("--kubeconfig and --in-cluster exclude each other", ExitCode.USAGE)
    if context and not kubeconfig:
        fail("--context needs --kubeconfig", ExitCode.USAGE)
    if needed and not kubeconfig and not in_cluster:
        fail("say which cluster: --kubeconfig FILE or --in-cluster", ExitCode.USAGE)
    return bootstrap.ClusterChoice(kubeconfig, context, in_cluster)
