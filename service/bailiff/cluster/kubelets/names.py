"""What the names of nodes mean, looked up beside everything else.

A node's status names it, and a name server may take its time, which a hostile node can arrange for.
Nobody can stop a look-up that is under way, so they have threads of their own, a bounded number:
those of the event loop look up the API server too, and write the audit log and read policies.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from bailiff.cluster.kubelets.endpoints import check_allowed
from bailiff.cluster.kubelets.errors import KubeletUnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bailiff.cluster.kubelets.endpoints import Address, Endpoint
    from bailiff.cluster.kubelets.settings import Network

# Addresses, or why there are none.
_Outcome: TypeAlias = list[str] | Exception

# Look-ups at a time; others wait, for as long as whoever asks for them does.
_MOST = 8
# A name with more addresses than this is no node's.
_MAX_RESOLVED = 8


class Names:
    """Looks names up; belongs to one event loop.

    Nothing is to be closed: a thread ends with its look-up, and no process waits for one to end.
    """

    def __init__(self, most: int = _MOST) -> None:
        """At most so many look-ups at a time."""
        self._places = asyncio.Semaphore(most)

    async def resolve(self, endpoint: Endpoint, networks: Sequence[Network]) -> list[Address]:
        """The addresses to connect to, all of them looked at.

        Raises:
            KubeletAddressError: one of them must not be asked.
            KubeletUnreachableError: the name is not known.
        """
        if endpoint.address is not None:
            return [endpoint.address]
        found = await self._looked_up(endpoint)
        if isinstance(found, Exception):
            raise KubeletUnreachableError(f"the name is not known: {found}") from found
        addresses = [ipaddress.ip_address(one) for one in found[:_MAX_RESOLVED]]
        for each in addresses:
            check_allowed(each, networks)
        return addresses

    async def _looked_up(self, endpoint: Endpoint) -> _Outcome:
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[_Outcome] = loop.create_future()
        work = partial(_look_up, endpoint, loop, partial(self._end, outcome))
        try:
            threading.Thread(target=work, name="kubelet-name", daemon=True).start()
        except RuntimeError as error:
            # The system has no thread left.
            self._end(outcome, error)
        return await outcome

    def _end(self, outcome: asyncio.Future[_Outcome], found: _Outcome) -> None:
        # Whoever has asked may have gone: the place was taken until now all the same.
        self._places.release()
        if not outcome.done():
            outcome.set_result(found)


def _look_up(
    endpoint: Endpoint, loop: asyncio.AbstractEventLoop, end: Callable[[_Outcome], None]
) -> None:
    found: _Outcome
    try:
        told = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
        found = [str(one[4][0]) for one in told]
    except Exception as error:  # noqa: BLE001 - told to whoever has asked, whatever it is
        found = error
    with suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(end, found)
