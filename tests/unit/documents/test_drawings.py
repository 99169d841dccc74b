"""Every picture in the documents can be drawn: a slip in its text would show as an error there."""

from __future__ import annotations

import re
from pathlib import Path

import mermaidx
import pytest

from tests.unit.documents.pages import DOCUMENTS, ROOT

_PICTURE = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURES = [
    pytest.param(text, id=f"{path.relative_to(ROOT)}-{number}")
    for path in DOCUMENTS
    for number, text in enumerate(_PICTURE.findall(path.read_text()))
]


@pytest.mark.parametrize("text", PICTURES)
def test_a_picture_can_be_drawn(text: str) -> None:
    assert mermaidx.render(text).svg().startswith("<svg")


def test_a_slip_would_be_found() -> None:
    with pytest.raises(RuntimeError, match="Parse error"):
        mermaidx.render("flowchart LR\n  a --> [[b\n").svg()


def test_there_are_pictures() -> None:
    drawn_in = {str(picture.id).rpartition("-")[0] for picture in PICTURES}
    assert {"README.md", "docs/index.md", "docs/architecture/index.md"} <= drawn_in


def test_the_programs_that_draw_are_those_of_the_site() -> None:
    assert (Path(mermaidx.__file__).parent / "assets" / "mermaid.js").is_file()
