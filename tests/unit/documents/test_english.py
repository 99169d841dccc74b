"""The documents are written in plain English, as far as a program can tell.

Long sentences, and words that make a reader go back, were what readers complained of. A sentence in
a table counts, and so does each point of a list. Quotations, code and generated pages do not.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handbook.__main__ import PAGES
from tests.unit.documents.pages import DOCUMENTS, ROOT

# A sentence of more words is read twice.
LONGEST = 30
WIDEST = 120
# A page of more lines is not read to its end. References are looked up in, and may be longer.
LONGEST_PAGE = 250
REFERENCES = ("docs/reference/", "docs/licences.md", "helm/bailiff/README.md", "CHANGELOG.md")
AVOIDED = re.compile(
    r"\b(whoever|whom|nought|hitherto|thereby|to be had|but for|save for)\b", re.IGNORECASE
)
_FENCE = re.compile(r"^ *```.*?^ *```[ ]*$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"\n\s*\n|\n(?= *(?:[-*|#>]|\d+\.) )|\|")
# Names of programs that begin a sentence with a small letter.
_SMALL = "gRPC|grpcio|kubectl|kube-|containerd|helm|mkdocs|promtool|pytest|buildah|skopeo"
_END = re.compile(rf"(?<=[.!?])[)\"*]* +(?=[A-Z(\"*`]|{_SMALL})|; ")
WRITTEN = [path for path in DOCUMENTS if path.name not in {*PAGES, "licences.md", "CHANGELOG.md"}]


def sentences(text: str) -> list[str]:
    """The sentences of a page, with a word for each piece of code, and for each link its text."""
    text = re.sub(r"<!--.*?-->", "", _FENCE.sub("\n\n", text), flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"https?://\S+|`[^`]*`", "CODE", text)
    blocks = (re.sub(r"\s+", " ", block).strip(" |#>-*") for block in _BLOCK.split(text))
    return [one for block in blocks for one in _END.split(block) if one.strip()]


def words(sentence: str) -> int:
    return len(re.findall(r"[\w'-]+", sentence))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_no_sentence_is_read_twice(path: Path) -> None:
    every = sentences(path.read_text())
    assert [one for one in every if words(one) > LONGEST] == []
    assert [one for one in every if AVOIDED.search(one)] == []


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_lines_are_as_long_as_an_editor_is_wide(path: Path) -> None:
    lines = _FENCE.sub("", path.read_text()).splitlines()
    # Tables, and links that are longer by themselves, cannot be broken.
    kept = ("|", "[", "(", "!", "<!--", "`")
    prose = [line for line in lines if not line.lstrip().startswith(kept)]
    assert [line for line in prose if len(line) > WIDEST] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_no_page_is_longer_than_a_reader_reads(path: Path) -> None:
    if not name(path).startswith(REFERENCES):
        assert len(path.read_text().splitlines()) <= LONGEST_PAGE


def test_sentences_are_found() -> None:
    text = "# Head\n\nOne `a. b`. gRPC is one. Two [link](x.md); three\nmore.\n\n"
    text += "| cell | other |\n- point\n"
    found = [
        "Head",
        "One CODE.",
        "gRPC is one.",
        "Two link",
        "three more.",
        "cell",
        "other",
        "point",
    ]
    assert sentences(text) == found
