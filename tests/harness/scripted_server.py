"""A small HTTP server that answers as a test scripts it; the rest is the real client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeAlias

import yaml
from aiohttp import web

if TYPE_CHECKING:
    from pathlib import Path

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[int]:
    """Serve on a free loopback port."""
    runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)  # type: ignore[arg-type]  # a Request is a BaseRequest's own
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        port: int = runner.addresses[0][1]
        yield port
    finally:
        await runner.cleanup()


def kubeconfig(folder: Path, port: int, **user: str) -> Path:
    """A kubeconfig for that port."""
    content = {
        "current-context": "c",
        "clusters": [{"name": "k", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(content))
    return path
