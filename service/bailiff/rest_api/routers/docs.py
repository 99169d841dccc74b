"""Swagger UI and ReDoc, from files in an installed package: clusters are often offline."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.responses import HTMLResponse

TITLE = "Bailiff"
# Only the package's files are used: its application class is a plain FastAPI.
_FILES = StaticFiles(packages=[("fastapi_offline", "static")])
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    """The document, written down once."""
    return Response(request.app.state.document(), media_type="application/json")


@router.get("/docs")
async def docs() -> Response:
    """Swagger UI."""
    return _swagger()


@cache
def _swagger() -> Response:
    """Its links are relative, so that they work behind a proxy that adds a prefix."""
    return _page(
        get_swagger_ui_html(
            openapi_url="openapi.json",
            title=TITLE,
            swagger_js_url="assets/swagger-ui-bundle.js",
            swagger_css_url="assets/swagger-ui.css",
            swagger_favicon_url="assets/favicon.png",
            swagger_ui_parameters={"displayRequestDuration": True, "tryItOutEnabled": True},
        )
    )


@router.get("/redoc")
async def redoc() -> Response:
    """ReDoc, linked as Swagger UI is."""
    return _redoc()


@cache
def _redoc() -> Response:
    return _page(
        get_redoc_html(
            openapi_url="openapi.json",
            title=TITLE,
            redoc_js_url="assets/redoc.standalone.js",
            redoc_favicon_url="assets/favicon.png",
            with_google_fonts=False,
        )
    )


@router.get("/assets/{name}")
async def asset(name: str, request: Request) -> Response:
    """A file of the pages."""
    found = await _FILES.get_response(name, request.scope)
    found.headers["Cache-Control"] = "no-cache"
    return found


@router.get("/favicon.ico")
async def icon(request: Request) -> Response:
    """The icon where browsers look for it unasked."""
    return await asset("favicon.png", request)


def _page(html: HTMLResponse) -> Response:
    """The page, which may load nothing but what this server serves."""
    digests = (hashlib.sha256(script).digest() for script in _INLINE_SCRIPT.findall(html.body))
    own = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    html.headers["Content-Security-Policy"] = (
        f"default-src 'self'; script-src 'self' {own}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'"
    )
    html.headers["X-Content-Type-Options"] = "nosniff"
    return html
