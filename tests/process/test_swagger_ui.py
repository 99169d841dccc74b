"""Swagger UI as a browser shows it, and the picture of it in the API guide.

The picture is made by the same look, so that it shows what the test has seen:
`BAILIFF_PICTURES=1 pytest tests/process/test_swagger_ui.py` writes it anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.harness.transcripts import ROOT, Up

pytestmark = [pytest.mark.process]

PICTURE = ROOT / "docs" / "assets" / "swagger-ui.png"
# Down to the first operations; small, since the picture is kept in the repository.
_WIDTH, _HEIGHT, _MOST_BYTES = 1000, 1150, 200_000
_PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def browser() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium on PATH")
    return found


def look(browser: str, folder: Path, url: str, *options: str) -> str:
    """What the browser prints of a page once its scripts have had some seconds."""
    command = [
        *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--virtual-time-budget=10000", f"--user-data-dir={folder / 'profile'}"),
        *(f"--window-size={_WIDTH},{_HEIGHT}", *options, url),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=90, check=True, cwd=folder
    )
    return done.stdout


def size(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(_PNG)
    return int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])


def test_the_page_shows_the_operations(up: Up, browser: str, tmp_path: Path) -> None:
    page = look(browser, tmp_path, f"http://127.0.0.1:{up.ports['8080']}/docs", "--dump-dom")
    shown = set(re.findall(r'data-path="([^"]+)"', page))
    assert {"/v1/decisions", "/v1/previews/taint-change"} <= shown
    assert "Failed to load" not in page


def test_the_picture_is_of_this_page(up: Up, browser: str, tmp_path: Path) -> None:
    made = tmp_path / "made.png"
    look(
        *(browser, tmp_path, f"http://127.0.0.1:{up.ports['8080']}/docs"),
        f"--screenshot={made}",
    )
    taken = made.read_bytes()
    assert size(taken) == (_WIDTH, _HEIGHT)
    # A page that stays white has some thousand bytes.
    assert len(taken) > 20_000
    if os.environ.get("BAILIFF_PICTURES"):
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_bytes(taken)
    kept = PICTURE.read_bytes()
    assert size(kept) == size(taken)
    assert len(kept) < _MOST_BYTES
