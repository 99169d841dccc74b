"""Each runbook has the parts that a reader looks for, and speaks of what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handbook.metrics import PROCESSES, families
from tests.unit.documents.pages import DOCUMENTS, ROOT

FOLDER = ROOT / "docs" / "runbooks"
RUNBOOKS = sorted(path for path in FOLDER.glob("*.md") if path.name != "index.md")
# They are what a reader does, or looks for, before any alert.
WITHOUT_ALERT = {"nothing-is-evicted.md", "stop-everything.md"}
# The changelog speaks of what there was.
CURRENT = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]
METRIC = re.compile(r"`(?:abs\(|sum\(|max\(|min\(|count\()?((?:bailiff|kubelet)_\w+)")


def alert_of(path: Path) -> str:
    return "Bailiff" + "".join(word.capitalize() for word in path.stem.split("-"))


@pytest.mark.parametrize("path", RUNBOOKS, ids=lambda path: path.stem)
def test_a_runbook_has_its_parts(path: Path) -> None:
    text = path.read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[0] == "What you see"
    assert {"Find out", "Mend it"} & {*headings}
    assert (f"`{alert_of(path)}`" in text) is (path.name not in WITHOUT_ALERT)


def test_the_table_has_every_runbook_by_its_title() -> None:
    index = (FOLDER / "index.md").read_text()
    titles = {path.name: path.read_text().splitlines()[0].removeprefix("# ") for path in RUNBOOKS}
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", index, re.MULTILINE)
    expected = {title: name for name, title in titles.items() if name != "stop-everything.md"}
    assert dict(listed) == expected
    assert f"[{titles['stop-everything.md'].partition(': ')[2].capitalize()}]" in index


@pytest.mark.parametrize("path", CURRENT, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_metric_that_a_document_names_is_one(path: Path) -> None:
    known = {one.name for process in PROCESSES for one in families(process)}
    named = {name.removesuffix("_bucket") for name in METRIC.findall(path.read_text())}
    # Only the beginning of several names.
    whole = {name for name in named if not name.endswith("_")}
    # Upstream's own name, and the package of the demo cluster.
    assert whole - known - {"kubelet_evictions", "bailiff_demo"} == set()


def test_a_worker_of_the_chart_is_asked_as_its_defaults_want_it() -> None:
    """By `ask_worker`: plain HTTP is for one's own machine, the demo, and where a mesh does TLS."""
    text = "".join(path.read_text() for path in DOCUMENTS if "docs" in path.parts)
    plain = set(re.findall(r"curl [^`\n]*127\.0\.0\.1:8081([/\w$]*)", text))
    assert plain == {"$1", "/v1/queue", "/v1/shadow"}
