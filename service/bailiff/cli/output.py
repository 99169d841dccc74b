"""How an answer is printed: as text or a table for people, as JSON or YAML for programs."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# As kubectl separates columns.
_GAP = "   "
# As kubectl writes what there is none of, so that every line has as many words.
NONE = "<none>"

# That an error tells.
_MOST_NAMES = 5


class Output(StrEnum):
    """How to print an answer."""

    TEXT = "text"
    JSON = "json"


class Format(StrEnum):
    """How to print answers about objects; TABLE and WIDE have a line for each."""

    TEXT = "text"
    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


class Lines(StrEnum):
    """How to print what is always a table; see Format."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


OUTPUT = typer.Option("--output", "-o", help="text for people, json for programs.")
FORMAT = typer.Option(
    "--output",
    "-o",
    help="text, or a line for each pod in a table, wide with more columns where there "
    "are any; json and yaml for programs. Default: text for one pod, a table for more.",
    show_default=False,
)


def _lines(of: str) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(
        "--output",
        "-o",
        help=f"table: a line for each {of}; wide: with more columns; json and yaml for programs.",
    )


LINES, LINES_OF_TAINTS = _lines("pod"), _lines("taint")


def say(text: str) -> None:
    """Tell people something beside what programs read."""
    typer.echo(text, err=True)


def listed(names: Iterable[str], between: str = ", ") -> str:
    """A few names in a line, for an error; empty for none."""
    found = sorted({printable(name) for name in names})
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return between.join(found[:_MOST_NAMES]) + more


def pretty(value: object) -> str:
    """JSON that people can read too."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def dumped(value: object, how: Format | Lines) -> str:
    """What programs read: YAML where that is asked for, else JSON."""
    if how.value != Format.YAML.value:
        return pretty(value)
    import yaml  # noqa: PLC0415 - only this needs it

    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
    return text.rstrip("\n")


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], colours: Mapping[str, str] | None = None
) -> str:
    """Columns as kubectl aligns them, one line a row, so that grep, awk and less can be used.

    Args:
        heads: of the columns.
        rows: a text for each column; an empty one is shown as `<none>`.
        colours: by a cell's whole text, for a terminal.
    """
    cells = [list(heads), *([printable(one, " ") or NONE for one in row] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(heads))]
    return "\n".join(_line(row, widths, colours or {}) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int], colours: Mapping[str, str]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
    padded[-1] = row[-1]
    return _GAP.join(
        coloured(shown, colours.get(cell)) for shown, cell in zip(padded, row, strict=True)
    )


def coloured(text: str, colour: str | None) -> str:
    """The text in a colour, on a terminal whose user has not said NO_COLOR (no-color.org)."""
    if colour is None or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return text
    return typer.style(text, fg=colour)


def printable(text: str, line_break: str = r"\n") -> str:
    """A text that does nothing to a terminal and can be written to any.

    Whatever wrote an object chose its words: control characters, and halves of characters that no
    encoding has, are shown as Python escapes them, and a line's end, too, unless something else is
    said: what is one line to us stays one.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        line_break if one == "\n" else one if one.isprintable() else ascii(one)[1:-1]
        for one in text
    )
