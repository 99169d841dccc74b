"""How long one waits for a cluster."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bailiff.lookup.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def in_time(seconds: float) -> AsyncIterator[None]:
    """Give up after so many seconds, with UnavailableError."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise UnavailableError(f"the cluster did not answer within {seconds:g} s") from error
