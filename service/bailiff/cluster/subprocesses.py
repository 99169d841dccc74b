"""Running another program for what it prints, and leaving nothing of it behind."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence


# Bytes that a pipe holds for sure before anybody reads (pipe(7): 16 pages).
_PIPE = 64 * 1024


class ProgramError(Exception):
    """The program failed, or printed too much; says nothing of what it printed."""


class Ended(NamedTuple):
    """What a program came to.

    Attributes:
        code: its exit code; negative: the signal that ended it.
        output: what it printed.
    """

    code: int
    output: bytes


async def output_of(argv: Sequence[str], environment: Mapping[str, str], most: int) -> bytes:
    """Run a program without input; give what it prints.

    Its standard error is ours, as client-go has it: there a plugin says what people should do.

    Args:
        argv: the program and its arguments.
        environment: all of its variables.
        most: bytes of output.

    Raises:
        ProgramError: its exit code is not 0, or it printed more.
        OSError: it cannot be started.
    """
    ended = await run(argv, environment, most)
    if ended.code != 0:
        raise ProgramError(f"exit code {ended.code}")
    return ended.output


async def run(
    argv: Sequence[str],
    environment: Mapping[str, str],
    most: int,
    given: bytes | None = None,
    *,
    errors_too: bool = False,
) -> Ended:
    """Run a program to its end. Whoever cancels this ends it, and all that it has started.

    It leads a process group of its own, so that whatever it starts can be ended with it; and has
    no terminal, so that it cannot wait for somebody to type.

    Args:
        argv: the program and its arguments.
        environment: all of its variables.
        most: bytes of output.
        given: its input; None: none. No longer than a pipe holds (64 KiB), so that nobody waits
            for a program that does not read it.
        errors_too: its standard error counts as output; else it is ours.

    Raises:
        ProgramError: it printed more.
        OSError: it cannot be started.
    """
    async with _pipe() as (reader, sending):
        process = await _started(argv, environment, sending, given, errors_too=errors_too)
        try:
            output = await _all_of(reader, most)
            code = await process.wait()
        except BaseException:
            await _end(process)
            raise
    return Ended(code, output)


async def _started(
    argv: Sequence[str],
    environment: Mapping[str, str],
    output: int,
    given: bytes | None,
    *,
    errors_too: bool,
) -> asyncio.subprocess.Process:
    reading = _holding(given)
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *argv,
            env=environment,
            stdin=reading,
            stdout=output,
            stderr=output if errors_too else None,
            start_new_session=True,
        )
    )
    try:
        # Cancelled itself, asyncio would end the leader alone; it may have started others by now.
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(OSError):
            await _end(await starting)
        raise
    finally:
        os.close(output)
        if reading >= 0:
            os.close(reading)


def _holding(given: bytes | None) -> int:
    """A pipe that holds an input, to its end; its reading end, to be closed."""
    if given is None:
        return asyncio.subprocess.DEVNULL
    if len(given) > _PIPE:
        raise OSError(errno.EMSGSIZE, "the input is longer than a pipe holds")
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(given)
    return reading


async def _end(process: asyncio.subprocess.Process) -> None:
    # The leader may have ended and left others that hold the pipe: the group has them.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[asyncio.StreamReader, int]]:
    """A pipe of our own: asyncio's would make us wait for whoever still holds its other end."""
    receiving, sending = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(receiving, "rb", 0)
    )
    try:
        yield reader, sending
    finally:
        transport.close()


async def _all_of(reader: asyncio.StreamReader, most: int) -> bytes:
    output = b""
    while part := await reader.read(2**16):
        output += part
        if len(output) > most:
            raise ProgramError(f"more than {most} bytes of output")
    return output
