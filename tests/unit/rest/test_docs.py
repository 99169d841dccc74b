"""Swagger UI and ReDoc work without any other host."""

import re

import pytest
from fastapi import FastAPI

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


async def test_only_files_of_the_pages_are_served(app: FastAPI) -> None:
    for name in ("none.js", "..", "..%2F__init__.py", "%2Fetc%2Fpasswd"):
        assert (await call(app, "GET", f"/assets/{name}")).status == 404, name
