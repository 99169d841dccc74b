"""Where `bailiff up` writes the kubeconfig of its demo cluster, beside those of other demos."""

from __future__ import annotations

import base64
import contextlib
import os
import ssl
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import yaml

from bailiff.bootstrap import StartError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Of a demo on this machine, which answers at once where it runs at all.
_ANSWER_SECONDS = 2.0


def usual_kubeconfig() -> Path:
    """The same at every start, so that a terminal needs to be told once."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "bailiff" / "demo.kubeconfig"


def write_kubeconfig(path: Path, text: str) -> None:
    """In one step, so that nobody reads half a file; nobody else's file is written over.

    Only who runs the demo may read it: it holds the token.

    Raises:
        StartError: it cannot be written, or is another kubeconfig.
    """
    try:
        if path.exists() and "bailiff-demo" not in path.read_text():
            raise StartError(f"{path} is not a demo's kubeconfig: it is not written over")
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(text)
        fresh.replace(path)
    except OSError as error:
        raise StartError(f"cannot write the kubeconfig: {error}") from error


@contextlib.contextmanager
def kubeconfig_while_running(path: Path, text: str) -> Iterator[None]:
    """Write it, and take it away at the end, unless it is another demo's by then.

    Raises:
        StartError: as `write_kubeconfig`.
    """
    write_kubeconfig(path, text)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            if path.read_text() == text:
                path.unlink()


async def free_kubeconfig(port: int) -> Path:
    """The usual place, or one beside it where that one names a demo that still runs.

    Whoever has exported the first one's must not find himself on another cluster.

    Args:
        port: of the new demo cluster, which no other has.
    """
    usual = usual_kubeconfig()
    found = _server_of(usual)
    if found is None or not await _answers(*found):
        return usual
    server, _ = found
    own = usual.with_name(f"demo-{port}.kubeconfig")
    sys.stderr.write(f"another demo runs at {server}, {usual} stays its own: using {own}\n")
    return own


def _server_of(path: Path) -> tuple[str, ssl.SSLContext] | None:
    """The address of the demo that a file names, and how to know that one from others.

    None: there is none, or it is no demo's.
    """
    try:
        cluster = yaml.safe_load(path.read_text())["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        return str(cluster["server"]), ssl.create_default_context(cadata=authority)
    except (OSError, ValueError, yaml.YAMLError, LookupError, TypeError):
        return None


async def _answers(server: str, context: ssl.SSLContext) -> bool:
    timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(f"{server}/version", ssl=context) as answer,
        ):
            return "bailiff" in await answer.text()
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return False
