"""`make reference`: which package imports which, drawn into docs/architecture/index.md.

The rows of the picture are those of the contract that import-linter checks. What each package
imports today is read from the code. Both stand in the page between words that a person wrote, and
`tests/unit/documents/test_layers.py` fails when the page differs from what is drawn here.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import grimp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture" / "index.md"
PACKAGE = "bailiff"

_FIRST = "%% made by `make reference` from pyproject.toml: do not edit\n"
_HEAD = "| package | imports these packages directly |\n"
_PICTURE = re.compile(rf"^```mermaid\n{re.escape(_FIRST)}.*?^```\n", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(rf"^{re.escape(_HEAD)}(?:\|.*\n)+", re.MULTILINE)


def layers() -> list[list[str]]:
    """The contract's rows, the upper ones first, each with the packages that are siblings."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (one for one in settings["contracts"] if one["type"] == "layers")
    return [[_short(name) for name in row.split(" | ")] for row in contract["layers"]]


def imports(rows: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """Which packages of the rows each of them imports itself, the upper ones first."""
    packages = [package for row in rows for package in row]
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    pairs = {
        (_package_of(module), _package_of(imported))
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    }
    return {
        upper: [lower for lower in packages if lower != upper and (upper, lower) in pairs]
        for upper in packages
    }


def picture(rows: Sequence[Sequence[str]]) -> str:
    """A flowchart of Mermaid: one box for each row, and an arrow to the next below."""
    return "".join(("```mermaid\n", _FIRST, "flowchart TB\n", *_boxes(rows), "```\n"))


def table(rows: Sequence[Sequence[str]]) -> str:
    """What each package imports today."""
    lines = (
        f"| `{upper}` | {', '.join(lower) or '-'} |\n" for upper, lower in imports(rows).items()
    )
    return "".join((_HEAD, "|---|---|\n", *lines))


def drawn(page: str) -> str:
    """The page with its picture and its table as they have to be.

    Raises:
        ValueError: the page has no place for one of them, or several.
    """
    rows = layers()
    for place, made in ((_PICTURE, picture(rows)), (_TABLE, table(rows))):
        before, *after = place.split(page)
        if len(after) != 1:
            raise ValueError(f"one place is needed for what begins with {made[:60]!r}")
        page = f"{before}{made}{after[0]}"
    return page


def _boxes(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for number, row in enumerate(rows, start=1):
        yield f'    subgraph row{number}[" "]\n        direction TB\n'
        yield from (f"        {package}\n" for package in row)
        yield "    end\n"
    for number in range(1, len(rows)):
        yield f"    row{number} --> row{number + 1}\n"


def _short(module: str) -> str:
    return module.removeprefix(f"{PACKAGE}.")


def _package_of(module: str) -> str:
    return _short(module).split(".")[0]
