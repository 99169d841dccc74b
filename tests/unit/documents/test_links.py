"""Links in the documents lead to files and headings that there are; so do the tests they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.documents.pages import DOCUMENTS, ROOT

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TEST_FILE = re.compile(r"`(tests/[\w./-]+\.\w+)`")


def anchors(document: Path) -> set[str]:
    """What GitHub makes of the headings: small letters, no punctuation, hyphens for blanks."""
    headings = HEADING.findall(FENCED.sub("", document.read_text()))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(document: Path) -> Iterator[tuple[Path, str]]:
    """The files that a document leads to, and the headings in them."""
    for place, anchor in LINK.findall(document.read_text()):
        yield (document.parent / place if place else document), anchor


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target, anchor in links(document):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), (target, anchor)
    named = TEST_FILE.findall(document.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_there_are_links_to_look_at() -> None:
    every = [link for document in DOCUMENTS for link in links(document)]
    assert len([anchor for _, anchor in every if anchor]) > 50
