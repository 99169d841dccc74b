"""A small HTTP server that answers as a test scripts it; the rest is the real client."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import yaml
from aiohttp import web

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.kube.tls import Tls

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(answer: Answer, tls: Tls | ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve on a free loopback port, as HTTPS with `tls`, which may say all of it."""
    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)  # type: ignore[arg-type]  # a Request is a BaseRequest's own
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_context(tls))
    await site.start()
    try:
        port: int = runner.addresses[0][1]
        yield port
    finally:
        await runner.cleanup()


def _context(tls: Tls | ssl.SSLContext | None) -> ssl.SSLContext | None:
    if tls is None or isinstance(tls, ssl.SSLContext):
        return tls
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tls.certificate, tls.key)
    return context


def kubeconfig(folder: Path, port: int, *, ca: Path | None = None, **user: str) -> Path:
    """A kubeconfig for that port, over HTTPS where there is a CA."""
    cluster = {"server": f"{'https' if ca else 'http'}://127.0.0.1:{port}"}
    if ca:
        cluster["certificate-authority"] = str(ca)
    content = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": cluster}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return path
