"""Swagger UI and ReDoc, from files in the installed packages: clusters are often offline."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html

from bailiff.rest_api.exchange import header, reply
from bailiff.rest_api.routes import Route

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

# Who ships the files. Only the files are used: its application class is a plain FastAPI.
_DISTRIBUTION = "fastapi-offline"
_FOLDER = "fastapi_offline/static"
_MEDIA_TYPES = {
    "swagger-ui-bundle.js": b"text/javascript",
    "swagger-ui.css": b"text/css",
    "redoc.standalone.js": b"text/javascript",
    "favicon.png": b"image/png",
}
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


class DamagedAssetError(Exception):
    """A file of the pages is not the one that was installed."""


class Asset:
    """One file, served only if it is the very file that its package was installed with."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loaded: tuple[bytes, bytes] | None = None

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        if self._loaded is None:
            self._loaded = load(self._name)
        content, tag = self._loaded
        headers = ((b"etag", tag), (b"cache-control", b"no-cache"))
        known = header(scope, b"if-none-match") == tag
        await reply(
            send,
            b"" if known else content,
            status=304 if known else 200,
            media_type=_MEDIA_TYPES[self._name],
            headers=headers,
            head=scope["method"] == "HEAD",
        )


def load(name: str) -> tuple[bytes, bytes]:
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
    digest = base64.urlsafe_b64encode(hashlib.new(entry.hash.mode, content).digest())
    if digest.decode().rstrip("=") != entry.hash.value:
        raise DamagedAssetError(f"{path} is not the file that was installed")
    return content, b'"%s"' % digest[:24]


class Page:
    """One HTML page that may load nothing but what this server serves."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._headers = (
            (b"content-security-policy", _policy(content)),
            (b"x-content-type-options", b"nosniff"),
        )

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Serve one request."""
        await reply(
            send,
            self._content,
            media_type=b"text/html; charset=utf-8",
            headers=self._headers,
            head=scope["method"] == "HEAD",
        )


def _policy(content: bytes) -> bytes:
    """Nothing from other hosts; of inline scripts only the page's own."""
    hashes = (
        base64.b64encode(hashlib.sha256(script).digest())
        for script in _INLINE_SCRIPT.findall(content)
    )
    scripts = b" ".join(b"'sha256-%s'" % digest for digest in hashes)
    return (
        b"default-src 'self'; script-src 'self' %s; style-src 'self' 'unsafe-inline'; "
        b"img-src 'self' data:; worker-src 'self' blob:; frame-ancestors 'none'" % scripts
    )


def page_routes(title: str) -> list[Route]:
    """The routes of the pages and of what they load.

    Their links are relative, so that they work behind a proxy that adds a prefix.
    """
    swagger = get_swagger_ui_html(
        openapi_url="openapi.json",
        title=title,
        swagger_js_url="assets/swagger-ui-bundle.js",
        swagger_css_url="assets/swagger-ui.css",
        swagger_favicon_url="assets/favicon.png",
        swagger_ui_parameters={"displayRequestDuration": True, "tryItOutEnabled": True},
    )
    redoc = get_redoc_html(
        openapi_url="openapi.json",
        title=title,
        redoc_js_url="assets/redoc.standalone.js",
        redoc_favicon_url="assets/favicon.png",
        with_google_fonts=False,
    )
    pages = [
        Route("/docs", Page(bytes(swagger.body)), methods=["GET"]),
        Route("/redoc", Page(bytes(redoc.body)), methods=["GET"]),
    ]
    assets = [Route(f"/assets/{name}", Asset(name), methods=["GET"]) for name in _MEDIA_TYPES]
    return [*pages, *assets, Route("/favicon.ico", Asset("favicon.png"), methods=["GET"])]
