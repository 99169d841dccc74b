"""Closing a client closes all of it, whatever fails on the way; and nobody is ever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from bailiff.cluster import Cluster, ClusterSettings, UnreachableError

if TYPE_CHECKING:
    from bailiff.cluster.transport import Transport


class Closing:
    """A transport that fails while it is closed, or does not."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.closed = False

    async def close(self) -> None:
        """Close, as far as one can see."""
        self.closed = True
        if self._error is not None:
            raise self._error


async def test_connections_for_leases_are_closed_where_the_others_fail_to() -> None:
    own, leases = Closing(UnreachableError("no")), Closing()
    cluster = Cluster(cast("Transport", own), ClusterSettings(), cast("Transport", leases))
    with pytest.raises(UnreachableError):
        await cluster.close()
    assert own.closed
    assert leases.closed
