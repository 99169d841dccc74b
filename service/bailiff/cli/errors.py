"""How a command ends: what it says on standard error, and its exit code.

`bailiff --help` and docs/reference/exit-codes.md tell the exit codes, too.
"""

from __future__ import annotations

import contextlib
import sys
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from typer.core import TyperGroup

from bailiff.bootstrap.choices import ClusterUnusable, StartError
from bailiff.cli.output import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bailiff.bootstrap.choices import Program


_MOST_WARNINGS = 20


class ExitCode(IntEnum):
    """Exit codes of `bailiff`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    # Only with `explain --exit-code`.
    EVICT_AT = 10
    EVICT_NOW = 11


class InputError(Exception):
    """A file or an argument that cannot be used; the message says which and why."""


class Commands(TyperGroup):
    """Commands whose errors name the variable that a wrong value came from."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - of Typer's own, which it does not show
        """Run one.

        Raises:
            typer.BadParameter: an option has a wrong value.
        """
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            if error.ctx and error.param and _is_of_environment(error.ctx, error.param):
                error.param_hint = error.param.envvar
            raise


def _is_of_environment(ctx: Any, param: Any) -> bool:  # noqa: ANN401 - as above
    source = ctx.get_parameter_source(param.name)
    return source is not None and source.name == "ENVIRONMENT"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """Let what can be expected to go wrong end the process with one line and the right code."""
    try:
        yield
    except InputError as error:
        fail(str(error), ExitCode.USAGE)
    except ClusterUnusable as error:
        fail(str(error), ExitCode.UNREACHABLE)
    except StartError as error:
        fail(str(error), ExitCode.FAILED)


def run(program: Program, *, lifeline: bool = False) -> None:
    """Run a program to its end."""
    from bailiff.bootstrap import process  # noqa: PLC0415 - loads an event loop and logs

    with told():
        process.run(program, lifeline=lifeline)


def warn(message: str) -> None:
    """Say what may be meant otherwise, and go on."""
    typer.echo(f"Warning: {printable(message)}", err=True)


def warn_all(messages: Sequence[str]) -> None:
    """Warn of the first few of many, and say how many more there are."""
    for one in messages[:_MOST_WARNINGS]:
        warn(one)
    if len(messages) > _MOST_WARNINGS:
        warn(f"and {len(messages) - _MOST_WARNINGS} more")


def fail(message: str, code: ExitCode) -> NoReturn:
    """Say why, and exit."""
    # Some are of several lines, such as a YAML parser's, which shows the place.
    typer.echo("bailiff: " + printable(message, line_break="\n"), err=True)
    sys.exit(code)
