"""What the generated pages share: cells of a table, and what a docstring says of each attribute."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A name, or several with commas between them, and what is said until the next ones.
_ATTRIBUTE = re.compile(
    r"^    ([a-z_]+(?:,\s+[a-z_]+)*): (.*?)(?=^    [a-z_]+[:,]|\n\n|\Z)", re.MULTILINE | re.DOTALL
)


def one_line(text: str) -> str:
    """Text that a cell of a table bears."""
    return re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("<", "&lt;")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; nothing where it has no rows."""
    lines = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in rows]
    if not lines:
        return ""
    return "\n".join([f"| {' | '.join(heads)} |", "|" + "---|" * len(heads), *lines, ""])


def attributes(kind: type) -> dict[str, str]:
    """What the docstring of a class says of its attributes, those of its bases included."""
    told: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        _, _, body = (inspect.cleandoc(one.__doc__ or "")).partition("Attributes:\n")
        for names, text in _ATTRIBUTE.findall(body):
            told |= dict.fromkeys(re.split(r",\s+", names), one_line(text))
    return told
