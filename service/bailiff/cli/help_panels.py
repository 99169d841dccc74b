"""The help of a command in panels of two columns: what to write, and what it does."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typer.core import TyperCommand

_ARGUMENTS = "Arguments"
_OPTIONS = "Options"


def show(command: TyperCommand, ctx: Any) -> None:  # noqa: ANN401 - of Typer's own, which it hides
    """Print it to standard output, arguments first."""
    console = Console(highlight=False)
    console.print(Padding(Text(command.get_usage(ctx), style="bold"), 1))
    console.print(Padding(_paragraphs(command.help or ""), (0, 1, 1, 1)))
    for title, records in _panels(command, ctx).items():
        if records:
            table = _table(records)
            console.print(Panel(table, title=title, title_align="left", border_style="dim"))
    if command.epilog:
        console.print(Padding(_paragraphs(command.epilog), 1))


def _panels(command: TyperCommand, ctx: Any) -> Mapping[str, list[tuple[str, str]]]:  # noqa: ANN401
    found = defaultdict[str, list[tuple[str, str]]](list, {_ARGUMENTS: [], _OPTIONS: []})
    for param in command.get_params(ctx):
        usual = _ARGUMENTS if isinstance(param, TyperArgument) else _OPTIONS
        # None of an option that is hidden.
        if record := param.get_help_record(ctx):
            found[getattr(param, "rich_help_panel", None) or usual].append(record)
    return found


def _paragraphs(text: str) -> Text:
    """Lines of one paragraph are one, as wide as there is room."""
    return Text("\n".join(" ".join(one.split()) for one in text.split("\n\n")))


def _table(records: Iterable[tuple[str, str]]) -> Table:
    """An option and its opposite stand below each other."""
    table = Table.grid(padding=(0, 2), expand=True)
    table.add_column(no_wrap=True, style="bold cyan")
    table.add_column(ratio=1, overflow="fold")
    for names, text in records:
        table.add_row(Text(names.replace(" / ", "\n")), Text(text.replace("  [", " [")))
    return table
