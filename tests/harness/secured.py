"""TLS for tests: a server that reads its files all the time, and clients of it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from prometheus_client import CollectorRegistry

from bailiff.serving import ServingTls, TlsFiles
from tests.harness.kube.tls import ClientCertificate, Tls, make_tls, new_pair

# Seconds between two looks at the files.
LOOK_EVERY = 0.01
# Seconds for what happens at once on a machine that does nothing else.
LIMIT = 20.0


def made(folder: Path) -> Tls:
    """A CA and what it signs, in a folder that is made for it."""
    folder.mkdir(exist_ok=True)
    return make_tls(folder)


def client_of(tls: Tls, folder: Path, **terms: object) -> ClientCertificate:
    """A client that this CA vouches for."""
    folder.mkdir(exist_ok=True)
    own = ClientCertificate(folder)
    own.rotate(tls, **terms)  # type: ignore[arg-type]  # as it has them
    return own


def shown_by(who: str, tls: Tls, folder: Path) -> ClientCertificate | None:
    """What one shows who is ours, a stranger, expired, a server, or nobody."""
    if who == "nobody":
        return None
    if who == "a stranger":
        return client_of(made(folder / "other"), folder / "own")
    life = dt.timedelta(days=1) if who != "expired" else -dt.timedelta(seconds=5)
    own = client_of(tls, folder / "own", life=life)
    if who == "a server":
        certificate, key = new_pair(tls)
        own.certificate.write_bytes(certificate)
        own.key.write_bytes(key)
    return own


def serving_tls(
    tls: Tls,
    registry: CollectorRegistry | None = None,
    client_ca: Path | None = None,
    *,
    must: bool = False,
) -> ServingTls:
    """What to serve with."""
    files = TlsFiles(tls.certificate, tls.key, client_ca, clients_must=must)
    return ServingTls(files, registry or CollectorRegistry(), LOOK_EVERY)


@contextlib.asynccontextmanager
async def followed(tls: ServingTls) -> AsyncIterator[None]:
    """The files are looked at meanwhile."""
    looking = asyncio.create_task(tls.run())
    try:
        async with asyncio.timeout(LIMIT):
            yield
    finally:
        looking.cancel()


async def until(come: Callable[[], bool]) -> None:
    """Wait for what comes by itself."""
    async with asyncio.timeout(LIMIT):
        while not come():
            await asyncio.sleep(LOOK_EVERY)


def trusting(tls: Tls, own: ClientCertificate | None = None) -> ssl.SSLContext:
    """A client's context: trusts the CA, and shows its own certificate if it has one."""
    context = ssl.create_default_context(cafile=tls.ca)
    if own is not None:
        context.load_cert_chain(own.certificate, own.key)
    return context
