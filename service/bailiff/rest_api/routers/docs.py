"""Swagger UI and ReDoc, from files in the installed packages: clusters are often offline."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from http import HTTPStatus
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from fastapi import APIRouter, Header, HTTPException, Request
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.responses import HTMLResponse

TITLE = "Bailiff"
# Who ships the files. Only the files are used: its application class is a plain FastAPI.
_DISTRIBUTION = "fastapi-offline"
_FOLDER = "fastapi_offline/static"
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

router = APIRouter(include_in_schema=False)
_SCRIPT, _STYLE = "swagger-ui-bundle.js", "swagger-ui.css"
_REDOC, _ICON = "redoc.standalone.js", "favicon.png"
_MEDIA_TYPES = {
    _SCRIPT: "text/javascript",
    _STYLE: "text/css",
    _REDOC: "text/javascript",
    _ICON: "image/png",
}
_IfNoneMatch = Annotated[str | None, Header()]


class DamagedAssetError(Exception):
    """A file of the pages is not the one that was installed."""


@functools.cache
def load(name: str) -> tuple[bytes, str]:
    """A file and its entity tag.

    Raises:
        DamagedAssetError: it is missing, not recorded, or not what was recorded.
    """
    path = f"{_FOLDER}/{name}"
    files = metadata.files(_DISTRIBUTION) or []
    entry = next((file for file in files if str(file) == path), None)
    if entry is None or entry.hash is None:
        raise DamagedAssetError(f"{_DISTRIBUTION} has no record of {path}")
    content = Path(str(entry.locate())).read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.new(entry.hash.mode, content).digest()).decode()
    if digest.rstrip("=") != entry.hash.value:
        raise DamagedAssetError(f"{path} is not the file that was installed")
    return content, f'"{digest[:24]}"'


@router.get("/openapi.json")
async def openapi(request: Request) -> Response:
    """The document."""
    return Response(msgspec.json.encode(request.app.openapi()), media_type="application/json")


@router.get("/docs")
async def docs() -> Response:
    """Swagger UI. Its links are relative, so that they work behind a proxy that adds a prefix."""
    return _page(
        get_swagger_ui_html(
            openapi_url="openapi.json",
            title=TITLE,
            swagger_js_url=f"assets/{_SCRIPT}",
            swagger_css_url=f"assets/{_STYLE}",
            swagger_favicon_url=f"assets/{_ICON}",
            swagger_ui_parameters={"displayRequestDuration": True, "tryItOutEnabled": True},
        )
    )


@router.get("/redoc")
async def redoc() -> Response:
    """ReDoc, linked as Swagger UI is."""
    return _page(
        get_redoc_html(
            openapi_url="openapi.json",
            title=TITLE,
            redoc_js_url=f"assets/{_REDOC}",
            redoc_favicon_url=f"assets/{_ICON}",
            with_google_fonts=False,
        )
    )


@router.get("/assets/{name}")
async def asset(name: str, if_none_match: _IfNoneMatch = None) -> Response:
    """A file, if it is the very file that its package was installed with."""
    if name not in _MEDIA_TYPES:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    content, tag = load(name)
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if if_none_match == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=_MEDIA_TYPES[name])


@router.get("/favicon.ico")
async def icon(if_none_match: _IfNoneMatch = None) -> Response:
    """The icon where browsers look for it unasked."""
    return await asset(_ICON, if_none_match)


def _page(html: HTMLResponse) -> Response:
    """The page, which may load nothing but what this server serves."""
    html.headers["Content-Security-Policy"] = _policy(bytes(html.body))
    html.headers["X-Content-Type-Options"] = "nosniff"
    return html


def _policy(content: bytes) -> str:
    """Nothing from other hosts; of inline scripts only the page's own."""
    hashes = (
        base64.b64encode(hashlib.sha256(script).digest()).decode()
        for script in _INLINE_SCRIPT.findall(content)
    )
    scripts = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'"
    )
