"""Running another program for what it prints, and leaving nothing of it behind."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence


class ProgramError(Exception):
    """The program failed, or printed too much; says nothing of what it printed."""


async def output_of(argv: Sequence[str], environment: Mapping[str, str], most: int) -> bytes:
    """Run a program without input; give what it prints.

    Its standard error is ours, as client-go has it: there a plugin says what people should do.
    It leads a process group of its own, so that whatever it starts can be ended with it; and has
    no terminal, so that it cannot wait for somebody to type.

    Args:
        argv: the program and its arguments.
        environment: all of its variables.
        most: bytes of output.

    Raises:
        ProgramError: its exit code is not 0, or it printed more.
        OSError: it cannot be started.
    """
    async with _pipe() as (reader, sending):
        process = await _started(argv, environment, sending)
        try:
            output = await _all_of(reader, most)
            code = await process.wait()
        except BaseException:
            await _end(process)
            raise
    if code != 0:
        raise ProgramError(f"exit code {code}")
    return output


async def _started(
    argv: Sequence[str], environment: Mapping[str, str], output: int
) -> asyncio.subprocess.Process:
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *argv,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
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
