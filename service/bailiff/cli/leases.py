"""`bailiff leases create`: the Leases by which workers agree who acts."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations of commands
from typing import Annotated

import typer

from bailiff.cli import election_options
from bailiff.cli.errors import told
from bailiff.cli.help import Command
from bailiff.cli.options import CONTEXT, IN_CLUSTER, KUBECONFIG, usual_cluster

app = typer.Typer(help="The Leases by which workers agree who acts for which nodes.")


@app.callback()
def leases() -> None:
    """The Leases by which workers agree who acts for which nodes."""


@app.command(cls=Command)
def create(
    shards: Annotated[int, election_options.SHARDS] = 1,
    lease_namespace: Annotated[str | None, election_options.LEASE_NAMESPACE] = None,
    lease_name: Annotated[str, election_options.LEASE_NAME] = election_options.DEFAULT_NAME,
    kubeconfig: Annotated[Path | None, KUBECONFIG] = None,
    context: Annotated[str | None, CONTEXT] = None,
    in_cluster: Annotated[bool, IN_CLUSTER] = False,
) -> None:
    """Make a Lease for each shard, held by nobody; one that there is stays as it is.

    Workers make none. The options are theirs, and have to be the same.
    """
    with told():
        chosen = usual_cluster(kubeconfig, context, in_cluster=in_cluster)
        election_options.check_name(lease_name)
        election_options.check_count(shards)
        # Imported here, so that no command waits for what another one needs.
        from bailiff.bootstrap.leases import create_leases  # noqa: PLC0415

        made = create_leases(chosen, lease_namespace, lease_name, shards)
    for name, is_new in made.items():
        typer.echo(f"Lease {name} {'created' if is_new else 'is there already'}")
