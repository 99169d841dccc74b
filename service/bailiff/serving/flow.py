"""When a connection is read from: not while too much of it waits, nor before its turn."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from uvicorn.protocols.http.flow_control import FlowControl

if TYPE_CHECKING:
    import asyncio


class Flow(FlowControl):
    """Uvicorn's, with one more reason not to read.

    Attributes:
        is_held: it is others' turn.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        """Of a connection that is read from."""
        super().__init__(transport)
        self._connection = transport
        self.is_held = False
        # Seconds of former pauses, and when the present one began.
        self._paused, self._since = 0.0, 0.0

    @property
    def paused_seconds(self) -> float:
        """How long it has not been read from, in all."""
        is_paused = self.read_paused or self.is_held
        return self._paused + (monotonic() - self._since if is_paused else 0.0)

    def _count(self) -> None:
        """Count up to now; to be called before something changes."""
        self._paused = self.paused_seconds
        self._since = monotonic()

    def pause_reading(self) -> None:
        """Too much waits."""
        if not self.read_paused:
            self._count()
            self.read_paused = True
            if not self.is_held:
                self._connection.pause_reading()

    def resume_reading(self) -> None:
        """No more than may."""
        if self.read_paused:
            self._count()
            self.read_paused = False
            if not self.is_held:
                self._connection.resume_reading()

    def hold(self) -> None:
        """It is others' turn."""
        self._count()
        self.is_held = True
        if not self.read_paused:
            self._connection.pause_reading()

    def let_go(self) -> None:
        """It is its own turn again."""
        self._count()
        self.is_held = False
        if not self.read_paused and not self._connection.is_closing():
            self._connection.resume_reading()
