"""The command `bailiff`: its commands, and its version."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

import bailiff
from bailiff.cli import pausing, policies, processes
from bailiff.cli.explain import explain
from bailiff.cli.output import OUTPUT, Output, pretty

app = typer.Typer(
    name="bailiff",
    help="The eviction decision service for Kubernetes: should this pod be evicted, and when?",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or input, 3 cluster not reachable; "
    "of explain --exit-code besides 10 evict later, 11 evict now.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(processes.up)
app.command()(processes.serve)
app.command()(processes.worker)
app.command()(explain)
app.add_typer(policies.app, name="policies")
app.command()(pausing.pause)
app.command()(pausing.resume)
app.command()(pausing.paused)


@app.command()
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
    app()
