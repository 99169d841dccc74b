"""Asks about machines by what the file says at that moment, and writes down who was asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from bailiff.decisions.node_loss.facts import OffProof
from bailiff.fencing.answers import Answer, NoProofError
from bailiff.fencing.command import ask_command
from bailiff.fencing.http import ask_http
from bailiff.fencing.settings import FenceFileError, fence_in
from bailiff.file_watch import see

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.clock import Clock
    from bailiff.fencing.settings import FenceFile

# Seconds for the file, which a disk that hangs would hold back; the largest takes half of that.
_TO_READ = 30.0
# Seconds for which a file that has changed has to stay as it is before it counts: one that is
# written in place may be cut off in the middle of an address, which is another machine's.
_SETTLES_IN = 1.0
# Characters of a message; an answer may quote what a machine said.
_LONGEST = 500

log = structlog.get_logger(__name__)


class FileFence:
    """Asks by a file that is read anew with each question, so that nobody asks by an old one."""

    def __init__(self, path: Path, clock: Clock, *, settles_in: float = _SETTLES_IN) -> None:
        """Ask nothing yet.

        Args:
            path: of the file, see `settings`.
            clock: for when an answer came, and how long that took.
            settles_in: seconds for which a file that has changed has to stay as it is.
        """
        self._path = path
        self._clock = clock
        self._settles_in = settles_in
        self._content = b""
        self._file: FenceFile | None = None
        # A large file takes seconds to be parsed, which is done once for all who ask.
        self._reading = asyncio.Lock()

    async def ask(self, node: str) -> OffProof:
        """Whether the machine of this node is off; no failure is proof. Bounded by the deadline."""
        began = self._clock.monotonic()
        try:
            async with asyncio.timeout(_TO_READ), self._reading:
                file = await self._current()
            answer = await self._asked(file, node)
        except FenceFileError as error:
            answer = Answer(off=False, by="", message=str(error))
        except TimeoutError:
            why = f"{self._path}: not read within {_TO_READ:g} s"
            answer = Answer(off=False, by="", message=why)
        except Exception as error:  # noqa: BLE001 - see below
            # Whatever goes wrong here proves nothing, and must not end the worker. It is a fault of
            # ours. No traceback is written: it may show what variables held, passwords among them.
            why = type(error).__name__
            log.error("the fence could not be asked", node=node, error=why)  # noqa: TRY400 - see above
            answer = Answer(off=False, by="", message=f"not asked: {why}")
        message = answer.message[:_LONGEST]
        seconds = round(self._clock.monotonic() - began, 3)
        log.info(
            "fence asked",
            audit=True,
            node=node,
            by=answer.by,
            off=answer.off,
            message=message,
            seconds=seconds,
        )
        return OffProof(off=answer.off, by=answer.by, at=self._clock.now(), message=message)

    async def _current(self) -> FenceFile:
        """What the file says now, which is parsed where it has changed."""
        content = await asyncio.to_thread(self._read)
        if self._file is None or content != self._content:
            await asyncio.sleep(self._settles_in)
            if await asyncio.to_thread(self._read) != content:
                raise FenceFileError(f"{self._path}: is being written")
            self._file = await asyncio.to_thread(fence_in, content)
            self._content = content
        return self._file

    def _read(self) -> bytes:
        content = see(self._path)
        if isinstance(content, str):
            raise FenceFileError(f"{self._path}: {content}")
        return content

    async def _asked(self, file: FenceFile, node: str) -> Answer:
        by = "http" if file.command is None else "command"
        fields = file.machines.get(node)
        if fields is None:
            return Answer(off=False, by=by, message=f"no machine is known of node {node}")
        try:
            async with asyncio.timeout(file.deadline):
                if file.command is not None:
                    return await ask_command(file.command, node, fields)
                if file.http is not None:
                    return await ask_http(file.http, node, fields)
        except TimeoutError:
            return Answer(off=False, by=by, message=f"no answer within {file.deadline:g} s")
        except NoProofError as error:
            return Answer(off=False, by=by, message=str(error))
        return Answer(off=False, by=by, message="nobody is to be asked")
