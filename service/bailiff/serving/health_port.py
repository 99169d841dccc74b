"""Probes on a port of their own: /healthz and /readyz, in plain HTTP, from a thread of its own.

Nothing that clients do to the other ports changes these answers: no limit of theirs is asked, and
the main loop has no part in it. The port itself needs next to nothing: few connections, each for
one short request and not for long. Where there are too many, the one that has waited for longest
makes room, so that the kubelet, which asks as soon as it is connected, gets in.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from bailiff.serving.listening import bound_socket
from bailiff.serving.own_thread import OwnThread
from bailiff.serving.probes import ProbeBounds, Probes

if TYPE_CHECKING:
    from bailiff.serving.pulse import Pulse

# Connections that wait to be accepted, in the kernel, which takes no more than net.core.somaxconn.
_BACKLOG = 4096
_JOIN_SECONDS = 3.0
_BOUNDS = ProbeBounds()


class HealthPort:
    """Owns the thread that answers probes."""

    def __init__(self, pulse: Pulse, host: str, port: int, bounds: ProbeBounds = _BOUNDS) -> None:
        """Prepare; nothing is bound yet.

        Args:
            pulse: of the main loop.
            host: address to listen on.
            port: TCP port; 0 takes a free one.
            bounds: what it bears.
        """
        self._pulse = pulse
        self._address = (host, port)
        self._bounds = bounds
        self._thread: OwnThread | None = None
        self._tells: socket.socket | None = None

    async def start(self) -> int:
        """Listen; returns the port.

        Raises:
            OSError: the address cannot be listened on.
        """
        listener = bound_socket(*self._address)
        listener.listen(_BACKLOG)
        port: int = listener.getsockname()[1]
        self._tells, told = socket.socketpair()
        probes = Probes(self._pulse, listener, told, self._bounds)
        self._thread = OwnThread("probes", probes.run)
        self._thread.start()
        return port

    async def wait(self) -> None:
        """Until the thread has ended; raises what ended it."""
        if self._thread is not None:
            await self._thread.wait()

    async def stop(self) -> None:
        """Close the port and join the thread.

        Raises:
            Exception: what had ended the thread before.
        """
        if self._thread is None or self._tells is None:
            return
        with self._tells:
            if not self._thread.is_over:
                self._tells.send(b".")
            async with asyncio.timeout(_JOIN_SECONDS):
                await self._thread.wait()
