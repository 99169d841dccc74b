"""TLS of a process, from what the command line says."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from bailiff.serving import ServingTls, TlsFiles

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from bailiff.bootstrap.access import AccessChoice


def tls_of(
    access: AccessChoice, registry: CollectorRegistry, hook_ca: Path | None = None
) -> ServingTls | None:
    """What all ports of the process serve TLS with; None: they serve without.

    Clients have to show certificates where these are the only way to be known.

    Args:
        access: of the command line.
        registry: for metrics.
        hook_ca: vouches for who calls hooks on their own port; None: nobody has to show any there.

    Raises:
        TlsUnusableError: the files do not serve.
    """
    if access.tls_cert_file is None or access.tls_private_key_file is None:
        return None
    files = TlsFiles(
        access.tls_cert_file,
        access.tls_private_key_file,
        access.client_ca_file,
        clients_must=access.client_ca_file is not None and not access.asks_for_tokens,
        hook_ca=hook_ca,
    )
    return ServingTls(files, registry)


@contextlib.asynccontextmanager
async def followed(tls: ServingTls | None) -> AsyncIterator[None]:
    """Look at the files of TLS meanwhile."""
    if tls is None:
        yield
        return
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(tls.run(), name="TLS")
        try:
            yield
        finally:
            looking.cancel()
