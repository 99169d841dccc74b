"""The pages of docs/runbooks, and how alerts are named by them."""

from __future__ import annotations

from tests.harness.transcripts import ROOT

FOLDER = ROOT / "docs" / "runbooks"
INDEX = FOLDER / "index.md"
PAGES = sorted(set(FOLDER.glob("*.md")) - {INDEX})
# A person comes to them without an alert: other pages lead to them.
WITHOUT_AN_ALERT = {"nothing-is-evicted", "stop-everything"}


def alert_of(page: str) -> str:
    """The alert of a page; longer names say more of the same symptom.

    Args:
        page: the file's name without its ending.
    """
    return "Bailiff" + "".join(word.capitalize() for word in page.split("-"))
