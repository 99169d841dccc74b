"""Options that several commands have: how one is declared, and which cluster is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from bailiff.bootstrap.choices import ClusterChoice
from bailiff.cli.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = "Options but --help may stand in the environment: --host is BAILIFF_HOST there."
# Headings of the options' groups in the help of commands.
CLUSTER = "Cluster"
DECISIONS = "How it decides"
OBJECTS = "Objects"


def setting(flag: str, text: str, panel: str | None = None, **more: Any) -> Any:  # noqa: ANN401 - as Typer's
    """An option that may as well stand in the environment: --host is BAILIFF_HOST there, too.

    Args:
        flag: as `--host`, or with its opposite `--elect/--no-elect`.
        text: the help.
        panel: the heading of its group in the help.
        more: further arguments of typer.Option.
    """
    name = flag.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return typer.Option(
        flag, help=text, envvar=f"BAILIFF_{name}", show_envvar=False, rich_help_panel=panel, **more
    )


KUBECONFIG = setting("--kubeconfig", "Use the cluster of this kubeconfig.", CLUSTER)
CONTEXT = setting("--context", "A context of the kubeconfig; default: its current one.", CLUSTER)
IN_CLUSTER = setting("--in-cluster", "Use the cluster this runs in.", CLUSTER)


def choose_cluster(
    kubeconfig: Path | None, context: str | None, *, in_cluster: bool, needed: bool
) -> ClusterChoice:
    """The cluster that the options name; a process of its own touches no other.

    Raises:
        InputError: they make no sense together, or name none where one is needed.
    """
    if context and not kubeconfig and not in_cluster:
        raise InputError("--context needs --kubeconfig")
    if needed and not kubeconfig and not in_cluster:
        raise InputError("say which cluster: --kubeconfig FILE or --in-cluster")
    return usual_cluster(kubeconfig, context, in_cluster=in_cluster)


def usual_cluster(
    kubeconfig: Path | None, context: str | None, *, in_cluster: bool
) -> ClusterChoice:
    """The cluster that the options name, or else the one that kubectl would ask.

    Raises:
        InputError: they make no sense together.
    """
    if in_cluster and kubeconfig:
        raise InputError("--kubeconfig and --in-cluster exclude each other")
    if in_cluster and context:
        raise InputError("--context and --in-cluster exclude each other")
    return ClusterChoice(kubeconfig, context, in_cluster)


FILES = typer.Option(
    "--filename",
    "-f",
    help="File with the objects, as kubectl prints them: YAML or JSON, lists, several documents; "
    "- reads standard input. May be given several times. No cluster is asked then.",
    rich_help_panel=OBJECTS,
)
NAMESPACE = typer.Option(
    "--namespace",
    "-n",
    help="Namespace of the pod, and of objects in files that name none. Default: kubectl's.",
    rich_help_panel=OBJECTS,
    show_default=False,
)
NOW = typer.Option(
    "--now",
    help="Decide for this instant, as 2026-01-31T12:00:00Z; default: now.",
    rich_help_panel=OBJECTS,
    show_default=False,
)
BOUND_AT = typer.Option(
    "--bound-at",
    help="When the pod was bound; default: as the pod tells.",
    rich_help_panel=OBJECTS,
    show_default=False,
)
