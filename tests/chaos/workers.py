"""Workers as processes: killed, stopped, continued, started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from tests.chaos.shifted_worker import SHIFTED_WORKER
from tests.harness.kube.programs import Program, free_port
from tests.harness.status import StatusPages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.chaos.shifted_worker import WallClock

_RESTART_AFTER = 0.5


class WorkerProcess:
    """One `bailiff worker`, started again whenever it has ended, as a kubelet would.

    Args:
        name: of the log, too.
        kubeconfig: how it reaches the API server.
        folder: where the log goes.
        flags: further ones of the command line.
        clock: its machine's wall clock; None is the true one.

    Attributes:
        pages: what it says of itself.
        kills: how often it was killed.
        restarts: how often it ended by itself and was started again.
    """

    def __init__(
        self,
        name: str,
        kubeconfig: Path,
        folder: Path,
        *flags: str,
        clock: WallClock | None = None,
    ) -> None:
        self.pages = StatusPages(free_port())
        told = (f"--kubeconfig={kubeconfig}", f"--status-port={self.pages.port}")
        program = [SHIFTED_WORKER, str(clock.file)] if clock else ["bailiff", "worker"]
        own = ["-m", *program, *told, "--health-port=0"]
        self._program = Program(name, [*own, *flags], folder, executable=sys.executable)
        self.name = name
        self.kills = 0
        self.restarts = 0
        self._gate = asyncio.Lock()

    async def run(self) -> None:
        """Keep it running until cancelled, then kill it."""
        try:
            while True:
                async with self._gate:
                    if self._program.exited:
                        self._program.stop()
                        self.restarts += 1
                    if not self._program.running:
                        self._program.start()
                await asyncio.sleep(_RESTART_AFTER)
        finally:
            self._signal(signal.SIGCONT)
            self._program.kill()

    async def kill(self) -> None:
        """kill -9; `run` starts it again."""
        async with self._gate:
            if self._program.running:
                await asyncio.to_thread(self._program.kill)
                self.kills += 1

    @contextlib.asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """kill -9; `run` starts it again after the block."""
        async with self._gate:
            await asyncio.to_thread(self._program.kill)
            self.kills += 1
            yield

    def stop(self) -> None:
        """SIGSTOP: it does nothing any more and does not know it."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def logged(self, text: str) -> int:
        """How many lines of its log hold this."""
        if not self._program.log.exists():
            return 0
        return sum(text in line for line in self._program.log.read_text().splitlines())

    def _signal(self, number: signal.Signals) -> None:
        if self._program.running:
            os.kill(self._program.pid, number)
