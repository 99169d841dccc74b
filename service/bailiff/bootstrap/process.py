"""One process: its event loop, its signals, its logs."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import structlog
import uvloop

from bailiff.bootstrap.choices import ClusterUnusable, StartError
from bailiff.bootstrap.heap import giving_back_free_memory
from bailiff.tracing.log_ids import TRACE_IDS
from bailiff.tracing.settings import TracingUnusableError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from bailiff.bootstrap.choices import Program

# Seconds after which a thread that is at work lets another have Python's lock. The event loop asks
# for the lock after each look at its sockets: with Python's own 5 ms, two threads that are at work
# hold every turn of the loop up for 10 ms.
_SWITCH_SECONDS = 0.0005


def freeze_start_up() -> None:
    """Keep what is there by now out of the garbage collector's sight, for good.

    Looked through again and again, the 50,000 objects of what was imported would make each full
    collection a pause of 50 to 100 ms.
    """
    gc.collect()
    gc.freeze()


async def listen(starting: Awaitable[int], host: str, port: int) -> int:
    """Await a server's start.

    Raises:
        StartError: the address cannot be listened on.
    """
    try:
        return await starting
    except OSError as error:
        raise StartError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def run(program: Program, *, lifeline: bool = False) -> None:
    """Run a program until it ends, or until SIGTERM or SIGINT asks it to.

    Args:
        program: what to run; ends when its event is set.
        lifeline: set the event too when standard input closes.

    Raises:
        StartError: see there.
        ClusterUnusable: likewise.
    """
    configure_logs()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_supervised(program, lifeline=lifeline))
    except TracingUnusableError as error:
        raise StartError(str(error)) from error
    except BaseExceptionGroup as group:
        # Task groups wrap what their tasks raise; the reason to stop is told without the wrapping.
        refused = group.subgroup((StartError, ClusterUnusable))
        if refused is None:
            raise
        raise _first_leaf(refused) from group


async def _supervised(program: Program, *, lifeline: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if lifeline:
        loop.add_reader(sys.stdin.fileno(), _end_of_input, loop, stop)
    async with giving_back_free_memory():
        await program(stop)


def _first_leaf(group: BaseExceptionGroup[Any]) -> BaseException:
    first = group.exceptions[0]
    return _first_leaf(first) if isinstance(first, BaseExceptionGroup) else first


def _end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1024):
        loop.remove_reader(sys.stdin.fileno())
        stop.set()


def configure_logs() -> None:
    """One line an entry on standard error: text on a terminal, else JSON.

    BAILIFF_LOG_FORMAT (text, json) and BAILIFF_LOG_LEVEL (debug, info, warning, error) choose.
    """
    chosen = os.environ.get("BAILIFF_LOG_FORMAT") or ("text" if sys.stderr.isatty() else "json")
    level = os.environ.get("BAILIFF_LOG_LEVEL", "info").upper()
    number = logging.getLevelNamesMapping().get(level, logging.INFO)
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if chosen == "text"
        else structlog.processors.JSONRenderer()
    )
    head: list[Any] = [
        structlog.contextvars.merge_contextvars,
        TRACE_IDS,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    tail = [structlog.processors.format_exc_info, renderer]
    structlog.configure(
        processors=[*head, *tail],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=max(number, logging.WARNING), handlers=[_of_libraries(head, tail)])


def _of_libraries(head: list[Any], tail: list[Any]) -> logging.Handler:
    """Writes what goes through Python's own logging, such as uvicorn's lines, as ours are."""
    named = [structlog.stdlib.add_logger_name, *head]
    bare = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=named, processors=[bare, *tail])
    )
    return handler
