"""Log lines that a client can cause are written at a limited rate."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

import structlog

from bailiff.log_limit import LogLimit

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds for which a line of one kind is written once: as at the edge of HTTP, since these are the
# same strangers.
_SECONDS = 10.0
_GRPCIO = "grpc._cython.cygrpc"


class Rarely:
    """Warns, a line of each kind at most once in ten seconds."""

    def __init__(self, name: str, now: Callable[[], float] = time.monotonic) -> None:
        """Prepare; `name` is the logger's."""
        self._log = structlog.get_logger(name)
        self._limit = LogLimit(now, _SECONDS)

    def __call__(self, event: str, **about: object) -> None:
        """Warn; `left_out` tells how many such lines were not written since the last.

        Args:
            event: the kind of line; there are few.
            about: what else it tells.
        """
        left_out = self._limit.left_out(event)
        if left_out is not None:
            self._log.warning(event, left_out=left_out, **about)


class _OfGrpcio(logging.Filter):
    """grpcio writes a line with a stack for every header and message that it cannot read."""

    def __init__(self, now: Callable[[], float]) -> None:
        super().__init__()
        self._limit = LogLimit(now, _SECONDS)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write it; told apart by where in grpcio it comes from."""
        left_out = self._limit.left_out((record.pathname, record.lineno, record.levelno))
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} alike)", None
        return left_out is not None


def limit_log_of_grpcio(now: Callable[[], float] = time.monotonic) -> None:
    """Let grpcio write a line of each kind at most once in ten seconds; once per process."""
    logger = logging.getLogger(_GRPCIO)
    if not any(isinstance(one, _OfGrpcio) for one in logger.filters):
        logger.addFilter(_OfGrpcio(now))
