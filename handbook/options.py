"""The reference of options: every command with its options, as the command line itself has them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup
from typer.main import get_command

from bailiff.cli.app import app
from handbook.text import one_line, table

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = """<!-- Written by `make reference`: do not edit. -->
# Options

This page lists every command of `bailiff` with its arguments and options. `make reference` writes
the page from the command line itself, and `bailiff COMMAND --help` prints the same.

You can give an option as a variable of the environment. If you give both, the option counts. For
a switch the variable is `true` or `false`. Limits that have no option are
[variables of their own](variables.md).
"""
# Of every command, and of Typer: nobody looks them up.
_HIDDEN = {"--help", "--install-completion", "--show-completion"}
_HEADS = ("option", "variable", "default", "meaning")


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *(_section(words, one) for words, one in commands())])


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that does something, by its words, as `policies check`."""
    yield from _below("", get_command(app))


def _below(words: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - as Typer's
    if not isinstance(command, TyperGroup):
        yield words, command
        return
    for name, one in sorted(command.commands.items()):
        yield from _below(f"{words} {name}".strip(), one)


def _section(words: str, command: Any) -> str:  # noqa: ANN401 - as Typer's
    rows = [_row(one) for one in command.params if not (one.hidden or _HIDDEN & {*one.opts})]
    return f"## bailiff {words}\n\n{one_line(command.help or '')}\n\n{table(_HEADS, rows)}"


def _row(one: Any) -> tuple[str, str, str, str]:  # noqa: ANN401 - as Typer's
    names = one.opts if one.param_type_name == "option" else [one.name.upper()]
    written = ", ".join(f"`{name}`" for name in (*names, *one.secondary_opts))
    return written, _variable(one), _default(one), one_line(getattr(one, "help", None) or "")


def _variable(one: Any) -> str:  # noqa: ANN401 - as Typer's
    names = [one.envvar] if isinstance(one.envvar, str) else one.envvar or []
    return ", ".join(f"`{name}`" for name in names)


def _default(one: Any) -> str:  # noqa: ANN401 - as Typer's
    if one.required:
        return "required"
    match one.default:
        case True:
            return f"`{one.opts[0]}`"
        case None | False | "" | [] | ():
            return ""
        case Enum(value=value):
            return f"`{value}`"
        case value if callable(value):
            return ""
        case value:
            return f"`{value}`"
