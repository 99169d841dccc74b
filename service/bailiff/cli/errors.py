"""How a command ends: what it says on standard error, and its exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from bailiff import bootstrap
from bailiff.cli.exit_codes import ExitCode


def run(program: bootstrap.Program, *, lifeline: bool = False) -> None:
    """Run a program to its end."""
    try:
        bootstrap.run(program, lifeline=lifeline)
    except bootstrap.ClusterUnusable as error:
        fail(str(error), ExitCode.UNREACHABLE)
    except bootstrap.StartError as error:
        fail(str(error), ExitCode.FAILED)


def fail(message: str, code: ExitCode) -> NoReturn:
    """Say why, and exit."""
    typer.echo(f"bailiff: {message}", err=True)
    sys.exit(code)
