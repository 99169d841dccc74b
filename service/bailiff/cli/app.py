"""The command `bailiff`: its commands, and its version."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

import bailiff
from bailiff.cli import (
    agent,
    built_in,
    certificates,
    explain,
    leases,
    pausing,
    policies,
    preview,
    processes,
)
from bailiff.cli.errors import Commands, ExitCode, fail
from bailiff.cli.help import Command
from bailiff.cli.options import ENVIRONMENT
from bailiff.cli.output import OUTPUT, Output, pretty

_ASKING = "Ask"
_RUNNING = "Run"
_STEERING = "Steer"

app = typer.Typer(
    name="bailiff",
    cls=Commands,
    help="The eviction decision service for Kubernetes: should this pod be evicted, and when?",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 cluster not reachable; "
    "of explain --exit-code besides 10 evict later, 11 evict now.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

app.command(cls=Command, rich_help_panel=_ASKING, context_settings=explain.SETTINGS)(
    explain.explain
)
app.add_typer(preview.app, name="preview", rich_help_panel=_ASKING)
app.command(cls=Command, rich_help_panel=_ASKING)(built_in.taints)
app.command(cls=Command, rich_help_panel=_RUNNING, epilog=ENVIRONMENT)(processes.serve)
app.command(cls=Command, rich_help_panel=_RUNNING, epilog=ENVIRONMENT)(processes.worker)
app.command(cls=Command, rich_help_panel=_RUNNING, epilog=ENVIRONMENT)(agent.agent)
app.command(cls=Command, rich_help_panel=_RUNNING, epilog=ENVIRONMENT)(processes.up)
app.command(cls=Command, rich_help_panel=_STEERING)(pausing.pause)
app.command(cls=Command, rich_help_panel=_STEERING)(pausing.resume)
app.command(cls=Command, rich_help_panel=_STEERING)(pausing.paused)
app.add_typer(policies.app, name="policies", rich_help_panel=_STEERING)
app.add_typer(leases.app, name="leases", rich_help_panel=_STEERING)
app.add_typer(certificates.app, name="certificates", rich_help_panel=_STEERING)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bailiff {bailiff.__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Tell the version, and exit."
        ),
    ] = False,
) -> None:
    """The eviction decision service for Kubernetes: should this pod be evicted, and when?"""


@app.command(cls=Command, rich_help_panel=_STEERING)
def version(output: Annotated[Output, OUTPUT] = Output.TEXT) -> None:
    """Tell the versions of Bailiff, Python and the platform."""
    facts = {
        "bailiff": bailiff.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    if output is Output.JSON:
        typer.echo(pretty(facts))
    else:
        typer.echo("\n".join(f"{name} {value}" for name, value in facts.items()))


def main() -> None:
    """Run the command; the entry point of the distribution."""
    try:
        app()
    except OSError as error:
        # Such as a full disk behind the standard output.
        fail(error.strerror or str(error), ExitCode.FAILED)
