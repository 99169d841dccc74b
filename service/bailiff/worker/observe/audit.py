"""The audit log: one JSON line for each eviction that was begun and is over, with its trace.

Lines are written by a thread, in batches, beside the evictions. The file is opened anew for each
batch, so that it may be rotated by renaming. A line that cannot be written is counted and told in
the log; no eviction waits for it. Lines that wait are bounded in bytes, because a trace has no
usual length: one that finds no room is dropped and counted.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import msgspec
import structlog

from bailiff.decisions import Finding, ObjectReference
from bailiff.kinds import Int64, Time
from bailiff.kinds.meta import Value
from bailiff.worker.timers.eviction import By
from bailiff.worker.timers.waits import Waited

if TYPE_CHECKING:
    from pathlib import Path

    from bailiff.worker.execute.outcomes import Outcome
    from bailiff.worker.observe.metrics import WorkerMetrics
    from bailiff.worker.timers.eviction import Eviction

# Of lines that wait or are being written; 15,000 to 60,000 lines.
MAX_BYTES = 32 * 2**20
# Of one batch, so that joining it is no long step.
_BATCH_BYTES = 2**20

log = structlog.get_logger(__name__)


class AuditLine(Value, frozen=True):
    """What is written of one eviction.

    Attributes:
        time: when it was over: the API server had taken the delete, or nothing was left to do.
        pod: whom.
        node: from where.
        deadline: when it fell due.
        attempts: how often it was tried.
        outcome: what became of it, as Outcome has it: by us `deleted` or `marked`; by others
            `gone`, `replaced` or `ended`; `kept`: the pod may stay; `putOff`: it has another
            deadline.
        by: how it was done, or was to be: `delete`, `evictionApi`, or `override`.
        finding: why, as the core said right before the last attempt, with every rule looked at.
        why: for `kept`, why the pod may stay.
        on_paper: nothing was done: it is what a dry run or a shadow would have done.
        budget_overridden: its budget still protected it when its hard deadline came.
        held: what held it back after it had fallen due, and for how long; absent where nothing did.
    """

    time: Time
    pod: ObjectReference
    node: str
    deadline: Time
    attempts: Int64
    outcome: str
    by: str
    finding: Finding
    why: str = ""
    on_paper: bool = False
    budget_overridden: bool = False
    held: tuple[Waited, ...] = ()


class AuditLog:
    """Lines on their way to a file."""

    def __init__(
        self,
        path: Path,
        metrics: WorkerMetrics,
        max_bytes: int = MAX_BYTES,
        *,
        on_paper: bool = False,
    ) -> None:
        """Prepare.

        Args:
            path: the file, appended to; `-` is standard output.
            metrics: where lines are counted.
            max_bytes: of lines that have not been written yet.
            on_paper: as AuditLine has it.
        """
        self._path = path
        self._metrics = metrics
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = max_bytes
        self._on_paper = on_paper

    def record(self, eviction: Eviction, time: Time, outcome: Outcome, why: str = "") -> None:
        """Write a line for this eviction some time soon; the rest is as AuditLine has it."""
        meta = eviction.pod.metadata
        line = AuditLine(
            time=time,
            pod=ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid),
            node=eviction.pod.spec.node_name,
            deadline=eviction.deadline,
            attempts=eviction.attempts,
            outcome=outcome.value,
            by=eviction.by.value,
            budget_overridden=eviction.by is By.OVERRIDE,
            held=eviction.waits.past() if eviction.waits else (),
            finding=eviction.finding,
            why=why,
            on_paper=self._on_paper,
        )
        self._take(msgspec.json.encode(line) + b"\n")

    def _take(self, line: bytes) -> None:
        if len(line) > self._room:
            self._metrics.audit_lines.labels("dropped").inc()
            return
        self._room -= len(line)
        self._lines.put_nowait(line)

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            lines = await self._batch()
            data = b"".join(lines)
            try:
                await asyncio.to_thread(self._write, data)
                self._metrics.audit_lines.labels("written").inc(len(lines))
            except OSError as error:
                self._metrics.audit_lines.labels("failed").inc(len(lines))
                log.warning("audit log not written", path=str(self._path), error=str(error))
            finally:
                self._room += len(data)
                for _ in lines:
                    self._lines.task_done()

    async def _batch(self) -> list[bytes]:
        lines = [await self._lines.get()]
        size = len(lines[0])
        while size < _BATCH_BYTES and not self._lines.empty():
            lines.append(self._lines.get_nowait())
            size += len(lines[-1])
        return lines

    async def drain(self) -> None:
        """Return when everything taken so far has been written or has failed."""
        await self._lines.join()

    def _write(self, data: bytes) -> None:
        if str(self._path) == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        with self._path.open("ab") as file:
            file.write(data)
