"""Log lines that a client can cause are written at a limited rate."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds for which a line of one kind is written once.
_SECONDS = 10.0
_GRPCIO = "grpc._cython.cygrpc"


class _Rate:
    """At most one of a kind in _SECONDS; counts the others."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._next: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def may(self, kind: str) -> int | None:
        """How many were left out since the last; None: leave this one out too."""
        now = self._now()
        if now < self._next.get(kind, 0.0):
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return None
        self._next[kind] = now + _SECONDS
        return self._left_out.pop(kind, 0)


class Rarely:
    """Warns, a line of each kind at most once in ten seconds."""

    def __init__(self, name: str, now: Callable[[], float] = time.monotonic) -> None:
        """Prepare; `name` is the logger's."""
        self._log = structlog.get_logger(name)
        self._rate = _Rate(now)

    def __call__(self, event: str, **about: object) -> None:
        """Warn; `left_out` tells how many such lines were not written since the last.

        Args:
            event: the kind of line; there are few.
            about: what else it tells.
        """
        left_out = self._rate.may(event)
        if left_out is not None:
            self._log.warning(event, left_out=left_out, **about)


class _OfGrpcio(logging.Filter):
    """grpcio writes a line with a stack for every header and message that it cannot read."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._rate = _Rate(now)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write it; told apart by where in grpcio it comes from."""
        left_out = self._rate.may(f"{record.pathname}:{record.lineno}:{record.levelno}")
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} alike)", None
        return left_out is not None


def limit_log_of_grpcio(now: Callable[[], float] = time.monotonic) -> None:
    """Let grpcio write a line of each kind at most once in ten seconds; once per process."""
    logger = logging.getLogger(_GRPCIO)
    if not any(isinstance(one, _OfGrpcio) for one in logger.filters):
        logger.addFilter(_OfGrpcio(now))
