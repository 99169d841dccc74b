"""docs/runbooks: one symptom a page, in one form, and nothing in them that there is not."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from handbook.metrics import PROCESSES, families
from tests.harness.monitoring.files import alerts
from tests.harness.monitoring.runbooks import FOLDER, INDEX, PAGES, WITHOUT_AN_ALERT, alert_of
from tests.unit.documents.pages import DOCUMENTS, ROOT

IDS = [page.stem for page in PAGES]
HEADINGS = ["What you see", "What it means", "Find out", "Mend it"]
LONGEST = 130

METRIC = re.compile(
    r"\b(?:bailiff_(?:worker|agent|rest|grpc|http|tls|access|authentication|admission|tracing)_\w+"
    r"|kubelet_evictions\w*|(?:device_)?taint_eviction_controller_\w+)"
)
# The changelog speaks of names that were.
CURRENT = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]
# As a query may end, which asks for a part of a metric.
SUFFIXES = ("_total", "_bucket", "_sum", "_count")


@cache
def metrics() -> frozenset[str]:
    """Names of metrics, without what Prometheus' client appends."""
    return frozenset(bare(one.name) for process in PROCESSES for one in families(process))


def bare(name: str) -> str:
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_page_has_the_form_of_all(page: Path) -> None:
    text = page.read_text()
    assert re.match(r"# [A-Z]", text)
    found = [one for one in re.findall(r"^## (.+)$", text, re.MULTILINE) if one in HEADINGS]
    assert sorted(found) == sorted(HEADINGS)
    assert len(text.splitlines()) <= LONGEST


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_page_names_its_alert(page: Path) -> None:
    text, alert = page.read_text(), alert_of(page.stem)
    if page.stem in WITHOUT_AN_ALERT:
        assert "No alert leads here" in text
    else:
        assert f"`{alert}`" in text
    # Longer names say more of the same symptom.
    named = set(re.findall(r"`(Bailiff\w+)`", text))
    assert {one for one in named if not one.startswith(alert)} == set()
    assert named == {one.name for one in alerts() if one.runbook == page.stem}


@pytest.mark.parametrize("page", CURRENT, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_metric_of_a_document_exists(page: Path) -> None:
    named = set(METRIC.findall(page.read_text()))
    # Where only the beginning of a name is written, it is the beginning of one.
    begun = {one for one in named if one.endswith("_")}
    assert [one for one in begun if not any(name.startswith(one) for name in metrics())] == []
    assert {one for one in named - begun if bare(one) not in metrics()} == set()


def test_a_metric_that_does_not_exist_would_be_found() -> None:
    assert "bailiff_worker_leader" in metrics()
    assert bare("bailiff_grpc_requests_total") in metrics()
    assert bare("bailiff_worker_leaders_total") not in metrics()


def test_the_index_leads_to_every_page() -> None:
    text = INDEX.read_text()
    assert [page.name for page in PAGES if f"]({page.name})" not in text] == []


def test_a_worker_of_the_chart_is_asked_as_its_defaults_want_it() -> None:
    """By `ask_worker`: plain HTTP is for one's own machine, the demo, and where a mesh does TLS."""
    operate = ROOT / "docs" / "operate"
    asked = {
        page.name: found
        for page in (*FOLDER.glob("*.md"), *operate.glob("*.md"))
        if (found := re.findall(r"curl .*127\.0\.0\.1:8081([/\w]*)", page.read_text()))
    }
    assert asked == {"pending.md": [""], "pausing.md": ["/v1/queue"] * 2}
    told = (operate / "pending.md").read_text()
    assert 'ask_worker() { curl -s --cacert ca.crt -H "Authorization: Bearer $TOKEN"' in told
