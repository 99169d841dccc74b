"""Swagger UI and ReDoc work without any other host."""

import re
from pathlib import Path

import pytest
from fastapi import FastAPI

from bailiff.rest_api.routers import docs
from tests.harness.faces.asgi import call

# In HTML everything that makes a browser fetch something.
LOADS = re.compile(r"""(?:src|href|url)["']?\s*[=:]\s*["']([^"']+)["']""")


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
async def test_a_page_loads_only_what_is_served_here(app: FastAPI, page: str) -> None:
    answer = await call(app, "GET", page)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    html = answer.body.decode()
    assert "//" not in re.sub(r"<!--.*?-->", "", html, flags=re.DOTALL)
    loads = set(LOADS.findall(html)) | set(re.findall(r'spec-url="([^"]+)"', html))
    assert {"openapi.json", "assets/favicon.png"} < loads
    for name in loads:
        loaded = await call(app, "GET", f"/{name}")
        assert loaded.status == 200, name
        assert loaded.body, name


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
async def test_a_page_may_load_nothing_from_elsewhere(app: FastAPI, page: str) -> None:
    policy = (await call(app, "GET", page)).headers["content-security-policy"]
    assert policy.startswith("default-src 'self'; script-src 'self'")
    assert "unsafe-eval" not in policy
    assert "http" not in policy


async def test_assets_are_not_sent_twice(app: FastAPI) -> None:
    first = await call(app, "GET", "/assets/swagger-ui.css")
    again = await call(
        app, "GET", "/assets/swagger-ui.css", headers={"If-None-Match": first.headers["etag"]}
    )
    assert (again.status, again.body) == (304, b"")


async def test_a_damaged_asset_is_not_served(
    app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(_path: Path) -> bytes:
        return b"alert(1)"

    docs.load.cache_clear()
    monkeypatch.setattr(Path, "read_bytes", changed)
    answer = await call(app, "GET", "/assets/swagger-ui-bundle.js")
    assert (answer.status, answer.json["code"]) == (500, "internal")


@pytest.mark.parametrize("name", ["none.js", "../__init__.py"])
def test_an_unrecorded_file_is_damaged(name: str) -> None:
    with pytest.raises(docs.DamagedAssetError):
        docs.load(name)
