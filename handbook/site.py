"""A hook of mkdocs: documents outside `docs/`, and the program that draws the pictures.

On GitHub a page may link to any file of the repository. The site knows only `docs/`, so documents
that lie elsewhere, as the chart's README, become pages under `project/`, and other files are copied
there. Links are written for GitHub and are led there when the site is built.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

import mermaidx
from mkdocs.structure.files import File

from handbook.lists import widened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Documents that the site has, and that do not lie in `docs/`.
OUTSIDE = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "helm/bailiff/README.md",
    "examples/go-caller/README.md",
    "examples/scheduler/README.md",
    "examples/scheduler-plugin/README.md",
    "service/bailiff/client/README.md",
)
_PREFIX = "project/"
# mkdocs takes a README for the head of its folder, and shows no entry for it.
_FIRST = {"README.md": "project/readme.md"}
_MERMAID = "assets/mermaid.js"
# The text, the place and the heading of a link to a file of the repository, or of a picture.
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^( *```.*?^ *```[ ]*$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what does not lie in `docs/`."""
    for name in OUTSIDE:
        files.append(_copied(config, name))
    for name in sorted(_linked_files()):
        files.append(_copied(config, name))
    script = Path(mermaidx.__file__).parent / "assets" / "mermaid.js"
    files.append(File.generated(config, _MERMAID, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links out of `docs/` to where the site has those files, and indent its lists."""
    del config, files
    return widened(led(markdown, page.file.src_uri))


def led(markdown: str, page: str) -> str:
    """The text of a page of the site with its links led there.

    Args:
        markdown: as it is on GitHub.
        page: where the site has it, such as `project/README.md` or `api/index.md`.
    """
    pieces = _FENCE.split(markdown)
    # What stands between two fences of code comes first, and then every other time.
    pieces[::2] = [LINK.sub(lambda found: _link(found, page), one) for one in pieces[::2]]
    return "".join(pieces)


def of_repository(target: str, page: str) -> str:
    """The place in the repository, such as `docs/install.md`, of what a page links to."""
    own = page.removeprefix(_PREFIX) if page.startswith(_PREFIX) else f"docs/{page}"
    return posixpath.normpath(posixpath.join(posixpath.dirname(own), target))


def _link(found: re.Match[str], page: str) -> str:
    mark, text, target, anchor = found.groups(default="")
    place = _of_site(of_repository(target, page))
    if place is None:
        return text
    way = posixpath.relpath(place, posixpath.dirname(page) or ".")
    return f"{mark}[{text}]({way}{anchor})"


def _of_site(place: str) -> str | None:
    """Where the site has a file of the repository; None: it is a folder without a README."""
    if place.startswith("docs/"):
        return place.removeprefix("docs/")
    if (ROOT / place).is_dir():
        readme = f"{place}/README.md"
        return _place_of(readme) if readme in OUTSIDE else None
    return _place_of(place)


def _linked_files() -> Iterator[str]:
    """Files that are no documents and lie outside `docs/`, to which documents link."""
    found = {
        of_repository(link[3], page)
        for page, text in pages()
        for piece in _FENCE.split(text)[::2]
        for link in LINK.finditer(piece)
    }
    for place in found - {*OUTSIDE}:
        if not place.startswith("docs/") and (ROOT / place).is_file():
            yield place


def documents() -> Iterator[Path]:
    """Every document that the site has."""
    yield from (ROOT / "docs").rglob("*.md")
    yield from (ROOT / name for name in OUTSIDE)


def pages() -> Iterator[tuple[str, str]]:
    """Every page of the site by its name there, with its text."""
    for path in sorted(documents()):
        name = path.relative_to(ROOT).as_posix()
        yield (
            name.removeprefix("docs/") if name.startswith("docs/") else _place_of(name),
            path.read_text(),
        )


def _place_of(name: str) -> str:
    return _FIRST.get(name, _PREFIX + name)


def _copied(config: MkDocsConfig, name: str) -> File:
    return File.generated(config, _place_of(name), abs_src_path=str(ROOT / name))
