"""How long a message may be, and how many long ones are answered at a time."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from bailiff.grpc_api.errors import OverloadedError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bailiff.grpc_api.settings import GrpcSettings


class MessageBounds:
    """The bounds of requests, for the whole server."""

    def __init__(self, settings: GrpcSettings) -> None:
        """Prepare; the settings say what is allowed."""
        self._usual = settings.max_message_bytes
        self._longest = max(settings.max_message_bytes, settings.max_device_message_bytes)
        self._most = settings.max_long_messages
        self._taken = 0

    def check(self, data: bytes) -> None:
        """Refuse what is too long for most methods.

        Raises:
            TooLargeError: longer than the settings allow.
        """
        _check(data, self._usual)

    @contextmanager
    def admit(self, data: bytes) -> Iterator[None]:
        """Hold a place for a question about devices for as long as it is answered.

        Raises:
            TooLargeError: longer than the settings allow.
            OverloadedError: it is long, and enough long ones are being answered.
        """
        _check(data, self._longest)
        if len(data) <= self._usual:
            yield
            return
        if self._taken >= self._most:
            raise OverloadedError(
                f"{self._most} requests above {self._usual} bytes are being answered already"
            )
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1


def _check(data: bytes, most: int) -> None:
    if len(data) > most:
        raise TooLargeError(f"the request has {len(data)} bytes, at most {most} are allowed")
