"""When a connection is read from: not while too much of it waits, nor before its turn."""

from __future__ import annotations

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

    def pause_reading(self) -> None:
        """Too much waits."""
        if not self.read_paused:
            self.read_paused = True
            if not self.is_held:
                self._connection.pause_reading()

    def resume_reading(self) -> None:
        """No more than may."""
        if self.read_paused:
            self.read_paused = False
            if not self.is_held:
                self._connection.resume_reading()

    def hold(self) -> None:
        """It is others' turn."""
        self.is_held = True
        if not self.read_paused:
            self._connection.pause_reading()

    def let_go(self) -> None:
        """It is its own turn again."""
        self.is_held = False
        if not self.read_paused and not self._connection.is_closing():
            self._connection.resume_reading()
