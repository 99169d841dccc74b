"""The documents build as a site: no link leads nowhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from handbook.site import led, pages
from tests.harness.transcripts import ROOT

pytestmark = [pytest.mark.process]

# What a browser fetches by itself when it shows a page.
LOADS = re.compile(
    r"""<(?:script|img|link rel="?(?:stylesheet|icon)"?)[^>]*?(?:src|href)="?([^" >]+)"""
)


def build(target: Path) -> subprocess.CompletedProcess[str]:
    """As `make docs`; a warning, as of a link that leads nowhere, is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    return subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = build(target)
    assert done.returncode == 0, done.stderr
    return target


def test_every_document_has_a_page(site: Path) -> None:
    names = [Path(name) for name, _ in pages()]
    folders = (
        name.parent if name.stem in ("index", "README") else name.with_suffix("") for name in names
    )
    assert [str(one) for one in folders if not (site / one / "index.html").is_file()] == []
    assert len(names) > 60


def test_a_page_loads_only_what_the_site_has(site: Path) -> None:
    for page in site.rglob("*.html"):
        loads = LOADS.findall(page.read_text())
        assert len(loads) > 2, page
        assert [one for one in loads if one.startswith(("http", "//"))] == [], page


def test_the_site_draws_its_pictures_itself(site: Path) -> None:
    assert 'class="mermaid"' in (site / "index.html").read_text()
    assert "assets/mermaid.js" in (site / "index.html").read_text()
    assert (site / "assets" / "mermaid.js").stat().st_size > 1_000_000


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("index.md", "[x](api/index.md#one)", "[x](api/index.md#one)"),
        ("api/index.md", "[x](../../README.md)", "[x](../project/readme.md)"),
        ("project/readme.md", "[x](docs/install.md)", "[x](../install.md)"),
        ("project/helm/bailiff/README.md", "[x](values.yaml)", "[x](values.yaml)"),
        ("project/readme.md", "[x](examples)", "x"),
        ("index.md", "[x](https://kubernetes.io)", "[x](https://kubernetes.io)"),
        ("index.md", "```\n[x](../README.md)\n```", "```\n[x](../README.md)\n```"),
    ],
)
def test_links_are_led_to_the_site(page: str, link: str, expected: str) -> None:
    assert led(link, page) == expected
